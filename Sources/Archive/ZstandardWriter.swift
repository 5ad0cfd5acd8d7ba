import CArchive

/// Compresses a stream with Zstandard and adds the checksum of its content.
///
/// libarchive writes one frame and never asks the library for the checksum. This class adds it: a
/// bit in the frame's header, and the low half of the content's XXH64 after the last block (RFC
/// 8878, section 3.1.1). Every reader of the format verifies it.
final class ZstandardWriter {
  private let handle: OpaquePointer
  private let put: (UnsafeRawBufferPointer) -> Bool
  private var hash = XXHash64()
  private var position = 0

  /// The offset of the frame header's descriptor, which has the checksum bit: after the magic
  /// number.
  private static let descriptor = 4

  /// Starts a stream whose compressed bytes go to `put`, which returns whether it accepted them.
  ///
  /// The bytes are the same with any number of compression threads except 0.
  init?(level: Int, threads: Int? = nil, put: @escaping (UnsafeRawBufferPointer) -> Bool) {
    guard let handle = archive_write_new() else { return nil }
    self.handle = handle
    self.put = put
    guard let entry = archive_entry_new() else { return nil }
    defer { archive_entry_free(entry) }
    guard Stream.configure(handle, .zstd, level: level),
      threads.map({
        archive_write_set_filter_option(handle, "zstd", "threads", String($0)) == ARCHIVE_OK
      }) ?? true,
      archive_write_open2(
        handle, Unmanaged.passUnretained(self).toOpaque(), nil, takeCompressed, nil, nil)
        == ARCHIVE_OK,
      Stream.begin(handle, entry)
    else { return nil }
  }

  deinit {
    // Without this call, libarchive would finish a stream that `close` has not confirmed.
    archive_write_fail(handle)
    archive_write_free(handle)
  }

  /// Adds bytes and returns whether they were accepted.
  func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    hash.update(bytes)
    return Stream.write(bytes, to: handle)
  }

  /// Ends the stream and returns whether all of it was accepted.
  func close() -> Bool {
    guard archive_write_close(handle) == ARCHIVE_OK else { return false }
    guard position > 0 else { return true }
    let checksum = UInt32(truncatingIfNeeded: hash.value).littleEndian
    return withUnsafeBytes(of: checksum) { put($0) }
  }

  /// The error that has just occurred.
  func failure(_ path: String) -> ArchiveError {
    .last(.file, path, "it cannot be written", handle)
  }

  fileprivate func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let place = Self.descriptor - position
    position += bytes.count
    guard place >= 0, place < bytes.count else { return put(bytes) }
    var changed = Array(bytes)
    changed[place] |= 4
    return changed.withUnsafeBytes { put($0) }
  }
}

// A C callback at file scope, so that it is not isolated to an actor.
private func takeCompressed(
  _ archive: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ bytes: UnsafeRawPointer?,
  _ count: Int
) -> Int {
  guard let context, let bytes else { return -1 }
  let writer = Unmanaged<ZstandardWriter>.fromOpaque(context).takeUnretainedValue()
  return writer.take(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : -1
}
