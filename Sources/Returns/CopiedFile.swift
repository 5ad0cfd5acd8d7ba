import Crypto
import System

/// A file that is copied and hashed in one reading of it, and stays open until it is told whether it changed
/// meanwhile.
final class CopiedFile {
  private let file: FileDescriptorHandle
  private let before: FileStatus
  /// When it was opened, by this machine's clock.
  private let opened: Int64
  /// Of what was read, and is in the copy.
  let sha256: String

  /// Copies a regular file and nothing else: a pipe of its name would be waited for without end.
  init(_ path: String, to copy: String) throws {
    file = try Files.openRegular(path)
    before = try file.status()
    opened = Clock.wallMilliseconds() * 1_000_000
    let target = try Files.createNew(copy)
    if file.share(with: target) {
      // What is shared is what is kept, whatever becomes of the file.
      sha256 = try Self.digest(of: Files.openRegular(copy)) { _ in }
    } else {
      sha256 = try Self.digest(of: file) { bytes in try target.write(bytes) }
    }
  }

  /// Whether nothing changed the file since it was opened.
  ///
  /// A change gives it another time, or the same where the clock of its file system has not ticked since: one that
  /// was changed less than `recent` nanoseconds before it was opened is read once more.
  func isUnchanged(recent: Int64) throws -> Bool {
    guard try file.status() == before else { return false }
    let times = [before.modifiedNanoseconds, before.changedNanoseconds]
    guard times.contains(where: { abs(opened - $0) < recent }) else { return true }
    return try Self.digest(of: file) { _ in } == sha256
  }

  private static func digest(
    of file: borrowing FileDescriptorHandle, _ each: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> String {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    var hasher = SHA256Hasher()
    var place = 0
    while true {
      let count = try file.read(into: buffer, at: place)
      if count == 0 { return Hex.encode(hasher.finalize()) }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      hasher.update(bytes)
      try each(bytes)
      place += count
    }
  }
}
