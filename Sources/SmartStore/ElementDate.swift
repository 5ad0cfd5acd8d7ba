import JSON

/// The modification date of an element, as written.
///
/// If a load contains a record twice, it determines which of the two is kept.
enum ElementDate {
  /// The text at `path`; empty if there is none, which sorts before every date.
  static func of(_ element: String, at path: String) throws -> String {
    JSONProjection.project(path, from: try JSONValue(parsing: element))?.string ?? ""
  }

  /// Whether the later of two elements of one record is kept: it is if its date is not earlier.
  static func stays(_ later: String, over earlier: String) -> Bool { later >= earlier }
}
