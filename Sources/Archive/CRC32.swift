import CArchive

/// The checksum of gzip (RFC 1952, section 8), computed by zlib.
package struct CRC32 {
  private var state: UInt = 0

  package init() {}

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    state = attache_crc32(state, bytes.baseAddress, UInt(bytes.count))
  }

  /// The checksum of all added bytes.
  package var value: UInt32 { UInt32(truncatingIfNeeded: state) }
}
