import CArchive

/// Reads a file that `CompressedFileWriter` wrote.
package final class CompressedFileReader {
  private let path: String
  private let handle: OpaquePointer
  private let isEmpty: Bool

  package init(path: String) throws(ArchiveError) {
    self.path = path
    let (_, head) = try DiskFile.head(path, count: 4)
    guard ArchiveFormat(firstBytes: head) == .tarZst else {
      throw ArchiveError(.damaged, path, "it is not compressed with Zstandard")
    }
    guard let handle = archive_read_new() else {
      throw ArchiveError(.file, path, "out of memory while reading it")
    }
    self.handle = handle
    var entry: OpaquePointer?
    guard Stream.configure(reading: handle, .zstd),
      archive_read_open_filename(handle, path, 1 << 18) == ARCHIVE_OK
    else { throw .last(.damaged, path, "it cannot be read", handle) }
    let status = archive_read_next_header(handle, &entry)
    guard Stream.isOne(handle), status == ARCHIVE_OK || status == ARCHIVE_EOF else {
      throw .last(.damaged, path, "it cannot be read", handle)
    }
    isEmpty = status == ARCHIVE_EOF
  }

  deinit { archive_read_free(handle) }

  /// Fills `buffer` from the stream and returns the number of bytes; 0 is the end.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(ArchiveError) -> Int {
    if isEmpty { return 0 }
    let count = archive_read_data(handle, buffer.baseAddress, buffer.count)
    if count < 0 { throw .last(.damaged, path, "its end cannot be read", handle) }
    return count
  }
}
