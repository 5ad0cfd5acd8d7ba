import CSystem
import Glibc

/// The reason a lock was not acquired.
package enum LockError: Error, Sendable, CustomStringConvertible {
  /// Another process holds the lock; `by` is its note, as far as it could be read.
  case held(by: String)
  case system(SystemError)
  /// The directory is on a network file system, where such a lock is unreliable.
  case networkFileSystem(String)

  /// One sentence: the holder or the failure.
  package var description: String {
    switch self {
    case .held(let note): "the lock is held by \(note)"
    case .system(let error): error.description
    case .networkFileSystem(let path):
      "\(path) is on a network file system, where locks are unreliable; "
        + "keep the data on a local disk"
    }
  }
}

/// A file lock that the kernel releases when its holder ends, for whatever reason.
///
/// Never unlink the lock file: a second process could then lock another file of the same name. If
/// the file was removed before it was locked, the file that has the name now is locked instead. The
/// note in the file (holder and start time) is for display only.
package final class FileLock: Sendable {
  private let descriptor: Locked<Int32>
  package let path: String

  /// Acquires the lock without waiting.
  ///
  /// `note` is written to the file for display to others. If it is nil, nothing is written, for a
  /// lock on a file with other content.
  package convenience init(
    _ path: String, exclusive: Bool = true, note: String? = ""
  ) throws(LockError) {
    try self.init(path, exclusive: exclusive, note: note) {}
  }

  /// Acquires the lock; calls `opened` between opening and locking.
  package init(
    _ path: String, exclusive: Bool, note: String?, opened: () -> Void
  ) throws(LockError) {
    self.path = path
    let directory = Files.parent(of: path) ?? "."
    if ProcessLimits.isNetworkFileSystem(directory) { throw .networkFileSystem(directory) }
    for _ in 0..<Self.looks {
      let file = attache_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if file < 0 { throw .system(.last("open the lock", path)) }
      opened()
      let code = attache_lock(file, exclusive ? 1 : 0)
      if code != 0 {
        Glibc.close(file)
        if code != EWOULDBLOCK {
          throw .system(SystemError(operation: "lock", path: path, errno: code))
        }
        break
      }
      if Self.bears(path, file) {
        descriptor = Locked(file)
        if exclusive, let note { FileLock.leave(note, in: file) }
        return
      }
      attache_unlock(file)
      Glibc.close(file)
    }
    throw .held(by: FileLock.holder(path))
  }

  /// The number of attempts if the file is removed between opening and locking.
  private static let looks = 100

  /// Whether the path still refers to the open file.
  private static func bears(_ path: String, _ descriptor: Int32) -> Bool {
    var (held, named) = (stat(), stat())
    return fstat(descriptor, &held) == 0 && lstat(path, &named) == 0
      && (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino)
  }

  /// Acquires the lock as soon as it is free, within a time limit.
  ///
  /// Blocks the thread meanwhile.
  ///
  /// - Throws: `LockError.held` when the time is over, or when `isCancelled` returns true.
  package static func waiting(
    _ path: String, exclusive: Bool = true, note: String? = "", seconds: Int,
    isCancelled: () -> Bool = { false }
  ) throws(LockError) -> FileLock {
    let deadline = Clock.monotonicNanoseconds() + UInt64(max(0, seconds)) * 1_000_000_000
    var pause: UInt32 = 500
    while true {
      do throws(LockError) {
        return try FileLock(path, exclusive: exclusive, note: note)
      } catch {
        guard case .held = error, Clock.monotonicNanoseconds() < deadline, !isCancelled()
        else { throw error }
      }
      Clock.pause(microseconds: pause)
      pause = min(pause * 2, 50_000)
    }
  }

  deinit { close() }

  /// Releases the lock.
  ///
  /// The file is unlocked before it is closed. The lock belongs to the open file, and a child
  /// process that is being started has a copy of the descriptor until it executes its program.
  package func close() {
    descriptor.withLock { descriptor in
      if descriptor >= 0 {
        attache_unlock(descriptor)
        Glibc.close(descriptor)
      }
      descriptor = -1
    }
  }

  /// The process that holds the lock: its note, or its ID and name.
  package static func holder(_ path: String) -> String {
    let bytes = (try? Files.read(path, limit: 4096)) ?? []
    let line = String(decoding: bytes, as: UTF8.self).prefix { !$0.isNewline }
    // A lock on a file with other content has no note.
    let note = line.hasPrefix("process ") ? String(line) : nil
    guard let pid = process(holding: path) else { return note ?? "another process" }
    // A reader leaves no note, so the note may be that of an earlier holder.
    if let note, note.hasPrefix("process \(pid) ") { return note }
    let name = String(decoding: (try? Files.read("/proc/\(pid)/comm")) ?? [], as: UTF8.self).trimmed
    return "process \(pid)" + (name.isEmpty ? "" : " (\(name))")
  }

  /// The ID of the process that holds a lock, as the kernel lists it; nil if it lists none.
  private static func process(holding path: String) -> Int32? {
    var file = stat()
    guard lstat(path, &file) == 0, let bytes = try? Files.read("/proc/locks") else { return nil }
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      // 5: FLOCK  ADVISORY  WRITE 4711 00:1b:1570481 0 EOF
      let words = line.split(separator: " ")
      guard words.count > 5, words[1] == "FLOCK", words[5].hasSuffix(":\(file.st_ino)"),
        let pid = Int32(words[4]), pid > 0
      else { continue }
      return pid
    }
    return nil
  }

  // The note is advisory: a full disk must not prevent the lock.
  private static func leave(_ note: String, in descriptor: Int32) {
    let since = Dates.utcSeconds(Clock.wallMilliseconds())
    let line = "process \(getpid()) since \(since)\(note.isEmpty ? "" : ", \(note)")\n"
    _ = ftruncate(descriptor, 0)
    _ = Array(line.utf8).withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  }
}
