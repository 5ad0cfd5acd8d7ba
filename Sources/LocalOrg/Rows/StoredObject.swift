import SQLite

/// An object as a table, with its columns and the statements that list them all.
struct StoredObject: Sendable {
  let schema: ObjectSchema
  /// The fields in column order; the first is the ID.
  let fields: [FieldSchema]
  let table: String
  /// The columns, quoted and separated by commas.
  let columnList: String
  private let places: [String: Int]

  init(_ schema: ObjectSchema) {
    self.schema = schema
    fields = schema.storedFields
    table = SQL.quoted(name: "o_" + schema.name)
    columnList = fields.map { SQL.quoted(name: $0.name) }.joined(separator: ", ")
    places = Dictionary(
      uniqueKeysWithValues: fields.enumerated().map { ($1.name.lowercased(), $0) })
  }

  /// The index of a field's column.
  func place(_ field: String) -> Int? { places[field.lowercased()] }

  /// The insert statement: the sequence number, then the columns.
  var insert: String {
    let marks = repeatElement("?", count: fields.count + 1).joined(separator: ", ")
    return "INSERT INTO \(table) (\"seq\", \(columnList)) VALUES (\(marks))"
  }

  /// The column names and definitions.
  var columns: [(name: String, definition: String)] {
    fields.map { field in
      let name = SQL.quoted(name: field.name)
      let type = field.name == "Id" ? "TEXT NOT NULL UNIQUE" : Self.affinity(field)
      return (field.name, "\(name) \(type)")
    }
  }

  /// The CREATE TABLE statement.
  var creation: String {
    let columns = columns.map(\.definition).joined(separator: ", ")
    return "CREATE TABLE IF NOT EXISTS \(table) (\"seq\" INTEGER PRIMARY KEY, \(columns))"
  }

  /// The index names and their CREATE INDEX statements.
  var indexes: [(name: String, creation: String)] {
    fields.compactMap { field in
      guard Self.isIndexed(field) else { return nil }
      let name = SQL.quoted(name: "i_\(schema.name)_\(field.name)")
      let collation = field.type.isText && !field.caseSensitive ? " COLLATE NOCASE" : ""
      let column = SQL.quoted(name: field.name) + collation
      return (name, "CREATE INDEX IF NOT EXISTS \(name) ON \(table) (\(column))")
    }
  }

  private static func isIndexed(_ field: FieldSchema) -> Bool {
    if field.idLookup && field.name != "Id" { return true }
    if field.type == .reference { return field.createable || field.name == "AccountId" }
    return ["IsDeleted", "SystemModstamp", "LastModifiedDate"].contains(field.name)
  }

  private static func affinity(_ field: FieldSchema) -> String {
    switch field.type {
    case .boolean, .int: "INTEGER"
    case .double, .currency, .percent: "REAL"
    default: "TEXT"
    }
  }
}
