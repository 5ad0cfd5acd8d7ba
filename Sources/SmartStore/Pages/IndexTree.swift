/// The b-tree of an index, built from its leaves up; keys are added in order.
///
/// The key that separates two leaves is stored only in the branch. A leaf is held back until the
/// next one has a key: if the separating key is the last of all, it is moved to the next leaf, and
/// the key before it separates them.
///
/// Keys with the same value differ only in the row's ID. Their page is written once; for the next
/// pages only the IDs on it change, as long as they have the same number of bytes.
final class IndexTree {
  private let file: PageFile
  private let root: UInt32
  private let branches: TreeBranches
  private var leaf = TreePage(.indexLeaf)
  /// The previous leaf, and the key between the two: the last leaf may need a key from it.
  private var before = TreePage(.indexLeaf)
  private var between: [UInt8] = []
  private var hasBefore = false

  /// Creates the tree of an empty index.
  init(_ file: PageFile, root: UInt32) {
    self.file = file
    self.root = root
    branches = TreeBranches(.indexBranch, file, root: root)
  }

  deinit {
    leaf.free()
    before.free()
  }

  /// Adds a key after all others.
  @inline(__always)
  func add(_ value: StoredValue, of id: Int64) throws {
    let key = Key(value, id)
    guard key.payload <= TreeCell.mostOfIndex else { return try addLong(key) }
    let size = Varint.size(UInt64(key.payload)) + key.payload
    guard leaf.fits(size) else {
      var cell = [UInt8](repeating: 0, count: size)
      cell.withUnsafeMutableBytes { key.writeCell(to: $0.baseAddress) }
      return try part(by: cell)
    }
    key.writeCell(to: leaf.add(size))
  }

  private func addLong(_ key: Key) throws {
    var payload = [UInt8](repeating: 0, count: key.payload)
    payload.withUnsafeMutableBytes { key.writePayload(to: $0.baseAddress) }
    let cell = try payload.withUnsafeBytes { try TreeCell.make($0, rowID: nil, file) }
    guard leaf.fits(cell.count) else { return try part(by: cell) }
    cell.withUnsafeBytes { leaf.add($0) }
  }

  /// Ends the leaf: the key separates it from the next.
  private func part(by cell: [UInt8]) throws {
    try layBefore()
    swap(&leaf, &before)
    leaf.clear()
    between = cell
    hasBefore = true
  }

  private func layBefore() throws {
    guard hasBefore else { return }
    hasBefore = false
    let number = try file.append(before.finished())
    try between.withUnsafeBytes { try branches.add(number, $0) }
  }

  /// Writes the remaining pages, and the branches.
  func finish() throws {
    if hasBefore, leaf.count == 0 {
      // A page must have a cell: the separating key is moved to it, and the key before that one
      // separates them.
      between.withUnsafeBytes { leaf.add($0) }
      between = before.removeLast()
    }
    try layBefore()
    guard !branches.isEmpty else { return try file.overwrite(root, leaf.finished()) }
    try branches.finish(try file.append(leaf.finished()))
  }

  /// Adds one value with all IDs of a range, after all other keys.
  func add(_ value: StoredValue, of ids: Range<Int64>) throws {
    var id = ids.lowerBound
    while id < ids.upperBound {
      let size = StoredValue.integer(id).bodySize
      // The following IDs with the same number of bytes.
      let end =
        size == 0
        ? id + 1 : size == 8 ? ids.upperBound : min(ids.upperBound, 1 << Int64(size * 8 - 1))
      if size > 0, leaf.count == 0, end - id >= Self.many {
        // More keys follow, so the next page is not empty.
        try layBefore()
        id = try addPages(value, id..<end, idSize: size)
      }
      // Keys that do not fill a page are added one by one.
      repeat {
        try add(value, of: id)
        id += 1
      } while id < end && (leaf.count > 0 || end - id < Self.many)
    }
  }

  /// More keys than two pages hold.
  private static let many: Int64 = 4096

  /// Writes whole pages of one value; returns the ID of the first key that is on none of them.
  private func addPages(_ value: StoredValue, _ ids: Range<Int64>, idSize: Int) throws -> Int64 {
    let key = Key(value, ids.lowerBound)
    let size = Varint.size(UInt64(key.payload)) + key.payload
    // A cell and its pointer.
    let most = Int64((TreePage.usable - TreePage.Kind.indexLeaf.header) / (size + 2))
    guard key.payload <= TreeCell.mostOfIndex else { return ids.lowerBound }
    let page = TreePage(.indexLeaf)
    defer { page.free() }
    var places: [UnsafeMutableRawPointer] = []
    for offset in 0..<most {
      let cell = page.add(size)
      Key(value, ids.lowerBound + offset).writeCell(to: cell)
      places.append(cell + (size - idSize))
    }
    var cell = [UInt8](repeating: 0, count: size)
    var id = ids.lowerBound
    // At least one key is left for the next leaf.
    while ids.upperBound - id > most + 1 {
      for place in places {
        StoredValue.write(id, idSize, to: place)
        id += 1
      }
      let number = try file.append(page.finished())
      cell.withUnsafeMutableBytes { Key(value, id).writeCell(to: $0.baseAddress) }
      try cell.withUnsafeBytes { try branches.add(number, $0) }
      id += 1
    }
    return id
  }

  /// A key as an SQLite record of a value and a row's ID.
  private struct Key {
    let value: StoredValue
    let id: StoredValue
    let type: UInt64
    let head: Int
    let payload: Int

    @inline(__always)
    init(_ value: StoredValue, _ id: Int64) {
      self.value = value
      self.id = .integer(id)
      type = value.type
      // The length of the header and the two types: less than 128 bytes.
      head = 2 &+ Varint.size(type)
      payload = head &+ value.bodySize &+ self.id.bodySize
    }

    @inline(__always)
    func writeCell(to place: UnsafeMutableRawPointer?) {
      guard let place else { return }
      writePayload(to: place + Varint.write(UInt64(payload), to: place))
    }

    @inline(__always)
    func writePayload(to place: UnsafeMutableRawPointer?) {
      guard var place else { return }
      place.storeBytes(of: UInt8(truncatingIfNeeded: head), as: UInt8.self)
      place += 1
      place += Varint.write(type, to: place)
      place.storeBytes(of: UInt8(truncatingIfNeeded: id.type), as: UInt8.self)
      place += 1
      place += value.writeBody(to: place)
      _ = id.writeBody(to: place)
    }
  }
}
