extension Connection {
  /// Runs one statement to its end.
  package func run(_ sql: SQL) throws(SQLiteError) {
    let statement = try take(sql)
    defer { give(back: statement) }
    while try statement.step() {}
  }

  /// Runs one statement for each of many, with the values that `values` makes of it; `after` comes when it is done.
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

  /// Hands each row to `body`.
  package func rows(_ sql: SQL, _ body: (borrowing Row) throws -> Void) throws {
    try withStatement(sql) { statement in
      while try statement.step() { try body(Row(statement: statement)) }
    }
  }

  /// Every row.
  package func all(_ sql: SQL) throws(SQLiteError) -> [[SQLiteValue]] {
    let statement = try take(sql)
    defer { give(back: statement) }
    var rows: [[SQLiteValue]] = []
    while try statement.step() { rows.append(statement.row) }
    return rows
  }

  /// The first row, if there is one.
  package func first(_ sql: SQL) throws(SQLiteError) -> [SQLiteValue]? {
    let statement = try take(sql)
    defer { give(back: statement) }
    return try statement.step() ? statement.row : nil
  }

  /// The first value of the first row as an integer; nil for NULL, no row, or no integer.
  package func integer(_ sql: SQL) throws(SQLiteError) -> Int64? {
    try first(sql)?.first?.integer
  }

  /// The first value of the first row as text; nil for NULL, no row, or no text.
  package func text(_ sql: SQL) throws(SQLiteError) -> String? {
    try first(sql)?.first?.text
  }

  /// The first column of every row as text, NULL left out.
  package func texts(_ sql: SQL) throws(SQLiteError) -> [String] {
    try all(sql).compactMap { $0.first?.text }
  }
}
