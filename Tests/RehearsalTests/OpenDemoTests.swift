import System
import TestSupport
import Testing

@Suite struct OpenDemoTests {
  @Test func `every printed command works as pasted, and resolves its edits`() async throws {
    let directory = TemporaryDirectory("open-demo")
    let program = (Files.parent(of: ProcessEnvironment.executablePath()) ?? ".") + "/attache"
    let (data, scratch) = (directory.file("snapshots"), directory.file("scratch"))
    try await StoreThread(name: "open-demo").run { () throws in
      let demo = try ChildProcess.start(
        program, ["demo", "--keep-open", "--data", data, "--scratch", scratch])
      var lines: [String] = []
      while let line = demo.readLine() {
        lines.append(line)
        if line.hasPrefix("Press Ctrl-C") { break }
      }
      defer {
        // Not 2, which a shell ignores in what it starts in the background.
        demo.kill(15)
        #expect(demo.wait() == 0)
      }
      let start = lines.firstIndex { $0.contains("3 edits are open") } ?? lines.endIndex
      let commands = lines[start...].filter { $0.hasPrefix("  attache ") }
      #expect(commands.count == 6, "\(lines.suffix(12))")
      for command in commands {
        let (status, text) = try paste(command, program)
        #expect(status == 0, "\(command): \(status) \(text)")
      }
      let state = lines.first { $0.contains(": attache status ") } ?? ""
      let (status, text) = try paste(String(state.drop { $0 != ":" }.dropFirst()), program)
      #expect(status == 0 && text.contains(/(?m)^(open edits|edits not \w+): 0$/), "\(text)")
      let remove = lines.first { $0.hasPrefix("  rm -r ") } ?? ""
      #expect(try paste(remove, program).status == 0)
      #expect(!Files.exists(scratch) && !Files.exists(data + "/demo"))
    }
  }

  private func paste(_ line: String, _ program: String) throws -> (status: Int32, text: String) {
    var environment = ["PROGRAM": program]
    for name in ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"] {
      environment[name] = ProcessEnvironment.variable(name)
    }
    let result = try ChildProcess.run(
      "/bin/bash", ["-c", "cd /; attache() { \"$PROGRAM\" \"$@\"; }\n" + line],
      environment: environment, deadlineSeconds: 120)
    return (result.status, String(decoding: result.output + result.error, as: UTF8.self))
  }
}
