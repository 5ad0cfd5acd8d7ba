import Crypto
import System

/// A file that is copied and hashed in a single read, and kept open until it is known whether it
/// changed meanwhile.
final class CopiedFile {
  private let file: FileDescriptorHandle
  private let before: FileStatus
  /// When it was opened, by this machine's clock.
  private let opened: Int64
  /// The digest of what was read, which is also in the copy.
  let sha256: String

  /// The read size in bytes: small enough for the processor's cache when the data is hashed and
  /// written.
  private static let piece = 1 << 18

  /// Copies a regular file.
  ///
  /// Other kinds of files are refused, because reading a pipe may never end.
  ///
  /// Afterwards `room` contains what was read, if it is large enough.
  init(_ path: String, to copy: String, keeping room: FileRoom? = nil) throws {
    file = try Files.openRegular(path)
    before = try file.status()
    opened = Clock.wallMilliseconds() * 1_000_000
    let target = try Files.createNew(copy)
    let image = room?.reserve(Int(before.size))
    let read: (sha256: String, count: Int)
    if file.share(with: target) {
      // Read the copy, because the copy is what is kept, even if the original changes.
      read = try Self.digest(of: Files.openRegular(copy), keeping: image) { _ in }
    } else {
      read = try Self.digest(of: file, keeping: image) { bytes in try target.write(bytes) }
    }
    sha256 = read.sha256
    if let image, read.count == image.count { room?.content = image }
  }

  /// Whether the file is unchanged since it was opened.
  ///
  /// A change sets a new modification time, unless the file system's clock has not ticked since. A
  /// file that was changed less than `recent` nanoseconds before it was opened is therefore read
  /// again.
  func isUnchanged(recent: Int64) throws -> Bool {
    guard try file.status() == before else { return false }
    let times = [before.modifiedNanoseconds, before.changedNanoseconds]
    guard times.contains(where: { abs(opened - $0) < recent }) else { return true }
    return try Self.digest(of: file) { _ in }.sha256 == sha256
  }

  /// Reads a file to its end, and stores as much as fits in the memory of `image`.
  private static func digest(
    of file: borrowing FileDescriptorHandle, keeping image: UnsafeMutableRawBufferPointer? = nil,
    _ each: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> (sha256: String, count: Int) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 64)
    defer { buffer.deallocate() }
    var hasher = SHA256Hasher()
    var place = 0
    while true {
      var target = buffer
      if let image, place < image.count {
        target = UnsafeMutableRawBufferPointer(rebasing: image[place...].prefix(piece))
      }
      let count = try file.read(into: target, at: place)
      if count == 0 { return (Hex.encode(hasher.finalize()), place) }
      let bytes = UnsafeRawBufferPointer(rebasing: target[..<count])
      hasher.update(bytes)
      try each(bytes)
      place += count
    }
  }
}
