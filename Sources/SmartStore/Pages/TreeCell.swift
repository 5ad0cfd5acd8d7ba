/// The cell of a leaf: how long its payload is, the row's id in a table, the payload as far as it stays on the
/// page, and the first of the pages that hold the rest.
struct TreeCell {
  private(set) var bytes: [UInt8] = []

  /// The longest payload that stays on the page as a whole.
  static func most(isIndex: Bool) -> Int {
    isIndex ? (TreePage.usable - 12) * 64 / 255 - 23 : TreePage.usable - 35
  }

  /// How much of a payload stays on the page (fileformat2, "B-tree Pages").
  private static func local(_ count: Int, isIndex: Bool) -> Int {
    let usable = TreePage.usable
    let most = most(isIndex: isIndex)
    guard count > most else { return count }
    let least = (usable - 12) * 32 / 255 - 23
    let wanted = least + (count - least) % (usable - 4)
    return wanted <= most ? wanted : least
  }

  /// Makes the cell; a payload that is too long goes on, on pages of its own.
  mutating func make(_ payload: [UInt8], rowID: Int64?, _ file: PageFile) throws {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(varint: UInt64(payload.count))
    if let rowID { bytes.append(varint: UInt64(bitPattern: rowID)) }
    let local = Self.local(payload.count, isIndex: rowID == nil)
    if local == payload.count {
      bytes.append(contentsOf: payload)
      return
    }
    bytes.append(contentsOf: payload[..<local])
    let first = try payload.withUnsafeBytes {
      try Self.spill(UnsafeRawBufferPointer(rebasing: $0[local...]), file)
    }
    withUnsafeBytes(of: first.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// Writes the rest of a payload: the number of its first page.
  private static func spill(_ rest: UnsafeRawBufferPointer, _ file: PageFile) throws -> UInt32 {
    let room = TreePage.usable - 4
    var first: UInt32 = 0
    var start = 0
    while start < rest.count {
      let part = UnsafeRawBufferPointer(rebasing: rest[start..<min(start + room, rest.count)])
      let isLast = start + room >= rest.count
      let number = try file.append { page, number in
        let next = isLast ? 0 : file.number(after: number)
        page.storeBytes(of: next.bigEndian, as: UInt32.self)
        (page + 4).copyMemory(from: part)
      }
      if start == 0 { first = number }
      start += part.count
    }
    return first
  }
}

extension [UInt8] {
  /// Appends an integer as SQLite writes those of variable length.
  @inline(__always)
  mutating func append(varint value: UInt64) {
    if value < 0x80 {
      append(UInt8(truncatingIfNeeded: value))
    } else if value < 0x4000 {
      append(UInt8(truncatingIfNeeded: value >> 7) | 0x80)
      append(UInt8(truncatingIfNeeded: value) & 0x7f)
    } else {
      appendLong(varint: value)
    }
  }

  private mutating func appendLong(varint value: UInt64) {
    if value >> 56 != 0 {
      // Nine bytes: the last has eight bits.
      for shift in stride(from: 57, through: 8, by: -7) {
        append(UInt8(truncatingIfNeeded: value >> UInt64(shift)) | 0x80)
      }
      append(UInt8(truncatingIfNeeded: value))
      return
    }
    var shift = (63 - value.leadingZeroBitCount) / 7 * 7
    while shift > 0 {
      append(UInt8(truncatingIfNeeded: value >> UInt64(shift)) | 0x80)
      shift -= 7
    }
    append(UInt8(truncatingIfNeeded: value) & 0x7f)
  }
}
