import CArchive

/// Reads an archive from an untrusted source.
///
/// Only regular files are accepted. An entry's name is compared but never used as a path, its
/// content goes where the caller says, and every limit is checked while bytes arrive.
package final class ArchiveReader {
  /// The limits on an archive's content.
  package struct Limits: Sendable, Hashable {
    /// The number of entries, including directories.
    package var entries: Int
    /// The unpacked bytes of all entries.
    package var totalBytes: Int64
    /// The unpacked bytes of one entry.
    package var entryBytes: Int64
    /// The unpacked bytes per byte of the file.
    package var ratio: Int64

    /// Creates limits.
    ///
    /// The defaults are far above the size of any bundle.
    package init(
      entries: Int = 64, totalBytes: Int64 = 16 << 30, entryBytes: Int64 = 4 << 30,
      ratio: Int64 = 200
    ) {
      self.entries = entries
      self.totalBytes = totalBytes
      self.entryBytes = entryBytes
      self.ratio = ratio
    }
  }

  /// A regular file in the archive.
  package struct Entry: Sendable, Hashable {
    /// The validated, relative name.
    package let name: String
    /// The size in the entry's header; nil if the header has none.
    package let size: Int64?
  }

  /// The format, detected from the first bytes.
  package let format: ArchiveFormat
  private let path: String
  private let limits: Limits
  private var mostBytes: Int64
  /// The source that decompresses a tar; nil for zip.
  private let source: CompressedSource?
  private let handle: OpaquePointer
  private let header: OpaquePointer
  private var names: Set<String> = []
  private var entryCount = 0
  private var totalBytes: Int64 = 0
  private var current: Entry?
  /// Whether a verified checksum covers every byte.
  ///
  /// Final once `next` has returned nil.
  ///
  /// Zip and gzip always have a checksum. A Zstandard frame has one only if its writer asked for
  /// it.
  package private(set) var isChecked = false

  /// Opens an archive.
  ///
  /// Its first bytes determine the format, not its name.
  package init(path: String, limits: Limits = Limits()) throws(ArchiveError) {
    let (size, head) = try DiskFile.head(path, count: 4)
    guard let format = ArchiveFormat(firstBytes: head) else {
      var error = ArchiveError(.damaged, path, "it is not a zip, tar.gz or tar.zst archive")
      error.isOtherFormat = true
      throw error
    }
    guard let handle = archive_read_new(), let header = archive_entry_new() else {
      throw ArchiveError(.file, path, "out of memory while reading it")
    }
    self.path = path
    self.format = format
    self.limits = limits
    self.handle = handle
    self.header = header
    // A small file may contain only zeros. The minimum keeps the ratio from rejecting it.
    let byRatio = size.multipliedReportingOverflow(by: limits.ratio)
    mostBytes = min(
      limits.totalBytes, byRatio.overflow ? .max : max(byRatio.partialValue, 1 << 20))
    do throws(ArchiveError) {
      source = try ArchiveReader.source(path, format, limit: mostBytes)
    } catch {
      archive_entry_free(header)
      archive_read_free(handle)
      throw error
    }
    guard ArchiveReader.configure(handle, format),
      source.map({ $0.open(handle) })
        ?? (archive_read_open_filename(handle, path, 1 << 18) == ARCHIVE_OK)
    else { throw damage("it cannot be read as \(format.rawValue)") }
  }

  deinit {
    archive_entry_free(header)
    archive_read_free(handle)
  }

  private static func source(
    _ path: String, _ format: ArchiveFormat, limit: Int64
  ) throws(ArchiveError) -> CompressedSource? {
    let source: CompressedSource
    switch format {
    case .zip: return nil
    case .tarGz: source = try CompressedSource(path: path, .gzip, limit: limit + slack)
    case .tarZst: source = try CompressedSource(path: path, .zstd, limit: limit + slack)
    }
    try source.begin()
    return source
  }

  /// The bytes allowed for the headers of a tar's entries and its end.
  private static let slack: Int64 = 1 << 20

  /// Raises the limit by the bytes that the archive's manifest declares: records that resemble each
  /// other compress better than the ratio allows.
  ///
  /// The limits per entry and in total still apply.
  package func allow(_ bytes: Int64) {
    let sum = mostBytes.addingReportingOverflow(max(0, bytes))
    mostBytes = min(limits.totalBytes, sum.overflow ? .max : sum.partialValue)
    source?.limit = mostBytes + ArchiveReader.slack
  }

  // Only one format is enabled. Otherwise libarchive would unwrap nested layers.
  private static func configure(_ handle: OpaquePointer, _ format: ArchiveFormat) -> Bool {
    switch format {
    case .zip: archive_read_support_format_zip_seekable(handle) == ARCHIVE_OK
    case .tarGz, .tarZst: archive_read_support_format_tar(handle) == ARCHIVE_OK
    }
  }

  /// The error that has just occurred.
  ///
  /// An error in the compressed bytes takes precedence.
  private func damage(_ what: String) -> ArchiveError {
    source?.failure ?? .last(.damaged, path, what, handle)
  }

  /// The next regular file; nil at the end.
  ///
  /// Directories are skipped; any other entry type is rejected. The checksums of the whole archive
  /// are compared at the end, so do not trust what was read before `next` has returned nil.
  package func next() throws(ArchiveError) -> Entry? {
    while true {
      current = nil
      let status = NameLocale.perform { archive_read_next_header2(handle, header) }
      if status == ARCHIVE_EOF {
        isChecked = try source?.finish() ?? true
        return nil
      }
      // Warnings are rejected too: attache never writes a header that causes one.
      guard status == ARCHIVE_OK else { throw damage("an entry's header cannot be read") }
      entryCount += 1
      if entryCount > limits.entries {
        throw ArchiveError(.tooLarge, path, "it has more than \(limits.entries) entries")
      }
      guard let entry = try checkedEntry() else { continue }
      current = entry
      return entry
    }
  }

  private func checkedEntry() throws(ArchiveError) -> Entry? {
    var name = try NameLocale.perform(entryName)
    let type = UInt32(archive_entry_filetype(header))
    if name.hasPrefix("./") { name.removeFirst(2) }
    if type == attache_ae_ifdir() {
      while name.hasSuffix("/") { name.removeLast() }
      if name.isEmpty || name == "." { return nil }
    }
    if let reason = EntryName.refusal(name) {
      throw ArchiveError(.refusedEntry, path, "an entry's name \(reason)")
    }
    let isPlain =
      archive_entry_hardlink(header) == nil && archive_entry_symlink(header) == nil
      && archive_entry_is_encrypted(header) == 0
    guard type == attache_ae_ifreg() || type == attache_ae_ifdir(), isPlain else {
      throw ArchiveError(.refusedEntry, path, "the entry \(name) is not a regular file")
    }
    guard names.insert(EntryName.folded(name)).inserted else {
      throw ArchiveError(.refusedEntry, path, "the entry \(name) appears twice")
    }
    if type == attache_ae_ifdir() { return nil }
    let size = archive_entry_size_is_set(header) != 0 ? archive_entry_size(header) : nil
    if let size, size < 0 || size > limits.entryBytes || size > mostBytes - totalBytes {
      throw tooLarge(name)
    }
    return Entry(name: name, size: size)
  }

  private func entryName() throws(ArchiveError) -> String {
    guard let bytes = archive_entry_pathname(header) ?? archive_entry_pathname_utf8(header),
      let name = String(validatingCString: bytes)
    else {
      throw ArchiveError(.refusedEntry, path, "an entry's name is not UTF-8")
    }
    return name
  }

  private func tooLarge(_ name: String) -> ArchiveError {
    ArchiveError(
      .tooLarge, path, "the entry \(name) unpacks to more than an archive of its size may contain")
  }

  /// Passes the content of the entry that `next` returned to `body`, piece by piece.
  package func read(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    guard let current else { return }
    self.current = nil
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    var count: Int64 = 0
    while true {
      let got = archive_read_data(handle, buffer.baseAddress, buffer.count)
      if got < 0 { throw damage("the entry \(current.name) cannot be read") }
      if got == 0 { break }
      count += Int64(got)
      totalBytes += Int64(got)
      if count > limits.entryBytes || totalBytes > mostBytes { throw tooLarge(current.name) }
      try body(UnsafeRawBufferPointer(rebasing: buffer[..<got]))
    }
    if let size = current.size, size != count {
      throw ArchiveError(
        .damaged, path, "the entry \(current.name) has \(count) bytes, but its header says \(size)")
    }
  }

  /// The whole content of the entry that `next` returned, at most `limit` bytes.
  package func readAll(limit: Int) throws -> [UInt8] {
    var content: [UInt8] = []
    let name = current?.name ?? ""
    try read { piece in
      if content.count > limit - piece.count { throw tooLarge(name) }
      content.append(contentsOf: piece)
    }
    return content
  }
}
