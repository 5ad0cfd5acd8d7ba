extension IndexType {
  /// The type that a platform's SDK assumes for a type name in a store; nil if it fails.
  ///
  /// iOS creates a text column for an unknown name, Android fails.
  init?(stored name: String, on platform: Platform) {
    guard let type = IndexType(rawValue: name) ?? (platform == .ios ? .string : nil) else {
      return nil
    }
    self = type
  }

  /// The reason that an index on `__local__` must not be of this type; nil if it may be.
  var localFlagFault: String? {
    switch self {
    case .string: nil
    case .integer, .floating: "it must be a string: a number index only finds edits on iOS"
    case .fullText: "it must be a string: no SDK uses full-text search to find edits"
    case .json1: "it must be a string: with json1 no SDK finds edits"
    }
  }

  /// The declared type of the column; nil for a type without a column.
  var columnType: String? {
    switch self {
    case .string, .fullText: "TEXT"
    case .integer: "INTEGER"
    case .floating: "REAL"
    case .json1: nil
    }
  }
}
