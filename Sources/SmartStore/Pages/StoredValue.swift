import SQLite

/// A value of a column as a record of SQLite's holds it: after the column's affinity, text by its bytes.
enum StoredValue {
  case null
  case integer(Int64)
  case real(Double)
  /// The bytes stay where they are as long as the value is used.
  case text(UnsafeRawBufferPointer)

  /// SQLite's type number of the value in a record's head (fileformat2, "Record Format").
  @inline(__always)
  func appendType(to head: inout [UInt8]) {
    switch self {
    case .null: head.append(0)
    case .real: head.append(7)
    case .text(let bytes): head.append(varint: UInt64(bytes.count * 2 + 13))
    case .integer(let value):
      switch value {
      case 0: head.append(8)
      case 1: head.append(9)
      default:
        let size = Self.size(of: value)
        head.append(UInt8(size < 6 ? size : size == 6 ? 5 : 6))
      }
    }
  }

  /// The value in a record's body.
  @inline(__always)
  func appendBody(to body: inout [UInt8]) {
    switch self {
    case .null: return
    case .real(let value): body.append(bigEndian: value.bitPattern, bytes: 8)
    case .text(let bytes): body.append(contentsOf: bytes)
    case .integer(let value):
      guard value != 0, value != 1 else { return }
      body.append(bigEndian: UInt64(bitPattern: value), bytes: Self.size(of: value))
    }
  }

  /// Bytes of an integer: 1, 2, 3, 4, 6 or 8.
  @inline(__always)
  private static func size(of value: Int64) -> Int {
    let bits = 65 - (value < 0 ? ~value : value).leadingZeroBitCount
    return bits <= 32 ? (bits + 7) / 8 : bits <= 48 ? 6 : 8
  }
}

extension [UInt8] {
  @inline(__always)
  fileprivate mutating func append(bigEndian value: UInt64, bytes: Int) {
    var shift = UInt64(bytes * 8)
    while shift > 0 {
      shift -= 8
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }
}
