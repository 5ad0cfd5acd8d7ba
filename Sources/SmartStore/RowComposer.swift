import JSON
import SQLite

/// Composes rows as JSON text from SQLite's bytes, without a tree.
struct RowComposer {
  private let path: String
  private var bytes: [UInt8] = []
  /// Whether each column holds elements.
  private var holdsElement: [Bool] = []

  /// Creates a composer for the rows of a query; `path` is the store's, for error messages.
  init(path: String) { self.path = path }

  /// The element in the first column, as it was stored.
  func element(_ row: Statement) throws -> String {
    let bytes = row.columnBytes(0)
    try check(bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// All columns as an array: text is quoted, except for elements.
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

  /// Whether text in a column with this name is an element: `soup`, or SQLite's `soup:1` if two
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
      throw StoreError.damaged(
        path: path, reason: "an element found by the query is not valid JSON")
    }
  }
}
