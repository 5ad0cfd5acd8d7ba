import JSON

/// The modification date of an element, as it is written.
///
/// Where a load brings a record twice, it says which of the two stays.
enum ElementDate {
  /// The text at `path`; empty where there is none, which is before every date.
  static func of(_ element: String, at path: String) throws -> String {
    JSONProjection.project(path, from: try JSONValue(parsing: element))?.string ?? ""
  }

  /// Says whether of two elements of one record the one that came later stays: the one with the later date does,
  /// of equal dates the last.
  static func stays(_ later: String, over earlier: String) -> Bool { later >= earlier }
}
