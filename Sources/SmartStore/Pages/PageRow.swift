import JSON
import SQLite

/// A row on its way into an SQLite record: the values of its cells, and the header with their
/// types.
///
/// It is a handle on memory that its owner frees. Values common to all rows are set from the start,
/// and the bytes of plain text are not copied. The size of a row is computed first, so that its
/// record can be written directly at its place.
struct PageRow {
  /// The source of a cell's plain value in a record.
  private struct Cell {
    /// The scanner's slot of the member; less than 0 if all rows have the same value.
    let slot: Int
    /// Whether the bytes of a text are the value.
    let keepsText: Bool
    var isOwn = false
  }

  private struct State {
    var types = 0
    let now: StoredValue
  }

  private let cells: UnsafeMutablePointer<Cell>
  private let values: UnsafeMutablePointer<StoredValue>
  private let count: Int
  /// Whether a cell always needs conversion.
  private let isSlow: Bool
  private let types: UnsafeMutableRawPointer
  private let state: UnsafeMutablePointer<State>

  init(
    _ plan: [RecordPlan.Cell], _ constants: [StoredValue?], now: Int64, platform: Platform
  ) {
    count = plan.count
    cells = .allocate(capacity: max(1, count))
    values = .allocate(capacity: max(1, count))
    types = .allocate(byteCount: 9 * (count + 4), alignment: 8)
    state = .allocate(capacity: 1)
    state.initialize(to: State(now: .integer(now)))
    var isSlow = false
    for (index, cell) in plan.enumerated() {
      var slot = -1
      switch cell.source {
      case .constant: break
      case .soupEntryID: isSlow = true
      case .field(let place): slot = place
      }
      let keepsText =
        cell.type.columnType == "TEXT" && IndexValue.keepsText(cell.type, platform)
      (cells + index).initialize(to: Cell(slot: slot, keepsText: keepsText))
      (values + index).initialize(to: constants[index] ?? .null)
    }
    self.isSlow = isSlow
  }

  /// Frees the memory.
  func free() {
    cells.deallocate()
    values.deallocate()
    types.deallocate()
    state.deallocate()
  }

  /// Takes the plain values of a record; returns false if some need conversion.
  @inline(__always)
  func take(_ record: Int, of batch: RecordBatch, isAlone: Bool) throws -> Bool {
    var isPlain = !isSlow
    for index in 0..<count where cells[index].slot >= 0 {
      let span = batch.field(record, cells[index].slot)
      cells[index].isOwn = false
      if span.kind == .string, cells[index].keepsText {
        values[index] = .text(batch.bytes(span))
      } else if span.kind == .missing || span.kind == .null {
        values[index] = .null
      } else {
        isPlain = false
      }
    }
    return isPlain
  }

  /// Whether `take` took the value.
  @inline(__always)
  func isPlain(_ span: JSONSpan, _ index: Int) -> Bool {
    span.kind == .missing || span.kind == .null || span.kind == .string && cells[index].keepsText
  }

  /// Whether all platforms store the value alike.
  static func isCommon(_ span: JSONSpan, _ batch: RecordBatch, _ type: IndexType) -> Bool {
    switch span.kind {
    case .missing, .null: return true
    case .string, .escapedString: return type.columnType == "TEXT"
    case .number:
      if type == .floating { return true }
      // A whole number that fits into 64 bits.
      let bytes = batch.bytes(span)
      return type == .integer && bytes.count <= 18
        && bytes.allSatisfy {
          $0 == UInt8(ascii: "-") || $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")
        }
    case .true, .false, .array, .object: return false
    }
  }

  /// The value of a cell.
  @inline(__always)
  func value(_ index: Int) -> StoredValue { values[index] }

  /// Whether other stores have a different value.
  @inline(__always)
  func isOwn(_ index: Int) -> Bool { cells[index].isOwn }

