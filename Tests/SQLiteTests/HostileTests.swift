import Foundation
import SQLite
import Synchronization
import TestSupport
import Testing

// Serialized, as the heap limit applies to the whole process.
@Suite(.serialized) struct HostileTests {
  let directory = TemporaryDirectory()

  func make(_ sql: String) throws -> String {
    let path = directory.file("\(UUID().uuidString).db")
    let connection = try Connection(path, mode: .create)
    try connection.execute(sql)
    connection.close()
    return path
  }

  @Test func `a sound file is read and passes the check`() throws {
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
  func `everything except plain reading is rejected`(_ sql: String) throws {
    let path = try make("CREATE TABLE t (a); CREATE VIEW v AS SELECT 1")
    let connection = try Connection.hostile(path)
    #expect(throws: SQLiteError.self) { try connection.all(SQL(sql)) }
    #expect(try connection.integer("SELECT count(*) FROM t") == 0)
  }

  @Test func `an index on JSON is readable, one on a function with side effects is not`() throws {
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

  @Test func `a row longer than the limit is rejected, and a shorter one is read`() throws {
    let path = try make("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(5000))")
    for (limit, isRead) in [(Int32(4999), false), (6000, true)] {
      let connection = try Connection.hostile(path, limits: .init(lengthBytes: limit))
      let read = Result { try connection.integer("SELECT length(substr(a, 1)) FROM t") }
      #expect(((try? read.get()) == 5000) == isRead, "\(limit): \(read)")
    }
    // Content that a device can create is accepted.
    let whole = try Connection.hostile(path)
    #expect(try whole.integer("SELECT length(zeroblob(32 << 20))") == 32 << 20)
    #expect(throws: SQLiteError.self) {
      try whole.integer("SELECT length(substr(zeroblob((32 << 20) + 1), 1))")
    }
  }

  @Test func `an endless statement is interrupted`() throws {
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

  @Test func `the heap limit ends with the connection`() async {
    // SQLite has one heap limit per process, so this test needs its own process.
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      let path = try Self.heapFile(in: directory)
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

  private static func heapFile(in directory: TemporaryDirectory) throws -> String {
    let path = directory.file("heap.db")
    let made = try Connection(path, mode: .create)
    try made.execute("CREATE TABLE t (a)")
    made.close()
    return path
  }

  /// A statement that needs 30 MB of SQLite's memory.
  private static var large: SQL { "SELECT length(zeroblob(30000000) || 'x')" }

  @Test func `the memory limit of one thread does not affect another`() async {
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      let path = try Self.heapFile(in: directory)
      let large = Self.large
      let greedy = try Connection.hostile(path, limits: .init(heapMiB: 4))
      #expect(throws: SQLiteError.self) { try greedy.all(large) }
      // Another untrusted file, and a trusted connection, on separate threads.
      let trouble = Mutex<[String]>([])
      let others = [true, false].map { isHostile in
        Thread {
          do {
            let other =
              isHostile
              ? try Connection.hostile(path, limits: .init(heapMiB: 200)) : try Connection(path)
            for _ in 0..<3 where try other.integer(large) == nil {
              trouble.withLock { $0.append("no answer") }
            }
            other.close()
          } catch { trouble.withLock { $0.append("\(error)") } }
        }
      }
      for other in others { other.start() }
      while !others.allSatisfy(\.isFinished) {
        #expect(throws: SQLiteError.self) { try greedy.all(large) }
      }
      #expect(trouble.withLock { $0 } == [])
      greedy.close()
    }
  }

  @Test func `two files open on a thread share the larger budget`() async {
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      let path = try Self.heapFile(in: directory)
      let large = Self.large
      var small: Connection? = try Connection.hostile(path, limits: .init(heapMiB: 4))
      do {
        let roomy = try Connection.hostile(path, limits: .init(heapMiB: 200))
        #expect(try roomy.integer(large) != nil)
        roomy.close()
      }
      #expect(try small?.integer("SELECT count(*) FROM t") == 0)
      small?.close()
      small = nil
      // Their memory was released with them.
      let again = try Connection.hostile(path, limits: .init(heapMiB: 4))
      #expect(throws: SQLiteError.self) { try again.all(large) }
    }
  }

  @Test(arguments: [false, true]) func `an image is read like its file`(_ hasLog: Bool) throws {
    let path = directory.file("image.db")
    let made = try Connection(path, mode: .create)
    if hasLog { #expect(try made.text("PRAGMA journal_mode = WAL") == "wal") }
    try made.execute("CREATE TABLE t (a); CREATE INDEX i ON t (a)")
    for number in 0..<2000 { try made.run("INSERT INTO t VALUES (\(number))") }
    try made.checkpointTruncate()
    made.close()
    let content = [UInt8](try Data(contentsOf: URL(filePath: path)))
    #expect(content[18] == (hasLog ? 2 : 1))
    var bytes = content + [UInt8](repeating: 0, count: Connection.imageMargin)
    try bytes.withUnsafeMutableBytes { room in
      let image = UnsafeMutableRawBufferPointer(rebasing: room[..<content.count])
      let file = try Connection.hostile(path)
      let memory = try Connection.hostile(path, image: image)
      for connection in [file, memory] {
        #expect(connection.path == path)
        #expect(try connection.integer("SELECT sum(a) FROM t") == 1_999_000)
        #expect(try connection.quickCheck().isEmpty)
        #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO t VALUES (1)") }
        #expect(throws: SQLiteError.self) { try connection.execute("PRAGMA query_only = OFF") }
      }
      memory.close()
      // If a page is changed, both report the same message.
      for place in stride(from: 4096 * 2, to: 4096 * 3, by: 8) { image[place] = 0xFF }
      try Data(image).write(to: URL(filePath: path))
      let words = try Connection.hostile(path).quickCheck()
      #expect(!words.isEmpty)
      #expect(try Connection.hostile(path, image: image).quickCheck() == words)
      for count in [4096 * 3, 4096 + 100, 100] {
        let part = UnsafeMutableRawBufferPointer(rebasing: image[..<count])
        try Data(part).write(to: URL(filePath: path))
        // Neither is sound, whatever the message.
        for image in [nil, part] {
          let words = try? Connection.hostile(path, image: image).quickCheck()
          #expect(words != [], "\(count) bytes, from memory: \(image != nil)")
        }
      }
    }
  }

  @Test func `a link, a directory and plain text are rejected`() throws {
    let path = try make("CREATE TABLE t (a)")
    let link = directory.file("link.db")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    #expect(throws: SQLiteError.self) { try Connection.hostile(link) }
    #expect(throws: SQLiteError.self) { try Connection.hostile(directory.path) }
    let text = directory.file("text.db")
    try Data("this is a letter, not a database".utf8).write(to: URL(filePath: text))
    let error = #expect(throws: SQLiteError.self) { try Connection.hostile(text) }
    #expect(error?.isDamage == true)
  }

  @Test func `a directory above the file may be a link`() throws {
    let path = try make("CREATE TABLE t (a)")
    let link = directory.file("directory-link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.path)
    let name = URL(filePath: path).lastPathComponent
    #expect(try Connection.hostile(link + "/" + name).integer("SELECT count(*) FROM t") == 0)
  }

  @Test func `a log is checkpointed into a private copy`() throws {
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
