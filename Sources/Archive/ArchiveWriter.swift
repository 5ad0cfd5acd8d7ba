import CArchive

/// Writes an archive whose bytes depend only on its content, its format and its level.
///
/// Entries have no owner, the mode 0600 and the same time; the archive names no host and no time
/// zone. Zip stores local time only, so its entries are dated 1980-01-01, the start of zip's
/// calendar.
package final class ArchiveWriter {
  private let path: String
  private let format: ArchiveFormat
  private let modifiedSeconds: Int
  private var handle: OpaquePointer?
  /// The compressor of a tar, which adds a checksum; nil if libarchive compresses by itself.
  private let compressor: CompressedFileWriter?

  /// Starts an archive at `path`, replacing an existing file.
  ///
  /// `level` is a level of the format's compressor.
  ///
  /// The file is not synced to disk; the code that publishes it does that.
  package init(
    path: String, format: ArchiveFormat, level: Int? = nil, modified milliseconds: Int64
  ) throws(ArchiveError) {
    self.path = path
    self.format = format
    modifiedSeconds = Int(milliseconds / 1000)
    guard let handle = archive_write_new() else {
      throw ArchiveError(.file, path, "out of memory while writing it")
    }
    do throws(ArchiveError) {
      compressor =
        format == .tarZst
        ? try CompressedFileWriter(
          path: path, level: level ?? Compression.zstdLevel, threads: ArchiveWriter.threads)
        : nil
    } catch {
      archive_write_free(handle)
      throw error
    }
    self.handle = handle
    guard NameLocale.perform({ ArchiveWriter.configure(handle, format, level) }),
      archive_write_set_bytes_in_last_block(handle, 1) == ARCHIVE_OK, open(handle)
    else { throw .last(.file, path, "it cannot be written", handle) }
  }

  private func open(_ handle: OpaquePointer) -> Bool {
    guard let compressor else { return archive_write_open_filename(handle, path) == ARCHIVE_OK }
    let context = Unmanaged.passUnretained(compressor).toOpaque()
    return archive_write_open2(handle, context, nil, compress, nil, nil) == ARCHIVE_OK
  }

  deinit {
    guard let handle else { return }
    // Without this call, libarchive would finish an archive that `close` has not confirmed.
    archive_write_fail(handle)
    archive_write_free(handle)
  }

  /// The bytes are the same with any number of compression threads except 0.
  private static let threads = 2

  private static func configure(_ handle: OpaquePointer, _ format: ArchiveFormat, _ level: Int?)
    -> Bool
  {
    let option = "compression-level"
    switch format {
    case .zip:
      guard archive_write_set_format_zip(handle) == ARCHIVE_OK,
        archive_write_set_format_option(handle, "zip", "hdrcharset", "UTF-8") == ARCHIVE_OK
      else { return false }
      guard let level else { return true }
      return archive_write_set_format_option(handle, "zip", option, "\(level)") == ARCHIVE_OK
    case .tarGz:
      guard archive_write_set_format_pax_restricted(handle) == ARCHIVE_OK,
        archive_write_add_filter_gzip(handle) == ARCHIVE_OK,
        archive_write_set_filter_option(handle, "gzip", "timestamp", nil) == ARCHIVE_OK
      else { return false }
      guard let level else { return true }
      return archive_write_set_filter_option(handle, "gzip", option, "\(level)") == ARCHIVE_OK
    case .tarZst:
      return archive_write_set_format_pax_restricted(handle) == ARCHIVE_OK
    }
  }

  /// The reason a name is rejected, as the end of a sentence; nil for a plain relative path.
  package static func refusal(ofName name: String) -> String? { EntryName.refusal(name) }

  /// Whether some file system takes two names for the same one.
  ///
  /// An archive may have only one of them.
  package static func areOne(_ name: String, _ other: String) -> Bool {
    EntryName.folded(name) == EntryName.folded(other)
  }

  package func add(name: String, bytes: [UInt8]) throws(ArchiveError) {
    try begin(name, size: Int64(bytes.count))
    let failure = bytes.withUnsafeBytes { write($0) }
    if let failure { throw failure }
    try end(name)
  }

  /// Adds a file's content.
  ///
  /// The file must not change meanwhile unless `isChanging` is set: then the entry keeps the size
  /// that the file had at first, and zeros replace what was truncated since.
  package func add(
    name: String, file source: String, isChanging: Bool = false
  ) throws(ArchiveError) {
    let file = try DiskFile(source)
    try begin(name, size: file.size)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    var left = file.size
    while true {
      var count = try file.read(into: buffer)
      if isChanging, left > 0, count == 0 {
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        count = buffer.count
      }
      if isChanging { count = Int(min(left, Int64(count))) }
      left -= Int64(count)
      if count == 0 || left < 0 { break }
      if let failure = write(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { throw failure }
    }
    if left != 0 { throw ArchiveError(.file, source, "it changed while it was being packed") }
    try end(name)
  }

  private func begin(_ name: String, size: Int64) throws(ArchiveError) {
    if let reason = EntryName.refusal(name) {
      throw ArchiveError(.refusedEntry, path, "an entry's name \(reason)")
    }
    let entry = archive_entry_new()
    defer { archive_entry_free(entry) }
    // Set as bytes. They are written in the locale of `NameLocale`.
    archive_entry_set_pathname(entry, name)
    archive_entry_set_filetype(entry, attache_ae_ifreg())
    archive_entry_set_perm(entry, 0o600)
    archive_entry_set_size(entry, size)
    if format != .zip { archive_entry_set_mtime(entry, modifiedSeconds, 0) }
    if NameLocale.perform({ archive_write_header(handle, entry) }) != ARCHIVE_OK {
      throw .last(.file, path, "the entry \(name) cannot be written", handle)
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) -> ArchiveError? {
    var written = 0
    while written < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
      let count = archive_write_data(handle, rest.baseAddress, rest.count)
      if count <= 0 { return .last(.file, path, "it cannot be written", handle) }
      written += count
    }
    return nil
  }

  private func end(_ name: String) throws(ArchiveError) {
    if archive_write_finish_entry(handle) != ARCHIVE_OK {
      throw .last(.file, path, "the entry \(name) cannot be written", handle)
    }
  }

  /// Writes the remaining bytes and closes the file.
  ///
  /// Without this call the archive is incomplete.
  package func close() throws(ArchiveError) {
    guard let handle else { return }
    defer {
      archive_write_free(handle)
      self.handle = nil
    }
    // The central directory at the end of a zip archive repeats the names.
    if NameLocale.perform({ archive_write_close(handle) }) != ARCHIVE_OK {
      throw .last(.file, path, "its end cannot be written", handle)
    }
    try compressor?.close()
  }
}

// A C callback at file scope, so that it is not isolated to an actor.
private func compress(
  _ archive: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ bytes: UnsafeRawPointer?,
  _ count: Int
) -> Int {
  guard let context, let bytes else { return -1 }
  let writer = Unmanaged<CompressedFileWriter>.fromOpaque(context).takeUnretainedValue()
  do throws(ArchiveError) {
    try writer.write(UnsafeRawBufferPointer(start: bytes, count: count))
    return count
  } catch {
    return -1
  }
}
