/// The b-tree of an index, laid down from its leaves up: keys come in their order.
///
/// What parts two leaves is a key itself, and stands in the branch alone.
final class IndexTree {
  private let file: PageFile
  private let root: UInt32
  private var leaf = TreePage(.indexLeaf)
  /// The leaf before, and the key between the two: the last leaf may have to take from it.
  private var before = TreePage(.indexLeaf)
  private var between: [UInt8] = []
  private var hasBefore = false
  private var layer = TreeLayer()
  private var cell = TreeCell()
  private var record: [UInt8] = []

  /// The tree of an index that is empty.
  init(_ file: PageFile, root: UInt32) {
    self.file = file
    self.root = root
  }

  /// Adds a key behind all others.
  func add(_ value: StoredValue, of id: Int64) throws {
    record.removeAll(keepingCapacity: true)
    record.append(0)
    value.appendType(to: &record)
    StoredValue.integer(id).appendType(to: &record)
    record[0] = UInt8(record.count)
    value.appendBody(to: &record)
    StoredValue.integer(id).appendBody(to: &record)
    try cell.make(record, rowID: nil, file)
    if leaf.fits(cell.bytes.count) {
      cell.bytes.withUnsafeBytes { leaf.add($0) }
    } else {
      try layBefore()
      swap(&leaf, &before)
      leaf.clear()
      between = cell.bytes
      hasBefore = true
    }
  }

  private func layBefore() throws {
    guard hasBefore else { return }
    let page = before.finished()
    layer.add(try file.append { bytes, _ in bytes.copyMemory(from: page) }, between)
  }

  /// Lays down what is left, and the branches.
  func finish() throws {
    guard hasBefore else { return try file.overwrite(root, leaf.finished()) }
    if leaf.count == 0 {
      // A page must have a cell: the key between goes into it, the one before it between them.
      between.withUnsafeBytes { leaf.add($0) }
      between = before.removeLast()
    }
    try layBefore()
    let page = leaf.finished()
    layer.add(try file.append { bytes, _ in bytes.copyMemory(from: page) }, [])
    try layer.finish(.indexBranch, file, root: root)
  }
}
