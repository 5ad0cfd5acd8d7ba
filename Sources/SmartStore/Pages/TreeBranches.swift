/// The branches of a b-tree, laid down while its leaves are.
///
/// Of each level one page is being filled, and the one before it is held back: memory is a few pages, whatever the
/// number and the length of the keys.
///
/// - A level takes the number of a page below, and the key behind that page. A key that has no room on the page ends
///   it: the page below stands right of all its cells, and the key goes up, behind the page itself.
/// - The page that was ended is held back until the next one has a cell. If no cell comes, because the page below that
///   begins the next one is the last of all, the next one takes the last page and key of the one held back: SQLite
///   knows no branch without a cell.
/// - At the end each level gives its last page to the level above, as the last of all there. The level that held
///   nothing back is the root, whose number was known from the start.
final class TreeBranches {
  private struct Level {
    /// The page that is being filled, and the one that is held back.
    var page: TreePage
    var held: TreePage
    /// What stands right of the cells of the page that is held back, and the key behind it.
    var heldLast: UInt32 = 0
    var heldKey: [UInt8] = []
    var isHolding = false
    /// Whether a page was laid down: then there is a level above.
    var isLaid = false
  }

  private let kind: TreePage.Kind
  private let file: PageFile
  private let root: UInt32
  private var levels: [Level] = []

  /// The branches above leaves, of a tree whose root is at a page.
  init(_ kind: TreePage.Kind, _ file: PageFile, root: UInt32) {
    self.kind = kind
    self.file = file
    self.root = root
  }

  deinit {
    for level in levels {
      level.page.free()
      level.held.free()
    }
  }

  /// Whether no page is below.
  var isEmpty: Bool { levels.isEmpty }

  /// Adds a leaf, and the key behind it as the cell of a branch without the leaf's number.
  func add(_ leaf: UInt32, _ key: UnsafeRawBufferPointer) throws {
    try add(leaf, key, to: 0)
  }

  private func add(_ child: UInt32, _ key: UnsafeRawBufferPointer, to place: Int) throws {
    if place == levels.count {
      levels.append(Level(page: TreePage(kind), held: TreePage(kind)))
    }
    let page = levels[place].page
    if page.fits(4 + key.count) {
      let cell = page.add(4 + key.count)
      cell.storeBytes(of: child.bigEndian, as: UInt32.self)
      (cell + 4).copyMemory(from: key)
      return
    }
    try layHeld(place)
    levels[place].page = levels[place].held
    levels[place].held = page
    levels[place].heldLast = child
    levels[place].heldKey = Array(key)
    levels[place].isHolding = true
    levels[place].page.clear()
  }

  private func layHeld(_ place: Int) throws {
    guard levels[place].isHolding else { return }
    let number = try file.append(levels[place].held.finished(last: levels[place].heldLast))
    levels[place].isHolding = false
    levels[place].isLaid = true
    let key = levels[place].heldKey
    try key.withUnsafeBytes { try add(number, $0, to: place + 1) }
  }

  /// Adds the last leaf, and lays down what is left.
  func finish(_ leaf: UInt32) throws {
    var last = leaf
    var place = 0
    while true {
      if levels[place].page.count == 0 { takeFromHeld(place, last) }
      try layHeld(place)
      let page = levels[place].page.finished(last: last)
      guard levels[place].isLaid else { return try file.overwrite(root, page) }
      last = try file.append(page)
      place += 1
    }
  }

  /// A page that has no cell takes the last page and key of the one before.
  private func takeFromHeld(_ place: Int, _ last: UInt32) {
    let cell = levels[place].held.removeLast()
    let key = levels[place].heldKey
    let moved = levels[place].page.add(4 + key.count)
    moved.storeBytes(of: levels[place].heldLast.bigEndian, as: UInt32.self)
    key.withUnsafeBytes { (moved + 4).copyMemory(from: $0) }
    let child = cell.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
    levels[place].heldLast = UInt32(bigEndian: child)
    levels[place].heldKey = Array(cell[4...])
  }
}
