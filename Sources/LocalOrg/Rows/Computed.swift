import SQLite

/// Fields that follow from others.
enum Computed {
  /// Sets them in a row of `table` that is about to be written.
  static func apply(to row: inout [SQLiteValue], of table: StoredObject, at moment: SQLiteValue) {
    switch table.schema.name {
    case "Contact", "User": name(&row, table)
    case "Case": closing(&row, table, moment)
    default: break
    }
  }

  /// The first and last name make the name.
  private static func name(_ row: inout [SQLiteValue], _ table: StoredObject) {
    guard let name = table.place("Name"), let last = table.place("LastName"),
      let first = table.place("FirstName")
    else { return }
    let parts = [row[first].text, row[last].text].compactMap { $0 }
    row[name] = .text(parts.joined(separator: " "))
  }

  /// A case is closed by its status.
  private static func closing(
    _ row: inout [SQLiteValue], _ table: StoredObject, _ moment: SQLiteValue
  ) {
    guard let status = table.place("Status"), let closed = table.place("IsClosed"),
      let date = table.place("ClosedDate")
    else { return }
    let isClosed = row[status].text == "Closed"
    row[closed] = .integer(isClosed ? 1 : 0)
    if !isClosed { row[date] = .null } else if row[date].isNull { row[date] = moment }
  }
}
