/// One path of a soup's elements that is indexed, and as what.
public struct IndexSpec: Sendable, Hashable {
  /// The dotted path into the element.
  public let path: String
  /// What the values are indexed as.
  public let type: IndexType

  /// An index on a path.
  public init(path: String, type: IndexType) {
    self.path = path
    self.type = type
  }
}

/// What the values of an indexed path are taken for.
public enum IndexType: String, Sendable, Hashable, CaseIterable {
  /// Text, in a column of its own.
  case string
  /// A whole number, in a column of its own.
  case integer
  /// A number, in a column of its own.
  case floating
  /// Text in a column of its own, and searchable by word.
  case fullText = "full_text"
  /// Whatever it is, indexed inside the element without a column.
  case json1
}
