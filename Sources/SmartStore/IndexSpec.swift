/// An indexed path of a soup's elements, with the type of the index.
public struct IndexSpec: Sendable, Hashable {
  /// The dotted path into the element.
  public let path: String
  /// The type of the index.
  public let type: IndexType

  /// Creates the spec of an index on a dotted path.
  public init(path: String, type: IndexType) {
    self.path = path
    self.type = type
  }
}

/// The type of an index.
public enum IndexType: String, Sendable, Hashable, CaseIterable {
  /// Text, in a separate column.
  case string
  /// A whole number, in a separate column.
  case integer
  /// A number, in a separate column.
  case floating
  /// Text in a separate column, with full-text search.
  case fullText = "full_text"
  /// Any value, indexed inside the element without a column.
  case json1
}
