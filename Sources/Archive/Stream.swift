import CArchive

/// A compressed stream without an archive around it: libarchive's raw format.
enum Stream {
  enum Filter: String {
    case gzip
    case zstd
  }

  /// Enables the raw format only.
  static func configure(_ handle: OpaquePointer) -> Bool {
    archive_write_set_format_raw(handle) == ARCHIVE_OK
      && archive_write_set_bytes_in_last_block(handle, 1) == ARCHIVE_OK
  }

  static func configure(_ handle: OpaquePointer, _ filter: Filter, level: Int?) -> Bool {
    guard configure(handle) else { return false }
    switch filter {
    case .gzip:
      guard archive_write_add_filter_gzip(handle) == ARCHIVE_OK,
        archive_write_set_filter_option(handle, "gzip", "timestamp", nil) == ARCHIVE_OK
      else { return false }
    case .zstd:
      guard archive_write_add_filter_zstd(handle) == ARCHIVE_OK else { return false }
    }
    guard let level else { return true }
    return archive_write_set_filter_option(
      handle, filter.rawValue, "compression-level", "\(level)") == ARCHIVE_OK
  }

  static func begin(_ handle: OpaquePointer, _ entry: OpaquePointer) -> Bool {
    archive_entry_set_pathname(entry, "stream")
    archive_entry_set_filetype(entry, attache_ae_ifreg())
    return archive_write_header(handle, entry) == ARCHIVE_OK
  }

  static func write(_ bytes: UnsafeRawBufferPointer, to handle: OpaquePointer?) -> Bool {
    var written = 0
    while written < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
      let count = archive_write_data(handle, rest.baseAddress, rest.count)
      if count <= 0 { return false }
      written += count
    }
    return true
  }

  /// Whether the input is compressed exactly once.
  ///
  /// libarchive would unwrap nested layers.
  static func isOne(_ handle: OpaquePointer) -> Bool { archive_filter_count(handle) == 2 }

  static func configure(reading handle: OpaquePointer, _ filter: Filter) -> Bool {
    let status =
      switch filter {
      case .gzip: archive_read_support_filter_gzip(handle)
      case .zstd: archive_read_support_filter_zstd(handle)
      }
    return status == ARCHIVE_OK && archive_read_support_format_raw(handle) == ARCHIVE_OK
      && archive_read_support_format_empty(handle) == ARCHIVE_OK
  }
}
