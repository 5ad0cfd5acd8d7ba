import SQLite
import TestSupport
import Testing

@Suite struct StatementTests {
  let directory = TemporaryDirectory("statement")

  func make(_ sql: String = "CREATE TABLE t (a)") throws -> Connection {
    let connection = try Connection(directory.file("a.db"), mode: .create)
    try connection.execute(sql)
    return connection
  }

  @Test(arguments: ["", "  \n", "-- nothing\n", "/* nothing */", ";"])
  func `a text without a statement is rejected`(_ sql: String) throws {
    let connection = try make()
    let error = #expect(throws: SQLiteError.self) { try connection.prepare(sql) }
    #expect(error?.message == "the text contains no statement")
  }

  @Test func `white space and semicolons may follow a statement`() throws {
    #expect(try make().prepare("SELECT 1 ;\n\t; ").step())
  }

  @Test func `the number of values must match the parameters, or none is bound`() throws {
    let connection = try make("CREATE TABLE t (a, b)")
    let insert = try connection.prepare("INSERT INTO t VALUES (?, ?)")
    #expect(insert.parameterCount == 2)
    for values in [[], [1], [1, 2, 3]] as [[SQLiteValue]] {
      let error = #expect(throws: SQLiteError.self) { try insert.bind(values) }
      #expect(error?.message.contains("2 parameters and got \(values.count) values") == true)
    }
    #expect(throws: SQLiteError.self) { try insert.bind(3, 1) }
    #expect(throws: SQLiteError.self) { try insert.bind(0, 1) }
    try insert.bind([1, .null])
    try insert.execute()
    #expect(try connection.all("SELECT * FROM t") == [[1, .null]])
  }

  @Test func `bindings survive a reset and end when they are cleared`() throws {
    let connection = try make("CREATE TABLE t (a)")
    let insert = try connection.prepare("INSERT INTO t VALUES (?)")
    try insert.bind(1, "x")
    try insert.execute()
    try insert.execute()
    insert.clearBindings()
    try insert.execute()
    try insert.bind(1, nil as String?)
    try insert.execute()
    #expect(try connection.all("SELECT a FROM t") == [["x"], ["x"], [.null], [.null]])
  }

  @Test func `a column is read in its class, or converted on request`() throws {
    let connection = try make()
    let statement = try connection.prepare(
      "SELECT 7 AS i, 2.5 AS r, '12x' AS t, x'6162' AS b, NULL AS n")
    try #require(try statement.step())
    #expect(statement.columnNames == ["i", "r", "t", "b", "n"])
    #expect((0..<5).map(statement.storageClass) == [.integer, .real, .text, .blob, .null])
    #expect(statement.row == [7, .real(2.5), "12x", .blob([0x61, 0x62]), .null])
    #expect(statement.columnInteger(2) == 12)
    #expect(statement.columnReal(0) == 7)
    #expect(statement.columnText(3) == "ab")
    #expect(statement.columnText(4) == nil)
    #expect(statement.columnInteger(4) == 0)
    #expect(statement.columnBytes(4).isEmpty)
    #expect(try !statement.step())
  }

  @Test func `text that is not UTF-8 is repaired and does not trap`() throws {
    #expect(try make().first("SELECT CAST(x'61FF62' AS TEXT)") == ["a\u{FFFD}b"])
  }

  @Test func `a read-only statement is recognized`() throws {
    let connection = try make()
    #expect(try connection.prepare("SELECT * FROM t").isReadOnly)
    #expect(try !connection.prepare("DELETE FROM t").isReadOnly)
  }

  @Test func `a failed statement can be reused`() throws {
    let connection = try make("CREATE TABLE t (a UNIQUE)")
    let insert = try connection.prepare("INSERT INTO t VALUES (?)")
    try insert.bind(1, 1)
    try insert.execute()
    let error = #expect(throws: SQLiteError.self) { try insert.execute() }
    #expect(error?.isOfTheValues == true)
    #expect(error?.isDamage == false)
    try insert.bind(1, 2)
    try insert.execute()
    #expect(try connection.integer("SELECT count(*) FROM t") == 2)
    #expect(connection.lastInsertRowID == 2)
    #expect(connection.changes == 1)
  }

  @Test func `cached statements are discarded above the limit, without other effects`() throws {
    let connection = try make()
    for round in 0..<3 {
      for number in 0..<100 {
        #expect(
          try connection.integer(SQL("SELECT \(number) + ?", bindings: [1])) == Int64(number + 1))
      }
      #expect(round < 3)
    }
  }

  @Test func `a changed table gives its new columns after the statements are forgotten`() throws {
    let connection = try make()
    #expect(try connection.all("SELECT * FROM t") == [])
    try connection.execute("ALTER TABLE t ADD COLUMN b DEFAULT 5; INSERT INTO t (a) VALUES (1)")
    connection.forgetStatements()
    #expect(try connection.all("SELECT * FROM t") == [[1, 5]])
  }

  @Test func `a second writer is busy, and the error names the cause`() throws {
    let first = try make("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
    let second = try Connection(first.path, mode: .readWrite, busyMilliseconds: 0)
    try first.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
    let error = #expect(throws: SQLiteError.self) {
      try second.transaction { try second.run("INSERT INTO t VALUES (2)") }
    }
    #expect(error?.description.contains("another program is using the file") == true)
    #expect(throws: SQLiteError.self) { try second.checkpointTruncate() }
    try first.execute("COMMIT")
    #expect(try second.integer("SELECT count(*) FROM t") == 1)
    try second.checkpointTruncate()
  }

  @Test func `a nested transaction is rejected, and the outer one is rolled back`() throws {
    let connection = try make()
    #expect(throws: SQLiteError.self) {
      try connection.transaction {
        try connection.run("INSERT INTO t VALUES (1)")
        try connection.transaction { try connection.run("INSERT INTO t VALUES (2)") }
      }
    }
    #expect(!connection.inTransaction)
    #expect(try connection.integer("SELECT count(*) FROM t") == 0)
  }

  @Test func `of several statements, those before a failing one are executed`() throws {
    let connection = try make()
    #expect(throws: SQLiteError.self) {
      try connection.execute("INSERT INTO t VALUES (1); INSERT INTO nowhere VALUES (2)")
    }
    #expect(try connection.integer("SELECT count(*) FROM t") == 1)
  }

  @Test func `a missing file and one that is not a database are distinguished`() throws {
    let missing = #expect(throws: SQLiteError.self) {
      try Connection(directory.file("none.db"), mode: .readWrite).execute("SELECT 1")
    }
    #expect(missing?.isDamage == false)
    let connection = try make()
    connection.close()
    #expect(throws: SQLiteError.self) { try connection.reserveBytes(8) }
    #expect(throws: SQLiteError.self) { try connection.reservedBytes() }
    #expect(connection.changes == 0)
    #expect(!connection.inTransaction)
  }
}
