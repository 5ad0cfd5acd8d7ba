import Foundation
import System

/// SQLCipher itself, as Python's package `sqlcipher3-binary` brings it: the judge of what we seal.
///
/// It is installed once, into a virtual environment below the build's directory; without the package
/// index the tests that need it are skipped, and say so.
public enum ForeignSQLCipher {
  /// Whether it can be used.
  public static var isThere: Bool { python != nil }

  /// The rows of each statement, run on a sealed file.
  public static func run(
    _ path: String, passphrase: String, iterations: Int = 4000, salt: String? = nil,
    _ statements: String...
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

  /// What SQLCipher complained of.
  public struct ForeignFailure: Error {
    /// Its last words.
    public let text: String
  }

  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Python/sqlcipher.py").path

  /// The interpreter that has the package; nil where it cannot be had.
  private static let python: String? = {
    let place = scratch + "/python-sqlcipher"
    let interpreter = place + "/bin/python"
    if works(interpreter) { return interpreter }
    try? FileManager.default.removeItem(atPath: place)
    for package in ["sqlcipher3-binary", "sqlcipher3-wheels"] {
      guard call("python3", ["-m", "venv", place]) else { break }
      let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
      if call(interpreter, install), works(interpreter) { return interpreter }
    }
    print("skipped: SQLCipher's Python package cannot be installed in \(place)")
    return nil
  }()

  /// The directory that the tests were built in.
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

  private static func works(_ interpreter: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: interpreter)
      && call(interpreter, ["-c", "import sqlcipher3.dbapi2"])
  }

  private static func call(_ program: String, _ arguments: [String]) -> Bool {
    let variables = ProcessEnvironment.variables()
    let result = try? ChildProcess.run(
      "/usr/bin/env", [program] + arguments, environment: variables, deadlineSeconds: 180)
    return result?.status == 0
  }
}
