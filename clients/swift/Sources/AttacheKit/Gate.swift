import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Lets one call at a time write the files of a user, of any thread and any process.
final class Gate {
  private static let table = NSLock()
  private static var gates: [String: Gate] = [:]

  private let path: String
  private let lock = NSRecursiveLock()
  private var depth = 0

  private init(_ path: String) { self.path = path }

  static func of(_ path: String) -> Gate {
    table.lock()
    defer { table.unlock() }
    let gate = gates[path] ?? Gate(path)
    gates[path] = gate
    return gate
  }

  /// Runs the body alone; it may call this again.
  func pass<R>(_ body: () throws -> R) throws -> R {
    lock.lock()
    defer { lock.unlock() }
    depth += 1
    defer { depth -= 1 }
    guard depth == 1 else { return try body() }
    let file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
    // Closing the file gives up the lock.
    defer { close(file) }
    while flock(file, LOCK_EX) != 0 {
      guard errno == EINTR else { throw CocoaError(.fileLocking) }
    }
    return try body()
  }
}
