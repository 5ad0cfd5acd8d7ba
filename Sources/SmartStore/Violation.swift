/// A difference between a file and what SmartStore creates.
public struct Violation: Sendable, Hashable, CustomStringConvertible {
  /// The table or other object of the database.
  public let table: String
  /// The row's ID, if the violation is in a row.
  public let row: Int64?
  /// The path of the index, if the violation is in one.
  public let path: String?
  /// The fault, without any value.
  public let message: String

  init(_ table: String, row: Int64? = nil, path: String? = nil, _ message: String) {
    self.table = table
    self.row = row
    self.path = path
    self.message = message
  }

  /// The `table` of a fault of the whole file.
  private static let file = "file"

  /// Returns a fault of the whole file.
  static func ofFile(_ message: String) -> Violation { Violation(file, message) }

  /// The location, then the fault; a fault of the whole file follows `path`.
  package func text(at path: String) -> String {
    table == Self.file ? "\(path): \(message)" : description
  }

  /// The location, then the fault.
  public var description: String {
    var place = table
    if let row { place += " row \(row)" }
    if let path { place += " path \(path)" }
    return "\(place): \(message)"
  }
}
