/// One point in which a file is not what SmartStore makes.
public struct Violation: Sendable, Hashable, CustomStringConvertible {
  /// The table or other object of the database.
  public let table: String
  /// The row's id, if it is about a row.
  public let row: Int64?
  /// The path of the index, if it is about one.
  public let path: String?
  /// What is wrong; never a value.
  public let message: String

  init(_ table: String, row: Int64? = nil, path: String? = nil, _ message: String) {
    self.table = table
    self.row = row
    self.path = path
    self.message = message
  }

  /// The place, then what is wrong.
  public var description: String {
    var place = table
    if let row { place += " row \(row)" }
    if let path { place += " path \(path)" }
    return "\(place): \(message)"
  }
}
