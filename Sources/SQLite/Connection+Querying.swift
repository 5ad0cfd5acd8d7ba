extension Connection {
  /// Runs one statement to completion.
  package func run(_ sql: SQL) throws(SQLiteError) {
    let statement = try take(sql)
    defer { give(back: statement) }
    while try statement.step() {}
  }

  /// Runs one statement for each element, bound to the values from `values`; calls `after` when it
  /// is done.
  package func run<One>(
    _ text: String, each many: some Sequence<One>, values: (One) throws -> [SQLiteValue],
    after: (One) -> Void = { _ in }
  ) throws {
    let statement = try take(text)
    defer { give(back: statement) }
    for one in many {
      try statement.bind(values(one))
      try statement.execute()
      after(one)
    }
  }

  /// Calls `body` with each row.
  package func rows(_ sql: SQL, _ body: (borrowing Row) throws -> Void) throws {
    try withStatement(sql) { statement in
      while try statement.step() { try body(Row(statement: statement)) }
    }
  }

  package func all(_ sql: SQL) throws(SQLiteError) -> [[SQLiteValue]] {
    let statement = try take(sql)
    defer { give(back: statement) }
    var rows: [[SQLiteValue]] = []
    while try statement.step() { rows.append(statement.row) }
    return rows
  }

  /// The first row; nil if there is none.
  package func first(_ sql: SQL) throws(SQLiteError) -> [SQLiteValue]? {
    let statement = try take(sql)
    defer { give(back: statement) }
    return try statement.step() ? statement.row : nil
  }

  /// The first value of the first row as an integer; nil for NULL, no row or another type.
  package func integer(_ sql: SQL) throws(SQLiteError) -> Int64? {
    try first(sql)?.first?.integer
  }

  /// The first value of the first row as text; nil for NULL, no row or another type.
  package func text(_ sql: SQL) throws(SQLiteError) -> String? {
    try first(sql)?.first?.text
  }

  /// The first column of every row as text, without NULLs.
  package func texts(_ sql: SQL) throws(SQLiteError) -> [String] {
    try all(sql).compactMap { $0.first?.text }
  }
}
