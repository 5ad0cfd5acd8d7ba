/// The cell of a leaf whose payload may be too long for its page: its length, the row's ID in a
/// table, the part that stays on the page, and the first overflow page.
enum TreeCell {
  /// The longest payload that stays on the page completely.
  static let mostOfIndex = most(isTable: false, TreePage.usable)
  static let mostOfTable = most(isTable: true, TreePage.usable)

  private static func most(isTable: Bool, _ usable: Int) -> Int {
    isTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
  }

  /// The size of the part of a payload that stays on the page (fileformat2, "B-tree Pages").
  static func local(_ count: Int, isTable: Bool, usable: Int = TreePage.usable) -> Int {
    let most = most(isTable: isTable, usable)
    guard count > most else { return count }
    let least = (usable - 12) * 32 / 255 - 23
    let wanted = least + (count - least) % (usable - 4)
    return wanted <= most ? wanted : least
  }

  /// Creates the cell; a payload that is too long continues on overflow pages.
  static func make(
    _ payload: UnsafeRawBufferPointer, rowID: Int64?, _ file: PageFile
  ) throws -> [UInt8] {
    let local = local(payload.count, isTable: rowID != nil)
    var bytes = [UInt8](repeating: 0, count: 18 + local + 4)
    let used = try bytes.withUnsafeMutableBytes { cell -> Int in
      guard let start = cell.baseAddress else { return 0 }
      var place = start
      place += Varint.write(UInt64(payload.count), to: place)
      if let rowID { place += Varint.write(UInt64(bitPattern: rowID), to: place) }
      place.copyMemory(from: UnsafeRawBufferPointer(rebasing: payload[..<local]))
      place += local
      if local < payload.count {
        let first = try spill(UnsafeRawBufferPointer(rebasing: payload[local...]), file)
        place.storeBytes(of: first.bigEndian, as: UInt32.self)
        place += 4
      }
      return place - start
    }
    bytes.removeLast(bytes.count - used)
    return bytes
  }

  /// Writes the rest of a payload; returns the number of its first page.
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
