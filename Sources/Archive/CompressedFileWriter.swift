import CArchive

/// Writes one stream, compressed by Zstandard, to a file.
package final class CompressedFileWriter {
  private let path: String
  private var handle: OpaquePointer?

  /// Starts a file at `path`, replacing what stands there.
  ///
  /// It is not synchronized.
  package init(path: String, level: Int = 3) throws(ArchiveError) {
    self.path = path
    guard let handle = archive_write_new(), let entry = archive_entry_new() else {
      throw ArchiveError(.file, path, "no memory to write it")
    }
    defer { archive_entry_free(entry) }
    self.handle = handle
    guard Stream.configure(handle, .zstd, level: level),
      archive_write_open_filename(handle, path) == ARCHIVE_OK,
      Stream.begin(handle, entry)
    else { throw .last(.file, path, "it cannot be written", handle) }
  }

  deinit {
    guard let handle else { return }
    archive_write_fail(handle)
    archive_write_free(handle)
  }

  /// Adds bytes to the stream.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) {
    if !Stream.write(bytes, to: handle) { throw .last(.file, path, "it cannot be written", handle) }
  }

  /// Adds bytes to the stream.
  package func write(_ bytes: [UInt8]) throws(ArchiveError) {
    let isWritten = bytes.withUnsafeBytes { Stream.write($0, to: handle) }
    if !isWritten { throw .last(.file, path, "it cannot be written", handle) }
  }

  /// Writes what is left and closes the file.
  package func close() throws(ArchiveError) {
    guard let handle else { return }
    defer {
      archive_write_free(handle)
      self.handle = nil
    }
    if archive_write_close(handle) != ARCHIVE_OK {
      throw .last(.file, path, "it cannot be written to its end", handle)
    }
  }
}
