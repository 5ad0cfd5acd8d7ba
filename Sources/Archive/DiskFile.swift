import CArchive

/// A regular file, read through libarchive's disk reader.
struct DiskFile: ~Copyable {
  /// The size in bytes when the file was opened.
  let size: Int64
  private let path: String
  private let handle: OpaquePointer

  init(_ path: String) throws(ArchiveError) {
    guard let handle = archive_read_disk_new() else {
      throw ArchiveError(.file, path, "out of memory while reading it")
    }
    let entry = archive_entry_new()
    defer { archive_entry_free(entry) }
    archive_read_disk_set_symlink_physical(handle)
    let opened =
      archive_read_disk_open(handle, path) == ARCHIVE_OK
      && archive_read_next_header2(handle, entry) == ARCHIVE_OK
    guard opened, UInt32(archive_entry_filetype(entry)) == attache_ae_ifreg() else {
      let error = ArchiveError.last(.file, path, "it is not a readable regular file", handle)
      archive_read_free(handle)
      throw error
    }
    self.path = path
    self.handle = handle
    size = archive_entry_size(entry)
  }

  deinit { archive_read_free(handle) }

  /// Fills `buffer` from the file and returns the number of bytes; 0 is the end.
  borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(ArchiveError) -> Int {
    let count = archive_read_data(handle, buffer.baseAddress, buffer.count)
    if count < 0 { throw .last(.file, path, "it cannot be read", handle) }
    return count
  }

  /// The size of a file and its first bytes.
  static func head(_ path: String, count: Int) throws(ArchiveError) -> (Int64, [UInt8]) {
    let file = try DiskFile(path)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    defer { buffer.deallocate() }
    let found = try file.read(into: buffer)
    return (file.size, Array(buffer[..<found]))
  }
}
