import System
import TestSupport

/// A library that is loaded before the program: one kills it at a point, others write down what it
/// does.
struct KillShim: Sendable {
  /// Kills; compiled once, the compiler comes with Swift.
  static let shared = Result { try KillShim("killpoint") }
  /// Writes down in which order files are synchronized and renamed.
  static let order = Result { try KillShim("order") }
  /// Writes down what is written, named, synchronized and asked of the org.
  static let watch = Result { try KillShim("watch") }
  /// Holds threads up at their ends, and writes down which had ended when the process did.
  static let threads = Result { try KillShim("threads") }

  let path: String
  private let directory: TemporaryDirectory

  private init(_ name: String) throws {
    directory = TemporaryDirectory.untilExit("shim")
    path = directory.file(name + ".so")
    let source = World.repository + "/Tests/Fixtures/kill/\(name).c"
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
