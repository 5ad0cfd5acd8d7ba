import Foundation

/// A directory of its own in memory, where the system has such a place: thousands of small commits
/// wait for no disk.
public final class MemoryDirectory: Sendable {
  /// Its absolute path.
  public let path: String

  /// Makes the directory.
  public init(_ name: String) {
    let manager = FileManager.default
    let memory = "/dev/shm"
    let base =
      manager.isWritableFile(atPath: memory) ? memory : manager.temporaryDirectory.path
    path = "\(base)/attache-\(name)-\(UUID().uuidString)"
    try? manager.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of `name` inside the directory.
  public func file(_ name: String) -> String { path + "/" + name }
}
