import Foundation

/// A temporary directory in memory, if the system supports it, so that thousands of small commits
/// do not wait for a disk.
public final class MemoryDirectory: Sendable {
  /// The absolute path.
  public let path: String

  /// Creates the directory.
  public init(_ name: String) {
    let manager = FileManager.default
    let memory = "/dev/shm"
    let base = manager.isWritableFile(atPath: memory) ? memory : manager.temporaryDirectory.path
    path = "\(base)/attache-\(name)-\(UUID().uuidString)"
    try? manager.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of `name` inside the directory.
  public func file(_ name: String) -> String { path + "/" + name }
}
