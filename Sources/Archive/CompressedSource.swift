import CArchive

/// The decompressed bytes of a file, with all checksums of the file verified.
///
/// libarchive does not verify gzip's CRC and length. It also stops before the Zstandard checksum if
/// the archive inside ends first. Therefore all compressed and decompressed bytes pass through this
/// class.
final class CompressedSource {
  private let path: String
  private let file: DiskFile
  private let handle: OpaquePointer
  private let filter: Stream.Filter
  private let buffer: UnsafeMutableRawBufferPointer
  private let compressed: UnsafeMutableRawBufferPointer
  /// The maximum number of decompressed bytes.
  var limit: Int64
  /// The error of a failed read.
  private(set) var failure: ArchiveError?
  private var count: Int64 = 0
  private var crc = CRC32()
  private var frames = ZstandardFrames()
  private var tail: [UInt8] = []
  private var isAtEnd = false

  /// Opens a file that is compressed once.
  ///
  /// Nested compression is rejected, as attache never writes it.
  init(path: String, _ filter: Stream.Filter, limit: Int64) throws(ArchiveError) {
    self.path = path
    self.filter = filter
    self.limit = limit
    file = try DiskFile(path)
    guard let handle = archive_read_new() else {
      throw ArchiveError(.file, path, "out of memory while reading it")
    }
    self.handle = handle
    buffer = .allocate(byteCount: 1 << 18, alignment: 64)
    compressed = .allocate(byteCount: 1 << 18, alignment: 64)
  }

  deinit {
    archive_read_free(handle)
    buffer.deallocate()
    compressed.deallocate()
  }

  /// Starts reading.
  ///
  /// Call it before any other method.
  func begin() throws(ArchiveError) {
    var entry: OpaquePointer?
    guard Stream.configure(reading: handle, filter),
      archive_read_open2(
        handle, Unmanaged.passUnretained(self).toOpaque(), nil, readCompressed, nil, nil)
        == ARCHIVE_OK
    else { throw damage("it cannot be read") }
    guard Stream.isOne(handle) else {
      throw ArchiveError(.damaged, path, "it is compressed more than once")
    }
    let status = archive_read_next_header(handle, &entry)
    guard status == ARCHIVE_OK || status == ARCHIVE_EOF else { throw damage("it cannot be read") }
    isAtEnd = status == ARCHIVE_EOF
  }

  private func damage(_ what: String) -> ArchiveError {
    failure ?? .last(.damaged, path, what, handle)
  }

  /// The next decompressed bytes; empty at the end, nil after a failure.
  func next() -> UnsafeRawBufferPointer? {
    if failure != nil { return nil }
    if isAtEnd { return UnsafeRawBufferPointer(start: nil, count: 0) }
    let got = archive_read_data(handle, buffer.baseAddress, buffer.count)
    guard got >= 0 else {
      failure = damage("its end cannot be read")
      return nil
    }
    isAtEnd = got == 0
    count += Int64(got)
    guard count <= limit else {
      failure = ArchiveError(
        .tooLarge, path, "it unpacks to more than an archive of its size may contain")
      return nil
    }
    let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<got])
    if filter == .gzip { crc.update(bytes) }
    return bytes
  }

  /// Reads the remaining bytes and verifies the checksums.
  ///
  /// Returns whether a checksum covers every byte.
  func finish() throws(ArchiveError) -> Bool {
    while let bytes = next(), !bytes.isEmpty {}
    while failure == nil, readFile() > 0 {}
    if let failure { throw failure }
    switch filter {
    case .gzip:
      let stored = tail.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let found = UInt64(crc.value) | UInt64(UInt32(truncatingIfNeeded: count)) << 32
      guard tail.count == 8, stored == found else {
        throw ArchiveError(
          .damaged, path, "its checksum does not match, or data follows its end")
      }
      return true
    case .zstd:
      guard frames.isWhole else { throw ArchiveError(.damaged, path, "data follows its end") }
      return frames.areChecked
    }
  }

  /// Reads a block of the file; returns 0 at its end, -1 after a failure.
  fileprivate func readFile() -> Int {
    do throws(ArchiveError) {
      let got = try file.read(into: compressed)
      let bytes = UnsafeRawBufferPointer(rebasing: compressed[..<got])
      if filter == .zstd { frames.take(bytes) }
      if got > 0 { tail = Array((tail + bytes.suffix(8)).suffix(8)) }
      return got
    } catch {
      failure = error
      return -1
    }
  }

  fileprivate var piece: UnsafeMutableRawPointer? { compressed.baseAddress }

  /// Opens `reader` on the decompressed bytes.
  func open(_ reader: OpaquePointer) -> Bool {
    archive_read_open2(
      reader, Unmanaged.passUnretained(self).toOpaque(), nil, readDecompressed, nil, nil)
      == ARCHIVE_OK
  }
}

// C callbacks at file scope, so that they are not isolated to an actor.
private func readCompressed(
  _ archive: OpaquePointer?, _ context: UnsafeMutableRawPointer?,
  _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> Int {
  guard let context, let bytes else { return -1 }
  let source = Unmanaged<CompressedSource>.fromOpaque(context).takeUnretainedValue()
  bytes.pointee = UnsafeRawPointer(source.piece)
  return source.readFile()
}

private func readDecompressed(
  _ archive: OpaquePointer?, _ context: UnsafeMutableRawPointer?,
  _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> Int {
  guard let context, let bytes else { return -1 }
  let source = Unmanaged<CompressedSource>.fromOpaque(context).takeUnretainedValue()
  guard let piece = source.next() else { return Int(ARCHIVE_FATAL) }
  bytes.pointee = piece.baseAddress
  return piece.count
}
