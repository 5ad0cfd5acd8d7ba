/// Integers of variable length in SQLite's format (fileformat2, "Varint"): seven bits per byte,
/// big-endian; the ninth byte has eight bits.
package enum Varint {
  /// The number of bytes of the integer.
  @inline(__always)
  package static func size(_ value: UInt64) -> Int {
    if value < 0x80 { return 1 }
    if value < 0x4000 { return 2 }
    return value >> 56 != 0 ? 9 : (70 &- value.leadingZeroBitCount) / 7
  }

  /// Writes the integer; returns the number of bytes.
  @inline(__always)
  package static func write(_ value: UInt64, to place: UnsafeMutableRawPointer) -> Int {
    if value < 0x80 {
      place.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
      return 1
    }
    if value < 0x4000 {
      place.storeBytes(of: UInt8(truncatingIfNeeded: value >> 7) | 0x80, as: UInt8.self)
      place.storeBytes(
        of: UInt8(truncatingIfNeeded: value) & 0x7f, toByteOffset: 1, as: UInt8.self)
      return 2
    }
    return writeLong(value, to: place)
  }

  private static func writeLong(_ value: UInt64, to place: UnsafeMutableRawPointer) -> Int {
    let size = size(value)
    var rest = value
    var offset = size - 1
    if size == 9 {
      place.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: 8, as: UInt8.self)
      rest >>= 8
      offset = 7
    }
    let end = offset
    while offset >= 0 {
      let more: UInt8 = offset == end && size < 9 ? 0 : 0x80
      place.storeBytes(
        of: UInt8(truncatingIfNeeded: rest) & 0x7f | more, toByteOffset: offset, as: UInt8.self)
      rest >>= 7
      offset -= 1
    }
    return size
  }
}
