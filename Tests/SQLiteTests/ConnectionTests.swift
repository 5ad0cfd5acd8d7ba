import SQLite
import TestSupport
import Testing

@Suite struct ConnectionTests {
  let directory = TemporaryDirectory()

  func make() throws -> Connection { try Connection(directory.file("a.db"), mode: .create) }

  @Test(arguments: [
    SQLiteValue.null, .integer(0), .integer(.max), .integer(.min), .real(1.5), .real(-0.0),
    .real(.infinity), .text(""), .text("Grüße 東京 🚲"), .text("a\u{0}b"), .text("O'Hara \"x\""),
    .blob([]), .blob([0, 1, 255]),
  ])
  func `every value is read back as written`(_ value: SQLiteValue) throws {
    let connection = try make()
    try connection.execute("CREATE TABLE t (a)")
    try connection.run("INSERT INTO t VALUES (\(value))")
    #expect(try connection.first("SELECT a FROM t") == [value])
    #expect(try connection.all("SELECT a FROM t WHERE a IS \(value)").count == 1)
  }

  @Test func `interpolation binds values and quotes names`() throws {
    let sql: SQL = "SELECT \(name: "a\"b") FROM t WHERE x IN (\(list: [1, "two"])) AND y = \(true)"
    #expect(sql.text == "SELECT \"a\"\"b\" FROM t WHERE x IN (?, ?) AND y = ?")
    #expect(sql.bindings == [1, "two", 1])
    let joined = [SQL("a = \(1)"), SQL("b = \("x")")].joined(separator: " AND ")
    #expect(joined.text == "a = ? AND b = ?")
    #expect(joined.bindings == [1, "x"])
    #expect(SQL.quoted(text: "it's") == "'it''s'")
  }

  @Test func `bytes are bound and read without a copy`() throws {
    let connection = try make()
    try connection.execute("CREATE TABLE t (a TEXT)")
    let insert = try connection.prepare("INSERT INTO t VALUES (?)")
    let bytes = Array("zero\u{0}inside".utf8)
    try bytes.withUnsafeBytes {
      try insert.bind(1, bytes: $0)
      try insert.execute()
    }
    try insert.bind(1, bytes: UnsafeRawBufferPointer(start: nil, count: 0))
    try insert.execute()
    var seen: [[UInt8]] = []
    try connection.rows("SELECT a FROM t") { row in seen.append(Array(row.bytes(0))) }
    #expect(seen == [bytes, []])
    #expect(try connection.integer("SELECT count(*) FROM t WHERE typeof(a) = 'text'") == 2)
  }

  @Test func `a transaction is committed or rolled back as a whole`() throws {
    struct Refusal: Error {}
    let connection = try make()
    try connection.execute("CREATE TABLE t (a)")
    try connection.transaction { try connection.run("INSERT INTO t VALUES (1)") }
    #expect(throws: Refusal.self) {
      try connection.transaction {
        try connection.run("INSERT INTO t VALUES (2)")
        throw Refusal()
      }
    }
    #expect(try connection.integer("SELECT count(*) FROM t") == 1)
    #expect(!connection.inTransaction)
  }

  @Test func `an error names the file and hides the statement`() throws {
    let connection = try make()
    let error = #expect(throws: SQLiteError.self) {
      try connection.run("SELECT a FROM nowhere WHERE secret = \("s3cr3t")")
    }
    #expect(error?.message == "no such table: nowhere")
    #expect(error?.description.contains(directory.file("a.db")) == true)
    #expect(error?.description.contains("s3cr3t") == false)
    let two = #expect(throws: SQLiteError.self) { try connection.prepare("SELECT 1; SELECT 2") }
    #expect(two?.message == "the text contains more than one statement")
  }

  @Test func `a closed connection throws, and its statements are harmless`() throws {
    let connection = try make()
    let statement = try connection.prepare("SELECT 1")
    connection.close()
    #expect(throws: SQLiteError.self) { try connection.run("SELECT 1") }
    #expect(try statement.step())
  }

  @Test func `a statement can be used while it is running`() throws {
    let connection = try make()
    try connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
    var pairs = 0
    try connection.rows("SELECT a FROM t") { _ in
      try connection.rows("SELECT a FROM t") { _ in pairs += 1 }
    }
    #expect(pairs == 4)
  }

  @Test func `reserved bytes are kept in the file`() throws {
    let connection = try make()
    try connection.reserveBytes(80)
    try connection.execute("CREATE TABLE t (a)")
    #expect(try connection.reservedBytes() == 80)
    connection.close()
    let again = try Connection(directory.file("a.db"), mode: .readOnly)
    #expect(try again.reservedBytes() == 80)
    #expect(throws: SQLiteError.self) { try again.run("INSERT INTO t VALUES (1)") }
  }

  @Test func `names that look like URIs are paths`() throws {
    for name in ["a b?c#d%e.db", "file:x.db"] {
      let connection = try Connection(directory.file(name), mode: .create)
      try connection.execute("CREATE TABLE t (a)")
      connection.close()
      let again = try Connection(directory.file(name), mode: .immutable)
      #expect(try again.integer("SELECT count(*) FROM t") == 0)
    }
  }

  @Test func `a held change is committed by the next transaction, even if that fails`() throws {
    struct Failure: Error {}
    let connection = try make()
    try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
    let other = try Connection(directory.file("a.db"), mode: .readOnly)
    func seen() throws -> [Int64] {
      try other.all("SELECT a FROM t ORDER BY a").compactMap { $0[0].integer }
    }
    func put(_ value: Int64) throws { try connection.run("INSERT INTO t VALUES (\(value))") }
    try connection.hold { try put(1) }
    #expect(throws: Failure.self) {
      try connection.hold {
        try put(2)
        throw Failure()
      }
    }
    try connection.hold { try put(3) }
    #expect(try seen() == [])
    try connection.transaction { try put(4) }
    #expect(try seen() == [1, 3, 4])
    try connection.hold { try put(5) }
    #expect(throws: Failure.self) {
      try connection.transaction {
        try put(6)
        throw Failure()
      }
    }
    #expect(try seen() == [1, 3, 4, 5])
    try connection.hold { try put(7) }
    try connection.keepHeld()
    try connection.keepHeld()
    #expect(try seen() == [1, 3, 4, 5, 7])
    #expect(throws: Failure.self) {
      try connection.hold {
        try put(8)
        throw Failure()
      }
    }
    try connection.transaction { try put(9) }
    #expect(try seen() == [1, 3, 4, 5, 7, 9])
  }
}
