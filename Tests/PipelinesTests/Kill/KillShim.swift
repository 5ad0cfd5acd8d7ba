import System
import TestSupport

/// The library that is loaded before the program and kills it at a point.
struct KillShim: Sendable {
  /// Compiled once; the compiler comes with Swift.
  static let shared = Result { try KillShim() }

  let path: String
  private let directory: TemporaryDirectory

  private init() throws {
    directory = TemporaryDirectory.untilExit("shim")
    path = directory.file("killpoint.so")
    let source = World.repository + "/Tests/Fixtures/kill/killpoint.c"
    let result = try ChildProcess.run(
      "/usr/bin/env", ["clang", "-shared", "-fPIC", "-O1", "-o", path, source],
      environment: ProcessEnvironment.variables())
    guard result.status == 0 else {
      throw Failure(words: String(decoding: result.error, as: UTF8.self))
    }
  }

  /// Why there is no shim.
  struct Failure: Error {
    let words: String
  }
}
