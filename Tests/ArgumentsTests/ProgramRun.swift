import Foundation

/// Where a program is installed; nil where it is not, and `make deps-test` installs it.
func place(of program: String) -> String? {
  ["/usr/bin/", "/bin/", "/usr/local/bin/"].map { $0 + program }
    .first { FileManager.default.isExecutableFile(atPath: $0) }
}

func outputOf(_ program: String, _ arguments: [String], input: String) throws
  -> (status: Int32, text: String)
{
  let found = place(of: program) ?? program
  let file = FileManager.default.temporaryDirectory
    .appendingPathComponent("planner-\(UUID().uuidString)")
  try input.write(to: file, atomically: true, encoding: .utf8)
  defer { try? FileManager.default.removeItem(at: file) }
  let process = Process()
  let pipe = Pipe()
  process.executableURL = URL(fileURLWithPath: found)
  process.arguments = arguments + [file.path]
  process.standardOutput = pipe
  process.standardError = pipe
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return (process.terminationStatus, String(decoding: data, as: UTF8.self))
}

/// An expected page of the planner, from `Tests/Fixtures/planner`.
func fixture(_ name: String) throws -> String {
  let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  return try String(contentsOf: tests.appending(path: "Fixtures/planner/" + name), encoding: .utf8)
}
