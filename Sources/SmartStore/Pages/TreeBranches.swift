/// The branches of a b-tree, built while its leaves are.
///
/// For each level, one page is being filled and the previous one is held back. So memory is limited
/// to a few pages, regardless of the number and the length of the keys.
///
/// - A level receives the number of a page below, and the key after that page. A key that does not
///   fit ends the page: the page below becomes its rightmost child, and the key moves up, after the
///   page itself.
/// - A page that has ended is held back until the next one has a cell. If the next one gets no
///   cell, because the page below that starts it is the last of all, it takes the last child and
///   key of the page held back: SQLite does not allow a branch without a cell.
/// - At the end, each level passes its last page to the level above, as its last child. The level
///   that held nothing back is the root, whose number was known from the start.
final class TreeBranches {
  private struct Level {
    /// The page that is being filled, and the one that is held back.
    var page: TreePage
    var held: TreePage
    /// The rightmost child of the page held back, and the key after it.
    var heldLast: UInt32 = 0
    var heldKey: [UInt8] = []
    var isHolding = false
    /// Whether a page was written: then there is a level above.
    var isLaid = false
  }

  private let kind: TreePage.Kind
  private let file: PageFile
  private let root: UInt32
  private var levels: [Level] = []

  /// Creates the branches above the leaves of a tree with a given root page.
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

  /// Whether there is no page below.
  var isEmpty: Bool { levels.isEmpty }

  /// Adds a leaf, with the key after it as the cell of a branch without the leaf's number.
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

  /// Adds the last leaf, and writes the remaining pages.
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

  /// Gives a page without cells the last child and key of the previous one.
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
