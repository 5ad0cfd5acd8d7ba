import JSON
import SQLite

/// Composes rows as JSON text, from SQLite's bytes and without a tree.
struct RowComposer {
  private let path: String
  private var bytes: [UInt8] = []
  /// Of each column, whether it holds elements.
  private var holdsElement: [Bool] = []

  /// A composer for the rows of one query; `path` is the store's, for errors.
  init(path: String) { self.path = path }

  /// The element in the first column, as it was stored.
  func element(_ row: Statement) throws -> String {
    let bytes = row.columnBytes(0)
    try check(bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// All columns as an array: text is quoted, but for elements.
  mutating func array(_ row: Statement) throws -> String {
    if holdsElement.count != Int(row.columnCount) {
      holdsElement = row.columnNames.map(Self.namesElement)
    }
    bytes.removeAll(keepingCapacity: true)
    bytes.append(0x5B)
    for index in 0..<row.columnCount {
      if index > 0 { bytes.append(0x2C) }
      try append(row, index)
    }
    bytes.append(0x5D)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Says whether text in a column of this name is an element: `soup`, or SQLite's `soup:1` where two
  /// columns have the name.
  static func namesElement(_ name: String) -> Bool { name == "soup" || name.hasPrefix("soup:") }

  private mutating func append(_ row: Statement, _ index: Int32) throws {
    switch row.storageClass(index) {
    case .integer: bytes.append(contentsOf: String(row.columnInteger(index)).utf8)
    case .real:
      let value = row.columnReal(index)
      bytes.append(contentsOf: (value.isFinite ? "\(value)" : "null").utf8)
    case .text:
      let text = row.columnBytes(index)
      if holdsElement[Int(index)] {
        try check(text)
        bytes.append(contentsOf: text)
      } else {
        bytes.append(0x22)
        JSONText.appendEscaped(text, to: &bytes)
        bytes.append(0x22)
      }
    case .null, .blob: bytes.append(contentsOf: "null".utf8)
    }
  }

  private func check(_ element: UnsafeRawBufferPointer) throws {
    do {
      try JSONSyntax.check(element)
    } catch {
      throw StoreError.damaged(path: path, reason: "an element that the query found is no JSON")
    }
  }
}
