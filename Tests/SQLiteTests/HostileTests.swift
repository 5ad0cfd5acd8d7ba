import Foundation
import TestSupport
import Testing

@testable import SQLite

// One after the other: the heap limit is one for the process.
@Suite(.serialized) struct HostileTests {
  let directory = TemporaryDirectory()

  func make(_ sql: String) throws -> String {
    let path = directory.file("\(UUID().uuidString).db")
    let connection = try Connection(path, mode: .create)
    try connection.execute(sql)
    connection.close()
    return path
  }

  @Test func `a sound file is read and its health told`() throws {
    let path = try make("CREATE TABLE t (a); INSERT INTO t VALUES ('x'), (NULL)")
    let connection = try Connection.hostile(path)
    #expect(try connection.integer("SELECT count(*) FROM t") == 2)
    #expect(try connection.quickCheck().isEmpty)
    #expect(try connection.all("PRAGMA table_xinfo(t)").count == 1)
    #expect(try connection.text("SELECT json_extract('{\"a\":\"b\"}', '$.a')") == "b")
  }

  @Test(arguments: [
    "INSERT INTO t VALUES (1)", "DELETE FROM t", "CREATE TABLE u (a)", "DROP TABLE t",
    "ATTACH DATABASE ':memory:' AS m", "PRAGMA writable_schema = ON", "PRAGMA journal_mode = WAL",
    "PRAGMA user_version = 9", "SELECT load_extension('x')", "SELECT fts3_tokenizer('simple')",
    "SELECT \"no such column\"", "SELECT * FROM v", "VACUUM", "BEGIN IMMEDIATE",
    "SELECT randomblob(1000000000)",
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT max(x) FROM c",
    "CREATE TEMP TABLE u (a)", "CREATE VIRTUAL TABLE f USING fts5(a)",
  ])
  func `everything but plain reading is refused`(_ sql: String) throws {
    let path = try make("CREATE TABLE t (a); CREATE VIEW v AS SELECT 1")
    let connection = try Connection.hostile(path)
    #expect(throws: SQLiteError.self) { try connection.all(SQL(sql)) }
    #expect(try connection.integer("SELECT count(*) FROM t") == 0)
  }

  @Test func `an index on JSON is read and a function with effects is not`() throws {
    let sound = try make(
      "CREATE TABLE t (a); CREATE INDEX i ON t ( json_extract(a, '$.x') ); "
        + "INSERT INTO t VALUES ('{\"x\":1}')")
    #expect(try Connection.hostile(sound).integer("SELECT json_extract(a, '$.x') FROM t") == 1)
    let evil = try make(
      "CREATE TABLE t (a, b DEFAULT 'Load_Extension'); "
        + "CREATE INDEX i ON t ( json_extract(a, '$.x') )")
    let error = #expect(throws: SQLiteError.self) { try Connection.hostile(evil) }
    #expect(error?.message == "the schema uses load_extension")
  }

  @Test func `a row that is longer than the limit is refused, and a shorter one is read`() throws {
    let path = try make("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(5000))")
    for (limit, isRead) in [(Int32(4999), false), (6000, true)] {
      let connection = try Connection.hostile(path, limits: .init(lengthBytes: limit))
      let read = Result { try connection.integer("SELECT length(substr(a, 1)) FROM t") }
      #expect(((try? read.get()) == 5000) == isRead, "\(limit): \(read)")
    }
    // What a device can make is let through, and no more.
    let whole = try Connection.hostile(path)
    #expect(try whole.integer("SELECT length(zeroblob(32 << 20))") == 32 << 20)
    #expect(throws: SQLiteError.self) {
      try whole.integer("SELECT length(substr(zeroblob((32 << 20) + 1), 1))")
    }
  }

  @Test func `a statement without an end is ended`() throws {
    let path = try make(
      "CREATE TABLE t (a); INSERT INTO t SELECT value FROM generate_series(1, 2)"
        .replacingOccurrences(
          of: "SELECT value FROM generate_series(1, 2)",
          with: "SELECT x FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c "
            + "WHERE x < 300) SELECT x FROM c)"))
    let limits = Connection.HostileLimits(deadlineSeconds: 0)
    let error = #expect(throws: SQLiteError.self) {
      let connection = try Connection.hostile(path, limits: limits)
      _ = try connection.integer("SELECT count(*) FROM t a, t b, t c, t d")
    }
    #expect(error?.isInterrupted == true)
  }

  @Test func `the heap has a ceiling that goes with the connection`() async {
    // SQLite has one ceiling for a process: this one has to be alone in its own.
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      let path = directory.file("heap.db")
      let made = try Connection(path, mode: .create)
      try made.execute("CREATE TABLE t (a)")
      made.close()
      do {
        let connection = try Connection.hostile(path, limits: .init(heapMiB: 4))
        let error = #expect(throws: SQLiteError.self) {
          try connection.all("SELECT length(zeroblob(30000000) || 'x')")
        }
        #expect(error?.primaryCode == 7)
        connection.close()
      }
      let plain = try Connection(path, mode: .readOnly)
      #expect(try plain.integer("SELECT length(zeroblob(30000000) || 'x')") != nil)
    }
  }

  @Test func `a link, a directory and plain text are refused`() throws {
    let path = try make("CREATE TABLE t (a)")
    let link = directory.file("link.db")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    #expect(throws: SQLiteError.self) { try Connection.hostile(link) }
    #expect(throws: SQLiteError.self) { try Connection.hostile(directory.path) }
    let text = directory.file("text.db")
    try Data("this is no database at all, it is a letter".utf8).write(to: URL(filePath: text))
    let error = #expect(throws: SQLiteError.self) { try Connection.hostile(text) }
    #expect(error?.isDamage == true)
  }

  @Test func `a directory above the file may be a link`() throws {
    let path = try make("CREATE TABLE t (a)")
    let link = directory.file("directory-link")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: directory.path)
    let name = URL(filePath: path).lastPathComponent
    #expect(try Connection.hostile(link + "/" + name).integer("SELECT count(*) FROM t") == 0)
  }

  @Test func `a log is folded into a private copy`() throws {
    let path = directory.file("w.db")
    let writer = try Connection(path, mode: .create)
    #expect(try writer.text("PRAGMA journal_mode = WAL") == "wal")
    try writer.execute("CREATE TABLE t (a); PRAGMA wal_checkpoint(TRUNCATE)")
    try writer.execute("INSERT INTO t VALUES ('only in the log')")
    let copy = directory.file("copy.db")
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    #expect(try Connection.hostile(copy).integer("SELECT count(*) FROM t") == 0)
    try Connection.foldLog(untrusted: copy)
    #expect(!FileManager.default.fileExists(atPath: copy + "-wal"))
    #expect(try Connection.hostile(copy).text("SELECT a FROM t") == "only in the log")
  }
}
