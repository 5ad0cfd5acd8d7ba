import SQLite

/// The value of a column in an SQLite record: after the column's affinity, text as its bytes.
enum StoredValue {
  case null
  case integer(Int64)
  case real(Double)
  /// The bytes must stay valid as long as the value is used.
  case text(UnsafeRawBufferPointer)

  /// SQLite's type number of the value in a record's header (fileformat2, "Record Format").
  @inline(__always)
  var type: UInt64 {
    switch self {
    case .null: return 0
    case .real: return 7
    case .text(let bytes): return UInt64(truncatingIfNeeded: bytes.count) &* 2 &+ 13
    case .integer(let value):
      if value == 0 || value == 1 { return value == 0 ? 8 : 9 }
      let size = Self.size(of: value)
      return UInt64(size < 6 ? size : size == 6 ? 5 : 6)
    }
  }

  /// The size of the value in a record's body.
  @inline(__always)
  var bodySize: Int {
    switch self {
    case .null: 0
    case .real: 8
    case .text(let bytes): bytes.count
    case .integer(let value): value == 0 || value == 1 ? 0 : Self.size(of: value)
    }
  }

  /// Writes the value in the form of a record's body; returns the number of bytes.
  @inline(__always)
  func writeBody(to place: UnsafeMutableRawPointer) -> Int {
    switch self {
    case .null: return 0
    case .real(let value):
      place.storeBytes(of: value.bitPattern.bigEndian, as: UInt64.self)
      return 8
    case .text(let bytes):
      place.copyMemory(from: bytes)
      return bytes.count
    case .integer(let value):
      if value == 0 || value == 1 { return 0 }
      let size = Self.size(of: value)
      Self.write(value, size, to: place)
      return size
    }
  }

  /// Writes the lowest bytes of an integer, big-endian.
  @inline(__always)
  static func write(_ value: Int64, _ size: Int, to place: UnsafeMutableRawPointer) {
    var rest = UInt64(bitPattern: value)
    var offset = size &- 1
    while offset >= 0 {
      place.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: offset, as: UInt8.self)
      rest >>= 8
      offset &-= 1
    }
  }

  /// The size of an integer in bytes: 1, 2, 3, 4, 6 or 8.
  @inline(__always)
  static func size(of value: Int64) -> Int {
    let bits = 65 &- (value < 0 ? ~value : value).leadingZeroBitCount
    return bits <= 32 ? (bits &+ 7) / 8 : bits <= 48 ? 6 : 8
  }
}

extension UnsafeMutableRawPointer {
  /// Copies all bytes.
  @inline(__always)
  func copyMemory(from bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    copyMemory(from: base, byteCount: bytes.count)
  }
}
