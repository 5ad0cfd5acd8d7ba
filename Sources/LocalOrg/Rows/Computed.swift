import Crypto
import SQLite

/// Fields that are derived from others.
enum Computed {
  /// Sets them in a row of `table` that is about to be written.
  static func apply(to row: inout [SQLiteValue], of table: StoredObject, at moment: SQLiteValue) {
    switch table.schema.name {
    case "Contact", "Lead", "User": name(&row, table)
    case "Account":
      if let place = table.place("IsPersonAccount"), row[place] == 1 { name(&row, table) }
    case "Opportunity": stage(&row, table)
    case "Case": closing(&row, table, moment)
    case "Attachment": length(&row, table)
    default: break
    }
  }

  /// Combines the first and last name.
  private static func name(_ row: inout [SQLiteValue], _ table: StoredObject) {
    guard let name = table.place("Name"), let last = table.place("LastName"),
      let first = table.place("FirstName")
    else { return }
    let parts = [row[first].text, row[last].text].compactMap { $0 }
    row[name] = .text(parts.joined(separator: " "))
  }

  /// Counts the bytes of a file.
  private static func length(_ row: inout [SQLiteValue], _ table: StoredObject) {
    guard let body = table.place("Body"), let length = table.place("BodyLength") else { return }
    row[length] = .integer(Int64(row[body].text.flatMap(Base64.decode)?.count ?? 0))
  }

  /// Derives from an opportunity's stage whether it is closed, and from its date the fiscal period.
  private static func stage(_ row: inout [SQLiteValue], _ table: StoredObject) {
    guard let stage = table.place("StageName"), let closed = table.place("IsClosed"),
      let won = table.place("IsWon"), let date = table.place("CloseDate"),
      let quarter = table.place("FiscalQuarter"), let year = table.place("FiscalYear"),
      let fiscal = table.place("Fiscal"), let amount = table.place("Amount"),
      let chance = table.place("Probability"), let expected = table.place("ExpectedRevenue")
    else { return }
    let name = row[stage].text ?? ""
    row[closed] = .integer(name.hasPrefix("Closed") ? 1 : 0)
    row[won] = .integer(name == "Closed Won" ? 1 : 0)
    if let day = row[date].text.flatMap({ CivilDate.parse($0) }) {
      row[quarter] = .integer(Int64((day.month + 2) / 3))
      row[year] = .integer(Int64(day.year))
      row[fiscal] = .text("\(day.year) \((day.month + 2) / 3)")
    }
    guard let sum = row[amount].real, let percent = row[chance].real else {
      row[expected] = .null
      return
    }
    row[expected] = .real((sum * percent).rounded() / 100)
  }

  /// Derives from a case's status whether it is closed.
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
