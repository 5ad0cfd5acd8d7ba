/// The b-tree of a table, laid down from its leaves up: rows come in the order of their ids.
final class TableTree {
  private let file: PageFile
  private let root: UInt32
  private var leaf = TreePage(.tableLeaf)
  private var layer = TreeLayer()
  private var cell = TreeCell()
  private var head: [UInt8] = []
  private var lastID: Int64 = 0

  /// The tree of a table that is empty.
  init(_ file: PageFile, root: UInt32) {
    self.file = file
    self.root = root
  }

  /// Adds a row behind all others, given as SQLite's record.
  func add(_ id: Int64, _ record: [UInt8]) throws {
    if record.count <= TreeCell.most(isIndex: false) {
      head.removeAll(keepingCapacity: true)
      head.append(varint: UInt64(record.count))
      head.append(varint: UInt64(bitPattern: id))
      let size = head.count + record.count
      if !leaf.fits(size) { try endLeaf() }
      let cell = leaf.add(size)
      head.withUnsafeBytes { cell.copyMemory(from: $0) }
      record.withUnsafeBytes { (cell + head.count).copyMemory(from: $0) }
    } else {
      try cell.make(record, rowID: id, file)
      if !leaf.fits(cell.bytes.count) { try endLeaf() }
      cell.bytes.withUnsafeBytes { leaf.add($0) }
    }
    lastID = id
  }

  private func endLeaf() throws {
    let page = leaf.finished()
    var key: [UInt8] = []
    key.append(varint: UInt64(bitPattern: lastID))
    layer.add(try file.append { bytes, _ in bytes.copyMemory(from: page) }, key)
    leaf.clear()
  }

  /// Lays down what is left, and the branches.
  func finish() throws {
    guard !layer.isEmpty else { return try file.overwrite(root, leaf.finished()) }
    try endLeaf()
    try layer.finish(.tableBranch, file, root: root)
  }
}
