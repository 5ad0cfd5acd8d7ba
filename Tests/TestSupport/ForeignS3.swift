import Foundation
import JSON
import System

/// An S3 store that checks signatures, of Python's package `moto`.
///
/// `make deps-test` installs it into a virtual environment below the build directory; the `python3`
/// of the path may have it too. Without it, the tests that need it are skipped and reported.
public struct ForeignS3: Sendable {
  /// The name of its bucket.
  public static let bucket = "bundles"
  /// The region that its signatures name.
  public static let region = "us-east-1"

  /// The address of the service.
  public let url: String
  /// The ID of the access key.
  public let accessKeyID: String
  /// The secret of the access key.
  public let secret: String
  private let process: RunningProcess

  /// The store of this process, started once; nil if moto is not installed.
  public static let shared: ForeignS3? = start()
  /// Whether moto is installed.
  public static var isThere: Bool { shared != nil }

  private static func start() -> ForeignS3? {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let own = root.appendingPathComponent(".build/python-moto/bin/python").path
    let python = FileManager.default.isExecutableFile(atPath: own) ? own : "/usr/bin/python3"
    let script = root.appendingPathComponent("Tests/Python/moto_store.py").path
    guard
      let process = try? ChildProcess.start(
        python, [script], environment: ProcessEnvironment.variables(), error: .discarded),
      let line = process.readLine(), let answer = try? JSONValue(parsing: Array(line.utf8)),
      let url = answer["url"]?.string, let key = answer["key"]?.string,
      let secret = answer["secret"]?.string
    else { return nil }
    return ForeignS3(url: url, accessKeyID: key, secret: secret, process: process)
  }
}