  /// Sets the value of a cell.
  func set(_ value: StoredValue, _ index: Int, isOwn: Bool) {
    values[index] = value
    cells[index].isOwn = isOwn
  }

  /// Sets the value of a cell whose origin is known.
  func set(_ value: StoredValue, _ index: Int) { values[index] = value }

  /// The size of the record with an element of the given size.
  @inline(__always)
  func measure(_ element: Int) -> Int {
    let now = state.pointee.now
    // The ID is that of the row and is stored as NULL. The element, `created` and `lastModified`
    // follow.
    types.storeBytes(of: 0, as: UInt8.self)
    var size = 1
    size &+= Varint.write(UInt64(truncatingIfNeeded: element) &* 2 &+ 13, to: types + size)
    size &+= Varint.write(now.type, to: types + size)
    size &+= Varint.write(now.type, to: types + size)
    var bodies = element &+ 2 &* now.bodySize
    for index in 0..<count {
      size &+= Varint.write(values[index].type, to: types + size)
      bodies &+= values[index].bodySize
    }
    state.pointee.types = size
    return headSize(size) &+ bodies
  }

  /// The length of the header includes itself.
  @inline(__always)
  private func headSize(_ types: Int) -> Int {
    types < 127 ? types &+ 1 : types < 16_382 ? types &+ 2 : types &+ 3
  }

  /// Writes the measured record; its element is given in two parts.
  @inline(__always)
  func write(
    _ body: UnsafeRawBufferPointer, _ rest: UnsafeRawBufferPointer,
    to start: UnsafeMutableRawPointer
  ) {
    let types = state.pointee.types
    let now = state.pointee.now
    var place = start
    place += Varint.write(UInt64(truncatingIfNeeded: headSize(types)), to: place)
    place.copyMemory(from: self.types, byteCount: types)
    place += types
    place.copyMemory(from: body)
    place += body.count
    place.copyMemory(from: rest)
    place += rest.count
    place += now.writeBody(to: place)
    place += now.writeBody(to: place)
    for index in 0..<count { place += values[index].writeBody(to: place) }
  }
}

/// The text after a record's own members in the stored element.
///
/// The entry ID grows by one from record to record.
struct ElementTail {
  private struct State {
    var count = 0
    var digits = 0..<0
    var id: Int64 = 0
  }

  private let composer: ElementComposer
  private let bytes: UnsafeMutableRawPointer
  private let state: UnsafeMutablePointer<State>

  init(_ composer: ElementComposer) {
    self.composer = composer
    bytes = .allocate(byteCount: composer.mostOfTail, alignment: 8)
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  /// Frees the memory.
  func free() {
    bytes.deallocate()
    state.deallocate()
  }

  /// Starts at an ID.
  func begin(_ id: Int64) {
    let (tail, digits) = composer.tail(id: id)
    tail.withUnsafeBytes { bytes.copyMemory(from: $0) }
    state.pointee = State(count: tail.count, digits: digits, id: id)
  }

  /// Advances to the next ID.
  @inline(__always)
  func advance() {
    state.pointee.id &+= 1
    var place = state.pointee.digits.upperBound &- 1
    while place >= state.pointee.digits.lowerBound {
      let digit = bytes.load(fromByteOffset: place, as: UInt8.self)
      if digit < UInt8(ascii: "9") {
        return bytes.storeBytes(of: digit &+ 1, toByteOffset: place, as: UInt8.self)
      }
      bytes.storeBytes(of: UInt8(ascii: "0"), toByteOffset: place, as: UInt8.self)
      place &-= 1
    }
    // The ID has one more digit.
    begin(state.pointee.id)
  }

  /// The text after a record's body, starting with a comma if the record has members.
  @inline(__always)
  func behind(_ body: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let skipped = body.count > 1 ? 0 : 1
    return UnsafeRawBufferPointer(start: bytes + skipped, count: state.pointee.count &- skipped)
  }
}
