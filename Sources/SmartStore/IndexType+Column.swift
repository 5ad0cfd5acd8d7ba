extension IndexType {
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
