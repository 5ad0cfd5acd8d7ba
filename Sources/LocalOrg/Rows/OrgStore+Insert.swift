import SQLite
import System

/// Inserts rows without the checks of the API.
extension OrgStore {
  /// Inserts a row with its ID, counters, audit fields and derived fields; returns the ID.
  ///
  /// `automation` runs after all of these are set.
  @discardableResult
  func insert(
    _ object: String, _ values: [String: SQLiteValue], by userID: String, at moment: Int64,
    modified: Int64? = nil, automation: RowAutomation? = nil
  ) throws -> String {
    let table = try table(object)
    let sequence = nextSequence(table.schema.keyPrefix)
    let id = OrgID.make(prefix: table.schema.keyPrefix, sequence: sequence)
    var row = [SQLiteValue](repeating: .null, count: table.fields.count)
    var blanked: Set<Int> = []
    for (name, value) in values {
      guard let place = table.place(name) else { throw OrgError.unknownObject(name) }
      row[place] = value
      if value.isNull, table.fields[place].nillable { blanked.insert(place) }
    }
    let created = SQLiteValue.text(Dates.salesforce(moment))
    let changed = modified.map { SQLiteValue.text(Dates.salesforce($0)) } ?? created
    let system: [(String, SQLiteValue)] = [
      ("Id", .text(id)), ("IsDeleted", .integer(0)), ("CreatedDate", created),
      ("CreatedById", .text(userID)), ("LastModifiedDate", changed),
      ("LastModifiedById", .text(userID)), ("SystemModstamp", changed),
    ]
    for (name, value) in system {
      if let place = table.place(name) { row[place] = value }
    }
    if let owner = table.place("OwnerId"), row[owner].isNull { row[owner] = .text(userID) }
    for (place, field) in table.fields.enumerated()
    where row[place].isNull && !blanked.contains(place) {
      row[place] = Self.filled(field, sequence: sequence)
    }
    Computed.apply(to: &row, of: table, at: changed)
    if let automation {
      try automation.apply(to: &row, of: table, before: nil)
      Computed.apply(to: &row, of: table, at: changed)
    }
    let statement = try prepared(table.insert)
    try statement.bind(1, sequence)
    for (place, value) in row.enumerated() { try statement.bind(Int32(place + 2), value) }
    try statement.execute()
    return id
  }

  /// Returns the value that the org sets in an empty field.
  private static func filled(_ field: FieldSchema, sequence: Int64) -> SQLiteValue {
    if field.autoNumber { return .text(autoNumber(field.name, sequence)) }
    guard let value = field.defaultValue else {
      return field.type == .boolean ? .integer(0) : .null
    }
    return field.type == .boolean ? .integer(value == "true" ? 1 : 0) : .text(value)
  }

  private static func autoNumber(_ field: String, _ sequence: Int64) -> String {
    let digits = String(field == "CaseNumber" ? sequence + 1000 : sequence)
    let width = field == "AppointmentNumber" ? 4 : 8
    let padded = String(repeating: "0", count: max(0, width - digits.count)) + digits
    return field == "AppointmentNumber" ? "SA-" + padded : padded
  }
}
