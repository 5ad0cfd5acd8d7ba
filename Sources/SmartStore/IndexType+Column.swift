extension IndexType {
  /// What a platform's SDK takes the type for that a store names: iOS makes a column of text for any name that
  /// it does not know, Android fails.
  init?(stored name: String, on platform: Platform) {
    guard let type = IndexType(rawValue: name) ?? (platform == .ios ? .string : nil) else {
      return nil
    }
    self = type
  }

  /// Why an index on `__local__` is not of this type; nil for the right one.
  var localFlagFault: String? {
    switch self {
    case .string: nil
    case .integer, .floating: "it has to be a string: as a number only iOS finds edits by it"
    case .fullText: "it has to be a string: nobody looks for edits by the words of a search"
    case .json1: "it has to be a string: as json1 no SDK finds edits by it"
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
