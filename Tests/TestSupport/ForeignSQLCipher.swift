import Foundation
import JSON
import System

/// SQLCipher itself, from Python's package `sqlcipher3-binary`, as a third-party test tool for
/// sealed files.
///
/// `make deps-test` installs it into a virtual environment below the build directory. Without it,
/// the tests that need it are skipped and reported.
public enum ForeignSQLCipher {
  /// Whether it is installed.
  public static var isThere: Bool { python != nil }

  /// The rows of each statement, run on a sealed file.
  public static func run(
    _ path: String, passphrase: String, iterations: Int = 4000, salt: String? = nil,
    _ statements: String...
  ) throws -> [String] {
    try run(path, passphrase: passphrase, iterations: iterations, salt: salt, statements)
  }

  /// The rows of each statement of a list.
  public static func run(
    _ path: String, passphrase: String, iterations: Int = 4000, salt: String? = nil,
    _ statements: [String]
  ) throws -> [String] {
    var variables = ProcessEnvironment.variables()
    variables["PASSPHRASE"] = passphrase
    let result = try ChildProcess.run(
      python ?? "python3", [script, path, String(iterations), salt ?? "-"] + statements,
      environment: variables, deadlineSeconds: 120)
    guard result.status == 0 else {
      throw ForeignFailure(text: String(decoding: result.error, as: UTF8.self))
    }
    return String(decoding: result.output, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Applies deltas by the statements of each job (Tests/Python/sqlcipher_deltas.py); returns what
  /// differs from what is expected, or nil, and the processor time from ATTACH to COMMIT.
  package static func apply(_ jobs: [JSONValue]) throws -> [(fault: String?, seconds: Double)] {
    let input = jobs.map { $0.text + "\n" }.joined()
    let result = try ChildProcess.run(
      python ?? "python3", [deltas], environment: ProcessEnvironment.variables(),
      input: Array(input.utf8), deadlineSeconds: 600)
    guard result.status == 0 else {
      throw ForeignFailure(text: String(decoding: result.error, as: UTF8.self))
    }
    return try result.output.split(separator: 0x0A).map { line in
      let answer = try JSONValue(parsing: Array(line))
      guard case .number(let seconds)? = answer["seconds"] else {
        throw ForeignFailure(text: answer.text)
      }
      return (answer["fault"]?.string, Double(seconds) ?? 0)
    }
  }

  /// An error from SQLCipher.
  public struct ForeignFailure: Error {
    /// The last lines of its output.
    public let text: String
  }

  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let deltas = root.appendingPathComponent("Tests/Python/sqlcipher_deltas.py").path
  private static let script = root.appendingPathComponent("Tests/Python/sqlcipher.py").path

  /// The interpreter that has the package; nil if it is not installed.
  private static let python: String? = {
    let interpreter = root.appendingPathComponent(".build/python-sqlcipher/bin/python").path
    guard FileManager.default.isExecutableFile(atPath: interpreter) else { return nil }
    let result = try? ChildProcess.run(
      interpreter, ["-c", "import sqlcipher3.dbapi2"],
      environment: ProcessEnvironment.variables(), deadlineSeconds: 60)
    return result?.status == 0 ? interpreter : nil
  }()

  /// The build directory of the tests.
  static var scratch: String {
    var url = URL(fileURLWithPath: CommandLine.arguments.first ?? "").resolvingSymlinksInPath()
    while url.pathComponents.count > 2 {
      if ["debug", "release"].contains(url.lastPathComponent) {
        return url.deletingLastPathComponent().deletingLastPathComponent().path
      }
      url.deleteLastPathComponent()
    }
    return FileManager.default.temporaryDirectory.path
  }
}
