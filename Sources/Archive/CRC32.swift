/// The checksum of gzip (RFC 1952, section 8), eight bytes at a time.
struct CRC32 {
  private var state: UInt32 = .max

  /// Table k says what a byte does that k more bytes follow.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for byte in 0..<256 {
      tables[byte] = (0..<8).reduce(UInt32(byte)) { value, _ in
        value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1
      }
    }
    for at in 256..<tables.count {
      let before = tables[at - 256]
      tables[at] = before >> 8 ^ tables[Int(before & 0xFF)]
    }
    return tables
  }()

  /// Adds bytes.
  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    Self.tables.withUnsafeBufferPointer { table in
      var crc = state
      var at = 0
      while at + 8 <= bytes.count {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
        let mixed = word ^ UInt64(crc)
        crc =
          table[1792 + Int(mixed & 0xFF)] ^ table[1536 + Int(mixed >> 8 & 0xFF)]
          ^ table[1280 + Int(mixed >> 16 & 0xFF)] ^ table[1024 + Int(mixed >> 24 & 0xFF)]
          ^ table[768 + Int(mixed >> 32 & 0xFF)] ^ table[512 + Int(mixed >> 40 & 0xFF)]
          ^ table[256 + Int(mixed >> 48 & 0xFF)] ^ table[Int(mixed >> 56)]
        at += 8
      }
      while at < bytes.count {
        crc = crc >> 8 ^ table[Int((crc ^ UInt32(bytes[at])) & 0xFF)]
        at += 1
      }
      state = crc
    }
  }

  /// The checksum of all that was added.
  var value: UInt32 { ~state }
}
