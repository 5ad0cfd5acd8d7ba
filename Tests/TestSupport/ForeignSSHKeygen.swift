import Foundation
import System

/// OpenSSH's `ssh-keygen`, as a third-party test tool for keys and signatures.
///
/// `make deps-test` installs it. Without it, the tests that need it are skipped and reported.
public enum ForeignSSHKeygen {
  private static let program = "/usr/bin/ssh-keygen"

  /// Whether it is installed.
  public static let isThere = FileManager.default.isExecutableFile(atPath: program)

  /// Runs it with arguments and standard input, and returns its exit status and its output.
  @discardableResult public static func run(_ arguments: String..., input: [UInt8] = []) throws -> (
    status: Int32, output: String
  ) {
    let result = try ChildProcess.run(
      program, arguments, environment: ProcessEnvironment.variables(), input: input,
      deadlineSeconds: 60)
    return (result.status, String(decoding: result.output + result.error, as: UTF8.self))
  }

  /// Whether it accepts the signature in a file.
  public static func verifies(
    _ signature: String, of message: [UInt8], allowedSigners: String, identity: String = "attache",
    namespace: String = "attache-manifest"
  ) throws -> Bool {
    try run(
      "-Y", "verify", "-f", allowedSigners, "-I", identity, "-n", namespace, "-s", signature,
      input: message
    ).status == 0
  }
}
