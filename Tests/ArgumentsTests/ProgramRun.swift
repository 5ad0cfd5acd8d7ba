import Foundation

/// Runs an installed program on a text, for tests of scripts and pages; nil when it is not installed.
func outputOf(_ program: String, _ arguments: [String], input: String) throws
  -> (status: Int32, text: String)?
{
  let directories = ["/usr/bin", "/bin", "/usr/local/bin"]
  let found = directories.map { $0 + "/" + program }.first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  guard let found else { return nil }
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
