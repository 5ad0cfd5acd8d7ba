/// A page of a b-tree that is being filled: cells are added from its end, their pointers from its
/// header.
///
/// It is a handle on memory that its owner frees, so that two pages can be swapped without a copy.
/// When the page is finished, the bytes between the pointers and the cells are zeroed.
package struct TreePage {
  /// The type of a page, in its first byte.
  package enum Kind: UInt8 {
    case indexBranch = 2
    case tableBranch = 5
    case indexLeaf = 10
    case tableLeaf = 13

    var isLeaf: Bool { self == .indexLeaf || self == .tableLeaf }
    var header: Int { isLeaf ? 8 : 12 }
  }

  /// The bytes of a page that a tree may use.
  static let usable = SQLCipherPages.usable
  /// The minimum size that SQLite gives a cell: when freed, it must hold a free block.
  private static let leastCell = 4

  private struct State {
    let kind: Kind
    let header: Int
    var count = 0
    var content = TreePage.usable
  }

  private let bytes: UnsafeMutableRawPointer
  private let state: UnsafeMutablePointer<State>

  package init(_ kind: Kind) {
    bytes = .allocate(byteCount: PageFile.size, alignment: 16)
    bytes.initializeMemory(as: UInt8.self, repeating: 0, count: PageFile.size)
    state = .allocate(capacity: 1)
    state.initialize(to: State(kind: kind, header: kind.header))
  }

  /// Frees the memory.
  package func free() {
    bytes.deallocate()
    state.deallocate()
  }

  /// The number of cells.
  var count: Int { state.pointee.count }

  /// Removes all cells.
  @inline(__always)
  func clear() {
    state.pointee.count = 0
    state.pointee.content = Self.usable
  }

  /// Whether a cell of the given size fits.
  @inline(__always)
  func fits(_ size: Int) -> Bool {
    state.pointee.header &+ 2 &* (state.pointee.count &+ 1) &+ max(size, Self.leastCell)
      <= state.pointee.content
  }

  /// Reserves space for a cell that fits; returns where to write it.
  @inline(__always)
  func add(_ size: Int) -> UnsafeMutableRawPointer {
    let content = state.pointee.content &- max(size, Self.leastCell)
    let count = state.pointee.count
    state.pointee.content = content
    bytes.storeBytes(
      of: UInt16(truncatingIfNeeded: content).bigEndian,
      toByteOffset: state.pointee.header &+ 2 &* count, as: UInt16.self)
    state.pointee.count = count &+ 1
    if size < Self.leastCell { (bytes + content).storeBytes(of: 0, as: UInt32.self) }
    return bytes + content
  }

  /// Adds a cell that fits.
  @inline(__always)
  func add(_ cell: UnsafeRawBufferPointer) { add(cell.count).copyMemory(from: cell) }

  /// Removes the last cell and returns it.
  func removeLast() -> [UInt8] {
    let place = state.pointee.header + 2 * (count - 1)
    let end =
      count == 1
      ? Self.usable
      : Int(UInt16(bigEndian: bytes.load(fromByteOffset: place - 2, as: UInt16.self)))
    let cell = UnsafeRawBufferPointer(
      start: bytes + state.pointee.content, count: end - state.pointee.content)
    let taken = Array(cell)
    state.pointee.content = end
    state.pointee.count -= 1
    return taken
  }

  /// The whole page with its header; `last` is the rightmost child of a branch.
  package func finished(last: UInt32 = 0) -> UnsafeRawPointer {
    let state = self.state.pointee
    bytes.storeBytes(of: state.kind.rawValue, as: UInt8.self)
    bytes.storeBytes(of: UInt16(state.count).bigEndian, toByteOffset: 3, as: UInt16.self)
    bytes.storeBytes(of: UInt16(state.content).bigEndian, toByteOffset: 5, as: UInt16.self)
    if !state.kind.isLeaf {
      bytes.storeBytes(of: last.bigEndian, toByteOffset: 8, as: UInt32.self)
    }
    let end = state.header + 2 * state.count
    (bytes + end).initializeMemory(as: UInt8.self, repeating: 0, count: state.content - end)
    return UnsafeRawPointer(bytes)
  }
}
