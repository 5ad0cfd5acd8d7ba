import Foundation
import System

extension TemporaryDirectory {
  /// Creates a directory that many tests share, removed when the process ends.
  public static func untilExit(_ name: String) -> TemporaryDirectory {
    let directory = TemporaryDirectory(name)
    let isFirst = shared.withLock { directories in
      directories.append(directory)
      return directories.count == 1
    }
    if isFirst { atexit { TemporaryDirectory.removeShared() } }
    return directory
  }

  private static let shared = Locked<[TemporaryDirectory]>([])

  /// A directory stored in a global constant is never released, so it is removed here.
  private static func removeShared() {
    for path in shared.withLock({ $0.map(\.path) }) {
      try? FileManager.default.removeItem(atPath: path)
    }
  }
}
