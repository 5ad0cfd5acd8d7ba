/// A page of a b-tree that is being filled: cells grow from its end, their places from its head.
struct TreePage: ~Copyable {
  /// What a page of a tree is, as its first byte says.
  enum Kind: UInt8 {
    case indexBranch = 2
    case tableBranch = 5
    case indexLeaf = 10
    case tableLeaf = 13

    var isLeaf: Bool { self == .indexLeaf || self == .tableLeaf }
    var isIndex: Bool { self == .indexLeaf || self == .indexBranch }
    var header: Int { isLeaf ? 8 : 12 }
    /// The kind of the pages above.
    var above: Kind { isIndex ? .indexBranch : .tableBranch }
  }

  /// Bytes of a page that a tree may use.
  static let usable = SQLCipherPages.usable
  /// SQLite gives no cell less: what it frees must hold a free block.
  private static let leastCell = 4

  let kind: Kind
  private let bytes: UnsafeMutableRawPointer
  private(set) var count = 0
  private var content = usable

  init(_ kind: Kind) {
    self.kind = kind
    bytes = .allocate(byteCount: PageFile.size, alignment: 16)
    clear()
  }

  deinit { bytes.deallocate() }

  /// Forgets the cells.
  mutating func clear() {
    bytes.initializeMemory(as: UInt8.self, repeating: 0, count: PageFile.size)
    count = 0
    content = Self.usable
  }

  /// Whether a cell of so many bytes has room.
  func fits(_ size: Int) -> Bool {
    kind.header + 2 * (count + 1) + max(size, Self.leastCell) <= content
  }

  /// Takes room for a cell that fits: where it is written.
  mutating func add(_ size: Int) -> UnsafeMutableRawPointer {
    content -= max(size, Self.leastCell)
    bytes.storeBytes(
      of: UInt16(content).bigEndian, toByteOffset: kind.header + 2 * count, as: UInt16.self)
    count += 1
    return bytes + content
  }

  /// Adds a cell that fits.
  mutating func add(_ cell: UnsafeRawBufferPointer) {
    add(cell.count).copyMemory(from: cell)
  }

  /// Takes the last cell back.
  mutating func removeLast() -> [UInt8] {
    let place = kind.header + 2 * (count - 1)
    let end =
      count == 1
      ? Self.usable
      : Int(UInt16(bigEndian: bytes.load(fromByteOffset: place - 2, as: UInt16.self)))
    let cell = UnsafeMutableRawBufferPointer(start: bytes + content, count: end - content)
    let taken = Array(cell)
    cell.initializeMemory(as: UInt8.self, repeating: 0)
    bytes.storeBytes(of: 0, toByteOffset: place, as: UInt16.self)
    content = end
    count -= 1
    return taken
  }

  /// The whole page, with its head; `last` is what stands right of all cells of a branch.
  func finished(last: UInt32 = 0) -> UnsafeRawBufferPointer {
    bytes.storeBytes(of: kind.rawValue, as: UInt8.self)
    bytes.storeBytes(of: UInt16(count).bigEndian, toByteOffset: 3, as: UInt16.self)
    bytes.storeBytes(of: UInt16(content).bigEndian, toByteOffset: 5, as: UInt16.self)
    if !kind.isLeaf { bytes.storeBytes(of: last.bigEndian, toByteOffset: 8, as: UInt32.self) }
    return UnsafeRawBufferPointer(start: bytes, count: PageFile.size)
  }
}
