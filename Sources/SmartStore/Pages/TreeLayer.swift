/// The pages of one level of a b-tree, and what parts each from the next.
struct TreeLayer {
  private var pages: [UInt32] = []
  /// The keys between the pages, each as the cell of a branch without the page's number.
  private var keys: [UInt8] = []
  private var ends: [UInt32] = []

  /// Whether nothing was laid down yet.
  var isEmpty: Bool { pages.isEmpty }

  /// Adds a page and the key behind it.
  mutating func add(_ page: UInt32, _ key: some Collection<UInt8>) {
    pages.append(page)
    keys.append(contentsOf: key)
    ends.append(UInt32(keys.count))
  }

  private func key(_ index: Int) -> ArraySlice<UInt8> {
    keys[(index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])]
  }

  /// Lays branches over the pages until one page holds all: that is the root, whose number is known.
  func finish(_ kind: TreePage.Kind, _ file: PageFile, root: UInt32) throws {
    var layer = self
    while try !layer.lay(kind, file, root) {}
  }

  /// Lays the level above, which becomes this one; true when it was the root.
  private mutating func lay(
    _ kind: TreePage.Kind, _ file: PageFile, _ root: UInt32
  ) throws -> Bool {
    var above = TreeLayer()
    var page = TreePage(kind)
    var first = 0
    while first < pages.count {
      page.clear()
      var last = first
      while last + 1 < pages.count, page.fits(4 + key(last).count) {
        add(last, to: &page)
        last += 1
      }
      // A branch must have a cell: of two pages that are left the next takes both.
      if last == pages.count - 2 {
        _ = page.removeLast()
        last -= 1
      }
      let bytes = page.finished(last: pages[last])
      if first == 0, last == pages.count - 1 {
        try file.overwrite(root, bytes)
        return true
      }
      above.add(try file.append { page, _ in page.copyMemory(from: bytes) }, key(last))
      first = last + 1
    }
    self = above
    return false
  }

  private func add(_ index: Int, to page: inout TreePage) {
    let key = key(index)
    let cell = page.add(4 + key.count)
    cell.storeBytes(of: pages[index].bigEndian, as: UInt32.self)
    key.withUnsafeBytes { (cell + 4).copyMemory(from: $0) }
  }
}

extension UnsafeMutableRawPointer {
  /// Takes all the bytes over.
  func copyMemory(from bytes: UnsafeRawBufferPointer) {
    UnsafeMutableRawBufferPointer(start: self, count: bytes.count).copyMemory(from: bytes)
  }
}
