import CArchive

/// Writes one stream to a file, compressed with Zstandard.
package final class CompressedFileWriter {
  private let path: String
  /// The file, written in libarchive's raw format without a filter.
  private var file: OpaquePointer?
  private let stream: ZstandardWriter

  /// Starts a file at `path`, replacing an existing one.
  ///
  /// The file is not synced to disk.
  package convenience init(path: String, level: Int = Compression.zstdLevel) throws(ArchiveError) {
    try self.init(path: path, level: level, threads: nil)
  }

  init(path: String, level: Int, threads: Int?) throws(ArchiveError) {
    guard let file = archive_write_new() else {
      throw ArchiveError(.file, path, "out of memory while writing it")
    }
    guard let entry = archive_entry_new() else {
      archive_write_free(file)
      throw ArchiveError(.file, path, "out of memory while writing it")
    }
    defer { archive_entry_free(entry) }
    guard Stream.configure(file), archive_write_open_filename(file, path) == ARCHIVE_OK,
      Stream.begin(file, entry)
    else {
      let error = ArchiveError.last(.file, path, "it cannot be written", file)
      archive_write_free(file)
      throw error
    }
    let stream = ZstandardWriter(level: level, threads: threads) { Stream.write($0, to: file) }
    guard let stream else {
      archive_write_free(file)
      throw ArchiveError(.file, path, "it cannot be compressed at level \(level)")
    }
    self.path = path
    self.file = file
    self.stream = stream
  }

  deinit {
    guard let file else { return }
    archive_write_fail(file)
    archive_write_free(file)
  }

  package func write(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) {
    if !stream.write(bytes) { throw failure() }
  }

  package func write(_ bytes: [UInt8]) throws(ArchiveError) {
    let isWritten = bytes.withUnsafeBytes { stream.write($0) }
    if !isWritten { throw failure() }
  }

  private func failure() -> ArchiveError {
    file.map { .last(.file, path, "it cannot be written", $0) } ?? stream.failure(path)
  }

  /// Writes the remaining bytes and closes the file.
  package func close() throws(ArchiveError) {
    guard let file else { return }
    let isWritten = stream.close() && archive_write_close(file) == ARCHIVE_OK
    let failure = isWritten ? nil : failure()
    archive_write_free(file)
    self.file = nil
    if let failure { throw failure }
  }
}
