import CArchive

/// Compression of bytes in memory.
package enum Compression {
  /// The default level of Zstandard.
  package static let zstdLevel = 3

  /// Compresses bytes with Zstandard.
  package static func zstd(_ bytes: [UInt8], level: Int = zstdLevel) throws(ArchiveError) -> [UInt8]
  {
    let sink = Sink()
    let writer = ZstandardWriter(level: level) { piece in
      sink.bytes.append(contentsOf: piece)
      return true
    }
    guard let writer else { throw ArchiveError(.file, "", "out of memory while compressing") }
    guard bytes.withUnsafeBytes({ writer.write($0) }), writer.close() else {
      throw writer.failure("")
    }
    return sink.bytes
  }

  /// Decompresses the result of `zstd`; throws above `limit` bytes.
  package static func unzstd(_ bytes: [UInt8], limit: Int) throws(ArchiveError) -> [UInt8] {
    guard bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) else {
      throw ArchiveError(.damaged, "", "the bytes are not compressed with Zstandard")
    }
    return try decompress(bytes, .zstd, limit)
  }

  /// Compresses bytes with gzip, without a time or a file name in the header.
  package static func gzip(_ bytes: [UInt8], level: Int = 6) throws(ArchiveError) -> [UInt8] {
    try compress(bytes, .gzip, level)
  }

  /// Decompresses the result of `gzip`; throws above `limit` bytes.
  package static func gunzip(_ bytes: [UInt8], limit: Int) throws(ArchiveError) -> [UInt8] {
    guard bytes.starts(with: [0x1F, 0x8B]) else {
      throw ArchiveError(.damaged, "", "the bytes are not compressed with gzip")
    }
    return try decompress(bytes, .gzip, limit)
  }

  private static func compress(_ bytes: [UInt8], _ filter: Stream.Filter, _ level: Int)
    throws(ArchiveError) -> [UInt8]
  {
    guard let handle = archive_write_new(), let entry = archive_entry_new() else {
      throw ArchiveError(.file, "", "out of memory while compressing")
    }
    let sink = Sink()
    let isWritten = withExtendedLifetime(sink) {
      Stream.configure(handle, filter, level: level)
        && archive_write_open2(
          handle, Unmanaged.passUnretained(sink).toOpaque(), nil, appendToSink, nil, nil)
          == ARCHIVE_OK
        && Stream.begin(handle, entry)
        && bytes.withUnsafeBytes { Stream.write($0, to: handle) }
        && archive_write_close(handle) == ARCHIVE_OK
    }
    defer {
      archive_entry_free(entry)
      archive_write_free(handle)
    }
    if !isWritten { throw .last(.file, "", "the bytes cannot be compressed", handle) }
    return sink.bytes
  }

  private static func decompress(_ bytes: [UInt8], _ filter: Stream.Filter, _ limit: Int)
    throws(ArchiveError) -> [UInt8]
  {
    guard let handle = archive_read_new() else {
      throw ArchiveError(.file, "", "out of memory while decompressing")
    }
    defer { archive_read_free(handle) }
    let content = bytes.withUnsafeBytes { raw -> [UInt8]? in
      var entry: OpaquePointer?
      guard Stream.configure(reading: handle, filter),
        archive_read_open_memory(handle, raw.baseAddress, raw.count) == ARCHIVE_OK,
        Stream.isOne(handle)
      else { return nil }
      let status = archive_read_next_header(handle, &entry)
      if status == ARCHIVE_EOF { return [] }
      return status == ARCHIVE_OK ? drain(handle, limit) : nil
    }
    guard let content else { throw .last(.damaged, "", "the bytes cannot be decompressed", handle) }
    if content.count <= limit, filter == .gzip, !isChecked(content, by: bytes.suffix(8)) {
      throw ArchiveError(.damaged, "", "the checksum of the bytes does not match")
    }
    if content.count > limit {
      throw ArchiveError(.tooLarge, "", "the bytes decompress to more than \(limit) bytes")
    }
    return content
  }

  /// Verifies gzip's checksum and length, which libarchive does not.
  private static func isChecked(_ content: [UInt8], by tail: ArraySlice<UInt8>) -> Bool {
    var crc = CRC32()
    content.withUnsafeBytes { crc.update($0) }
    let found = UInt64(crc.value) | UInt64(UInt32(truncatingIfNeeded: content.count)) << 32
    return tail.count == 8 && tail.reversed().reduce(0) { $0 << 8 | UInt64($1) } == found
  }

  /// All decompressed bytes, or the first ones above `limit`; nil after an error.
  private static func drain(_ handle: OpaquePointer, _ limit: Int) -> [UInt8]? {
    var content: [UInt8] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 64)
    defer { buffer.deallocate() }
    while content.count <= limit {
      let count = archive_read_data(handle, buffer.baseAddress, buffer.count)
      if count < 0 { return nil }
      if count == 0 { break }
      content.append(contentsOf: buffer[..<count])
    }
    return content
  }
}

private final class Sink {
  var bytes: [UInt8] = []
}

// A C callback at file scope, so that it is not isolated to an actor.
private func appendToSink(
  _ archive: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ bytes: UnsafeRawPointer?,
  _ count: Int
) -> Int {
  guard let context, let bytes else { return -1 }
  let sink = Unmanaged<Sink>.fromOpaque(context).takeUnretainedValue()
  sink.bytes.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
  return count
}
