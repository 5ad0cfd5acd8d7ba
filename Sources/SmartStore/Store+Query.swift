import JSON
import SQLite

extension Store {
  /// One page of a query's rows as JSON text: elements, or arrays of values.
  public func query(_ spec: QuerySpec, page: Int = 0) throws(StoreError) -> [String] {
    try queryValues(spec, page: page).map(\.text)
  }

  /// The number of rows that a query finds on all pages.
  public func count(_ spec: QuerySpec) throws(StoreError) -> Int {
    try StoreError.mapping {
      Int(try connection.integer(translated(spec.countSmartSQL, spec.arguments)) ?? 0)
    }
  }

  /// A cursor on the first page of a query.
  public func cursor(_ spec: QuerySpec) throws(StoreError) -> StoreCursor {
    StoreCursor(spec: spec, totalEntries: try count(spec))
  }

  /// The SQL that Smart SQL stands for.
  public func sql(ofSmartSQL text: String) throws(StoreError) -> String {
    try StoreError.mapping { try translated(text, []).text }
  }

  /// One page of a query's rows.
  package func queryValues(
    _ spec: QuerySpec, page: Int = 0
  ) throws(StoreError) -> [JSONValue] {
    try StoreError.mapping {
      guard spec.pageSize > 0, page >= 0 else {
        throw StoreError.invalidQuery("a page has at least one row, and pages count from 0")
      }
      let inner = try translated(spec.smartSQL, spec.arguments)
      let sql: SQL = """
        SELECT * FROM (\(inner)) LIMIT \(spec.pageSize * page),\(spec.pageSize)
        """
      var rows: [JSONValue] = []
      try forEachRow(of: sql) { names, row in
        if spec.yieldsElements {
          rows.append(try JSONValue(parsing: row.bytes(0)))
        } else {
          rows.append(.array(try Self.values(row, names)))
        }
      }
      return rows
    }
  }

  /// Hands each row of a Smart SQL query, without paging, to `body` with the columns' names.
  package func forEachRow(
    ofSmartSQL text: String, arguments: [String] = [],
    _ body: (_ names: [String], _ values: [JSONValue]) throws -> Void
  ) throws {
    try forEachRow(of: translated(text, arguments.map(Optional.some))) { names, row in
      try body(names, Self.values(row, names))
    }
  }

  private static func values(_ row: borrowing Row, _ names: [String]) throws -> [JSONValue] {
    var values: [JSONValue] = []
    for (index, name) in names.enumerated() {
      values.append(try value(row, index, named: name))
    }
    return values
  }

  /// A column as JSON: one named `soup` that holds text is an element.
  private static func value(
    _ row: borrowing Row, _ index: Int, named name: String
  ) throws -> JSONValue {
    switch row[index] {
    case .null: return .null
    case .integer(let value): return .number(String(value))
    case .real(let value): return JSONValue(value)
    case .blob: return .null
    case .text(let text):
      guard name == "soup" || name.hasPrefix("soup:") else { return .string(text) }
      return try JSONValue(parsing: text)
    }
  }

  private func forEachRow(
    of sql: SQL, _ body: (_ names: [String], _ row: borrowing Row) throws -> Void
  ) throws {
    var names: [String]?
    try connection.rows(sql) { row in
      let known = names ?? row.names
      names = known
      try body(known, row)
    }
  }

  /// SQL of Smart SQL and its arguments; text that could change the store is refused.
  func translated(_ text: String, _ arguments: [String?]) throws -> SQL {
    let sql = try SmartSQL(text: text).translated(for: platform) { try find($0) }
    // Prepared once here for its own sake: what is no SELECT never reaches a step.
    if !reading.contains(sql) {
      guard try connection.prepare(sql).isReadOnly else { throw StoreError.notSelect }
      if reading.count >= 64 { reading = [] }
      reading.insert(sql)
    }
    return SQL(sql, bindings: arguments.map { $0.map(SQLiteValue.text) ?? .null })
  }
}
