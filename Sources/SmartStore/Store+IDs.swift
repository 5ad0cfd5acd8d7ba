import JSON
import SQLite

// Lookup of a downloaded record's ID in an index. The SDKs accept any text, and numbers.
extension Store {
  /// The type of the index on the path of a soup's IDs; text if there is none.
  func idType(of soup: Soup, at path: String) -> IndexType {
    soup.specs.first { $0.path == path }?.type ?? .string
  }

  /// The value with which the ID at a position is compared in an index of `type`; null if it is not
  /// an ID.
  func value(
    ofID span: JSONSpan, in bytes: UnsafeRawBufferPointer, _ type: IndexType
  ) -> SQLiteValue {
    if let text = span.text(in: bytes) { return .text(text) }
    return span.number(in: bytes).map { value(ofNumber: $0, type) } ?? .null
  }

  /// The text of the ID at a position in an index of `type`; nil if it is not an ID.
  func text(
    ofID span: JSONSpan, in bytes: UnsafeRawBufferPointer, _ type: IndexType
  ) throws -> String? {
    if let number = span.number(in: bytes) { return try text(ofNumber: number, type) }
    return span.text(in: bytes)
  }

  private func value(ofNumber literal: String, _ type: IndexType) -> SQLiteValue {
    // Without a column, SQLite parses the number, on both platforms.
    IndexValue.bound(number: literal, type: type, platform: type == .json1 ? .ios : platform)
  }

  private func text(ofNumber literal: String, _ type: IndexType) throws -> String? {
    switch value(ofNumber: literal, type) {
    case .text(let text): text
    case .integer(let number): String(number)
    case let value: try connection.text("SELECT CAST(\(value) AS TEXT)")
    }
  }

  /// The text in the index on a soup's IDs for the ID at a position of a page; nil if it is not an
  /// ID.
  package func text(
    ofID span: JSONSpan, in bytes: UnsafeRawBufferPointer, soup: String, path: String
  ) throws -> String? {
    if span.kind != .number { return span.text(in: bytes) }
    return try text(ofID: span, in: bytes, idType(of: self.soup(soup), at: path))
  }

  /// The text in the index on a soup's IDs for an ID; nil if it is not an ID.
  package func text(ofID id: JSONValue?, soup: String, path: String) throws -> String? {
    switch id {
    case .string(let text)?: text
    case .number(let literal)?:
      try text(ofNumber: literal, idType(of: self.soup(soup), at: path))
    default: nil
    }
  }
}
