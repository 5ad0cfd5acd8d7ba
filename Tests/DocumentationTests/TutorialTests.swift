import Foundation
import System
import TestSupport
import Testing

/// docs/tutorial.md, played from the first line to the last by one shell.
@Suite struct TutorialTests {
  struct Step {
    let command: String
    var shown: [String] = []

    /// Whether the page shows this output.
    ///
    /// `…` is any text within a line, and any lines where it is alone.
    func matches(_ output: String) throws -> Bool {
      let pattern = shown.map { line in
        line == "…"
          ? "(?:.*\n)*?"
          : line.split(separator: "…", omittingEmptySubsequences: false)
            .map { NSRegularExpression.escapedPattern(for: String($0)) }.joined(separator: ".*")
            + "\n"
      }.joined()
      let expression = try NSRegularExpression(pattern: "\\A\(pattern)\\z")
      return expression.firstMatch(in: output, range: NSRange(output.startIndex..., in: output))
        != nil
    }
  }

  /// The port that the page writes, and the checkout that its output shows.
  private static let port = "8080"
  private static let checkout = "/home/you/attache"

  static func steps(of page: Page) -> [Step] {
    var steps: [Step] = []
    for block in page.blocks where block.language == "console" {
      for line in block.text.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.hasPrefix("$ ") {
          steps.append(Step(command: String(line.dropFirst(2))))
        } else {
          steps[steps.count - 1].shown.append(String(line))
        }
      }
    }
    return steps
  }

  /// A script that runs the steps, prints a line `@@` before each, and the status of one that fails.
  private static func script(_ steps: [Step], port: String) -> String {
    steps.map { step in
      let command = step.command.replacing(Self.port, with: port)
      guard command.hasSuffix("&") else {
        return "echo @@\n\(command)\nstatus=$?; [ $status = 0 ] || echo \"failed: $status\"\n"
      }
      // The next step waits for the first line of what stays in the background.
      return "echo @@\nmkfifo first; exec 9<>first; \(command.dropLast()) >&9 2>&9 &\n"
        + "read -r line <&9; echo \"$line\"\n"
    }.reduce("exec 2>&1; trap 'kill $(jobs -p) 2>/dev/null' EXIT\n", +)
  }

  @Test(.timeLimit(.minutes(5)))
  func `every line of the tutorial runs and prints what the page shows`() async throws {
    let steps = Self.steps(of: try Page("docs/tutorial.md"))
    #expect(steps.count > 30)
    // Programs block: not on the cooperative pool.
    let outputs = try await StoreThread(name: "tutorial").run { try Self.play(steps) }
    #expect(outputs.count == steps.count, "\(outputs.last ?? "")")
    for (step, output) in zip(steps, outputs) {
      #expect(try step.matches(output), "$ \(step.command)\n\(output)")
    }
  }

  private static func play(_ steps: [Step]) throws -> [String] {
    let directory = TemporaryDirectory("tutorial")
    try Files.makeDirectory(directory.file("pipelines"))
    try FileManager.default.copyItem(
      atPath: Page.root.appending(path: "pipelines/samples").path,
      toPath: directory.file("pipelines/samples"))
    let program = Files.parent(of: ProcessEnvironment.executablePath()) ?? "."
    var environment = [
      "PATH": program + ":" + (ProcessEnvironment.variable("PATH") ?? "/usr/bin:/bin")
    ]
    for name in ["HOME", "TMPDIR", "LD_LIBRARY_PATH"] {
      environment[name] = ProcessEnvironment.variable(name)
    }
    let free = try ChildProcess.run(
      "/usr/bin/env",
      [
        "python3", "-c",
        "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])",
      ], environment: environment, deadlineSeconds: 60)
    let port = String(decoding: free.output, as: UTF8.self).trimmingCharacters(in: .newlines)
    let result = try ChildProcess.run(
      "/bin/bash", ["-c", "cd '\(directory.path)' && \(script(steps, port: port))"],
      environment: environment, deadlineSeconds: 240)
    return String(decoding: result.output, as: UTF8.self)
      .replacing(directory.path, with: checkout).replacing(":\(port)", with: ":\(Self.port)")
      .components(separatedBy: "@@\n").dropFirst().map { String($0) }
  }

  @Test func `another output than the page shows is found`() throws {
    let step = Step(command: "", shown: ["pack: … (… KiB)", "…", "1 edit:"])
    #expect(try step.matches("pack: a.zip (43 KiB)\n1 edit:\n"))
    #expect(try step.matches("pack: a.zip (43 KiB)\none\nmore\n1 edit:\n"))
    #expect(try !step.matches("pack: a.zip (43 MiB)\n1 edit:\n"))
    #expect(try !step.matches("pack: a.zip (43 KiB)\n1 edit:\n       1  updated\n"))
    #expect(try !Step(command: "chmod 600 jwt.key").matches("failed: 1\n"))
  }
}
