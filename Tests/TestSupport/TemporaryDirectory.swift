import Foundation

/// A directory of a test's own under the system's temporary directory, removed with the value.
public final class TemporaryDirectory: Sendable {
  /// Its absolute path, without a trailing slash.
  public let path: String

  /// Makes the directory.
  public init(_ name: String = "attache") {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("\(name)-\(UUID().uuidString)").path
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of `name` inside the directory.
  public func file(_ name: String) -> String { path + "/" + name }
}
