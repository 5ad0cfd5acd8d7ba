/// The b-tree of a table, built from its leaves up; rows are added in the order of their IDs.
///
/// A row's record is written directly at its place on the leaf, as its size is computed first. A
/// leaf is written to the file when the next row does not fit on it, with its last ID as the key
/// after it.
final class TableTree {
  private let file: PageFile
  private let root: UInt32
  private let leaf = TreePage(.tableLeaf)
  private let branches: TreeBranches
  private var lastID: Int64 = 0

  /// Creates the tree of an empty table.
  init(_ file: PageFile, root: UInt32) {
    self.file = file
    self.root = root
    branches = TreeBranches(.tableBranch, file, root: root)
  }

  deinit { leaf.free() }

  /// Reserves space for a row after all others and returns where to write its record; nil if it
  /// does not fit on a page.
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

  /// Adds a row after all others whose record does not fit on a page.
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

  /// Writes the remaining pages, and the branches.
  func finish() throws {
    guard !branches.isEmpty else { return try file.overwrite(root, leaf.finished()) }
    try branches.finish(try file.append(leaf.finished()))
  }
}
