import JSON
import SQLite

extension Store {
  /// One page of a query's rows as JSON text: elements, or arrays of values.
  public func query(_ spec: QuerySpec, page: Int = 0) throws(StoreError) -> [String] {
    try StoreError.mapping {
      var rows: [String] = []
      var composer = RowComposer(path: path)
      try forEachRow(of: spec, page: page) { row in
        rows.append(
          spec.yieldsElements ? try composer.element(row) : try composer.array(row))
      }
      return rows
    }
  }

  /// The number of rows on all pages of a query.
  public func count(_ spec: QuerySpec) throws(StoreError) -> Int {
    try StoreError.mapping {
      try plan(.count, of: spec).number(spec)
    }
  }

  /// A cursor on the first page of a query.
  public func cursor(_ spec: QuerySpec) throws(StoreError) -> StoreCursor {
    StoreCursor(spec: spec, totalEntries: try count(spec))
  }

  /// The SQL translation of Smart SQL.
  public func sql(ofSmartSQL text: String) throws(StoreError) -> String {
    try StoreError.mapping { try translated(text) }
  }

  /// One page of a query's rows as parsed values.
  package func queryValues(
    _ spec: QuerySpec, page: Int = 0
  ) throws(StoreError) -> [JSONValue] {
    try query(spec, page: page).map { row throws(StoreError) in
      try StoreError.mapping { try JSONValue(parsing: row) }
    }
  }

  /// Limits the total time of the queries that follow.
  package func limitTime(seconds: Int) throws(StoreError) {
    try StoreError.mapping { try connection.limitTime(seconds: seconds) }
  }

  /// Calls `body` with each row of a Smart SQL query, without paging, and with the names of the
  /// columns.
  package func forEachRow(
    ofSmartSQL text: String, arguments: [String] = [],
    _ body: (_ names: [String], _ values: [JSONValue]) throws -> Void
  ) throws {
    var names: [String]?
    try connection.rows(translated(text, arguments.map(Optional.some))) { row in
      let known = names ?? row.names
      names = known
      try body(known, Self.values(row, known))
    }
  }

  private static func values(_ row: borrowing Row, _ names: [String]) throws -> [JSONValue] {
    var values: [JSONValue] = []
    for (index, name) in names.enumerated() {
      values.append(try value(row, index, named: name))
    }
    return values
  }

  /// A column as JSON; text in a column named `soup` is an element.
  private static func value(
    _ row: borrowing Row, _ index: Int, named name: String
  ) throws -> JSONValue {
    switch row[index] {
    case .null: return .null
    case .integer(let value): return .number(String(value))
    case .real(let value): return JSONValue(value)
    case .blob: return .null
    case .text(let text):
      guard RowComposer.namesElement(name) else { return .string(text) }
      return try JSONValue(parsing: text)
    }
  }

  private func forEachRow(
    of spec: QuerySpec, page: Int, _ body: (Statement) throws -> Void
  ) throws {
    let isInRange = spec.pageSize > 0 && page >= 0
    guard isInRange, !spec.pageSize.multipliedReportingOverflow(by: page).overflow else {
      throw StoreError.invalidQuery("a page has at least one row, and pages are counted from 0")
    }
    try plan(.rows, of: spec).forEachRow(spec, page: page, body)
  }

  private func plan(_ asking: QueryPlan.Asking, of spec: QuerySpec) throws -> QueryPlan {
    // The last query is often repeated with other values.
    if let latestPlan, latestPlan.serves(asking, spec) { return latestPlan }
    let shape = QueryPlan.Shape(asking, spec)
    let plan: QueryPlan
    if let known = plans[shape] {
      plan = known
    } else {
      let text = asking == .rows ? spec.smartSQL : spec.countSmartSQL
      plan = try QueryPlan(asking, spec, translated(text), on: connection)
      plans.keep(plan, for: shape)
    }
    latestPlan = plan
    return plan
  }

  /// The SQL of Smart SQL and its arguments.
  ///
  /// Text that could change the store is rejected.
  package func translated(_ text: String, _ arguments: [String?]) throws -> SQL {
    SQL(
      try translated(text), bindings: arguments.map { $0.map(SQLiteValue.text) ?? .null })
  }

  private func translated(_ text: String) throws -> String {
    if let known = translations[text] { return known }
    let sql = try SmartSQL(text: text).translated(for: platform) { try findReadable($0) }
    // Prepared here only for this check: a statement that is not a SELECT never runs.
    guard try connection.prepare(sql).isReadOnly else { throw StoreError.notSelect(text) }
    translations.keep(sql, for: text)
    return sql
  }
}
