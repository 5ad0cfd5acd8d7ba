import Foundation

/// A temporary directory of a test, removed when the value is released.
public final class TemporaryDirectory: Sendable {
  /// The absolute path, without a trailing slash.
  public let path: String

  /// Creates the directory.
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
