import JSON
import SQLite

// How the id of a downloaded record is found in an index: the SDKs take any text, and numbers.
extension Store {
  /// The type of the index on the path of a soup's ids; text where there is none.
  func idType(of soup: Soup, at path: String) -> IndexType {
    soup.specs.first { $0.path == path }?.type ?? .string
  }

  /// What the id that stands at a place is compared with in an index of `type`; null for what is no id.
  func value(
    ofID span: JSONSpan, in bytes: UnsafeRawBufferPointer, _ type: IndexType
  ) -> SQLiteValue {
    if let text = span.text(in: bytes) { return .text(text) }
    return span.number(in: bytes).map { value(ofNumber: $0, type) } ?? .null
  }

  /// The text by which an index of `type` has the id that stands at a place; nil for what is no id.
  func text(
    ofID span: JSONSpan, in bytes: UnsafeRawBufferPointer, _ type: IndexType
  ) throws -> String? {
    if let number = span.number(in: bytes) { return try text(ofNumber: number, type) }
    return span.text(in: bytes)
  }

  private func value(ofNumber literal: String, _ type: IndexType) -> SQLiteValue {
    // Without a column it is SQLite that reads the number, whatever the platform.
    IndexValue.bound(number: literal, type: type, platform: type == .json1 ? .ios : platform)
  }

  private func text(ofNumber literal: String, _ type: IndexType) throws -> String? {
    switch value(ofNumber: literal, type) {
    case .text(let text): text
    case .integer(let number): String(number)
    case let value: try connection.text("SELECT CAST(\(value) AS TEXT)")
    }
  }

  /// The text by which the index on a soup's ids has the id that stands at a place of a page; nil for
  /// what is no id.
  package func text(
    ofID span: JSONSpan, in bytes: UnsafeRawBufferPointer, soup: String, path: String
  ) throws -> String? {
    if span.kind != .number { return span.text(in: bytes) }
    return try text(ofID: span, in: bytes, idType(of: self.soup(soup), at: path))
  }

  /// The text by which the index on a soup's ids has an id; nil for what is no id.
  package func text(ofID id: JSONValue?, soup: String, path: String) throws -> String? {
    switch id {
    case .string(let text)?: text
    case .number(let literal)?:
      try text(ofNumber: literal, idType(of: self.soup(soup), at: path))
    default: nil
    }
  }
}
