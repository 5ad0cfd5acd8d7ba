/// The b-tree of a table, laid down from its leaves up: rows come in the order of their ids.
///
/// A row's record is written where it stays, on the leaf: its size is known before it is made. A leaf is laid down when
/// the next row has no room on it, with its last id as the key behind it.
final class TableTree {
  private let file: PageFile
  private let root: UInt32
  private let leaf = TreePage(.tableLeaf)
  private let branches: TreeBranches
  private var lastID: Int64 = 0

  /// The tree of a table that is empty.
  init(_ file: PageFile, root: UInt32) {
    self.file = file
    self.root = root
    branches = TreeBranches(.tableBranch, file, root: root)
  }

  deinit { leaf.free() }

  /// Takes room for a row behind all others: where its record is written; nil where it is too long for a page.
  @inline(__always)
  func add(_ id: Int64, recordOf count: Int) throws -> UnsafeMutableRawPointer? {
    guard count <= TreeCell.mostOfTable else { return nil }
    let size = Varint.size(UInt64(count)) + Varint.size(UInt64(bitPattern: id)) + count
    if !leaf.fits(size) { try endLeaf() }
    lastID = id
    var place = leaf.add(size)
    place += Varint.write(UInt64(count), to: place)
    place += Varint.write(UInt64(bitPattern: id), to: place)
    return place
  }

  /// Adds a row behind all others whose record is too long for a page.
  func add(_ id: Int64, long record: UnsafeRawBufferPointer) throws {
    let cell = try TreeCell.make(record, rowID: id, file)
    if !leaf.fits(cell.count) { try endLeaf() }
    cell.withUnsafeBytes { leaf.add($0) }
    lastID = id
  }

  private func endLeaf() throws {
    let number = try file.append(leaf.finished())
    leaf.clear()
    try withUnsafeTemporaryAllocation(byteCount: 9, alignment: 8) { key in
      guard let start = key.baseAddress else { return }
      let size = Varint.write(UInt64(bitPattern: lastID), to: start)
      try branches.add(number, UnsafeRawBufferPointer(start: start, count: size))
    }
  }

  /// Lays down what is left, and the branches.
  func finish() throws {
    guard !branches.isEmpty else { return try file.overwrite(root, leaf.finished()) }
    try branches.finish(try file.append(leaf.finished()))
  }
}
