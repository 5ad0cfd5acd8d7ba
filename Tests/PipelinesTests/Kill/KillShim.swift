import System
import TestSupport

/// A preloaded library: one kills the program at a point, others record what it does.
struct KillShim: Sendable {
  /// Kills; compiled once with the compiler that comes with Swift.
  static let shared = Result { try KillShim("killpoint") }
  static let order = Result { try KillShim("order") }
  /// Records what is written, named, synchronized and requested from the org.
  static let watch = Result { try KillShim("watch") }
  /// Delays threads at their ends, and records which had ended when the process did.
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

  struct Failure: Error { let words: String }
}
