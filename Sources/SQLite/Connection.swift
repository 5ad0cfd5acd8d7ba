import CSQLite

/// A connection to a database file, used by one task or thread at a time.
package final class Connection {
  /// The first bytes of every database file.
  package static let fileMagic = Array("SQLite format 3\0".utf8)

  /// The mode in which a file is opened.
  package enum Mode: Sendable {
    /// Reading and writing; the file is created if it does not exist.
    case create
    /// Reading and writing; the file must exist.
    case readWrite
    /// Reading, concurrently with writers.
    case readOnly
    /// Reading a file that no one writes: no locks are taken, and a `-wal` is ignored.
    case immutable
  }

  let database: Database
  /// The prepared statements of `run`, `rows` and similar functions, kept for reuse.
  private var prepared: [String: Statement] = [:]
  /// More than a run needs of the ledger, which needs the most.
  ///
  /// Above this number all are discarded, so that generated SQL cannot grow the cache.
  private static let preparedLimit = 256

  /// Whether a transaction is open that the next one commits.
  private var isHeld = false

  /// The path of the file, as given.
  package var path: String { database.path }

  package convenience init(
    _ path: String, mode: Mode = .readWrite, busyMilliseconds: Int = 5000
  ) throws(SQLiteError) {
    let database: Database
    switch mode {
    case .create:
      database = try Database(
        path: path, opening: Self.plain(path), flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    case .readWrite:
      database = try Database(path: path, opening: Self.plain(path), flags: SQLITE_OPEN_READWRITE)
    case .readOnly:
      database = try Database(path: path, opening: Self.plain(path), flags: SQLITE_OPEN_READONLY)
    case .immutable:
      database = try Database(
        path: path, opening: Self.immutableAddress(path),
        flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
    }
    self.init(database, busyMilliseconds: busyMilliseconds)
  }

  init(_ database: Database, busyMilliseconds: Int) {
    self.database = database
    if let handle = database.handle {
      sqlite3_busy_timeout(handle, Int32(clamping: busyMilliseconds))
    }
  }

  /// Closes the connection; using it afterwards throws.
  package func close() {
    prepared.removeAll()
    database.close()
  }

  /// Prepares a statement for repeated use.
  package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    try Statement(database, sql, persistent: true)
  }

  /// Runs statements without bindings, separated by semicolons.
  package func execute(_ sql: String) throws(SQLiteError) {
    guard let handle = database.handle else { throw database.failure(SQLITE_MISUSE) }
    try database.check(sqlite3_exec(handle, sql, nil, nil, nil), sql: sql)
  }

  /// Runs `body` in a write transaction, which is rolled back if `body` throws.
  ///
  /// A transaction that `hold` left open is committed with it, or on its own if `body` throws.
  package func transaction<T>(_ body: () throws -> T) throws -> T {
    if isHeld {
      let result = Result { try part(body) }
      try keepHeld()
      return try result.get()
    }
    return try opening {
      let result = try body()
      try run("COMMIT")
      return result
    }
  }

  /// Runs `body` in a write transaction that the next one or `keepHeld` commits; it is rolled back
  /// if `body` throws.
  ///
  /// Two such transactions in a row are written to disk as one. Until then nothing is durable, so
  /// the caller must commit before it waits for anything.
  package func hold<T>(_ body: () throws -> T) throws -> T {
    if isHeld { return try part(body) }
    let result = try opening(body)
    isHeld = true
    return result
  }

  /// Opens a write transaction for `body`, which is rolled back if `body` throws.
  private func opening<T>(_ body: () throws -> T) throws -> T {
    try run("BEGIN IMMEDIATE")
    do {
      return try body()
    } catch {
      rollBack()
      throw error
    }
  }

  /// Commits the transaction that `hold` left open, if any.
  package func keepHeld() throws(SQLiteError) {
    guard isHeld else { return }
    isHeld = false
    // A later error has ended the transaction, and was thrown there.
    guard inTransaction else { return }
    do throws(SQLiteError) {
      try run("COMMIT")
    } catch {
      rollBack()
      throw error
    }
  }

  /// Runs `body` in a savepoint of the open transaction; only the savepoint is rolled back if
  /// `body` throws.
  package func part<T>(_ body: () throws -> T) throws -> T {
    try run("SAVEPOINT part")
    do {
      let result = try body()
      try run("RELEASE part")
      return result
    } catch {
      do {
        if inTransaction { try execute("ROLLBACK TO part; RELEASE part") }
      } catch {
        // A half-finished savepoint must not be committed with the rest.
        rollBack()
      }
      throw error
    }
  }

  private func rollBack() {
    // A full disk or a damaged page may have ended the transaction already.
    if inTransaction { try? execute("ROLLBACK") }
  }

  /// Runs several reads in one transaction, or in the open one, so that the file is locked only
  /// once.
  package func reading<T>(_ body: () throws -> T) throws -> T {
    if inTransaction { return try body() }
    try run("BEGIN")
    defer { if inTransaction { try? run("COMMIT") } }
    return try body()
  }

  /// Whether a transaction is open.
  package var inTransaction: Bool {
    database.handle.map { sqlite3_get_autocommit($0) == 0 } ?? false
  }

  package var lastInsertRowID: Int64 {
    database.handle.map { sqlite3_last_insert_rowid($0) } ?? 0
  }

  /// The number of rows that the last statement changed.
  package var changes: Int { database.handle.map { Int(sqlite3_changes64($0)) } ?? 0 }

  /// Reserves bytes at the end of each page.
  ///
  /// Only possible before the file has a page, or before VACUUM.
  package func reserveBytes(_ count: Int32) throws(SQLiteError) {
    guard let handle = database.handle else { throw database.failure(SQLITE_MISUSE) }
    var count = count
    try database.check(sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &count))
  }

  package func reservedBytes() throws(SQLiteError) -> Int32 {
    guard let handle = database.handle else { throw database.failure(SQLITE_MISUSE) }
    var count: Int32 = -1
    try database.check(sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &count))
    return count
  }

  /// Moves the content of the `-wal` into the file and truncates the `-wal`.
  package func checkpointTruncate() throws(SQLiteError) {
    let answer = try first("PRAGMA wal_checkpoint(TRUNCATE)")
    if answer?.first?.integer == 1 {
      throw SQLiteError(
        code: SQLITE_BUSY, message: "the write-ahead log is in use and was not checkpointed",
        path: path)
    }
  }

  /// Interrupts the running statement as soon as possible, with `SQLITE_INTERRUPT`.
  package func interrupt() {
    if let handle = database.handle { sqlite3_interrupt(handle) }
  }

  // MARK: prepared statements

  /// Discards the cached statements.
  ///
  /// If the columns of a table have changed, the same text gives other rows.
  package func forgetStatements() { prepared.removeAll() }

  /// Calls `body` with a statement for this text.
  func withStatement<T>(_ sql: SQL, _ body: (Statement) throws -> T) throws -> T {
    let statement = try take(sql)
    defer { give(back: statement) }
    return try body(statement)
  }

  /// Returns a bound statement for this text.
  ///
  /// While it is in use, nested calls get another one.
  func take(_ sql: SQL) throws(SQLiteError) -> Statement {
    let statement = try ready(sql.text)
    try statement.bind(sql.bindings)
    statement.isOut = true
    return statement
  }

  /// Returns a statement for this text, to be bound.
  func take(_ text: String) throws(SQLiteError) -> Statement {
    let statement = try ready(text)
    statement.isOut = true
    return statement
  }

  private func ready(_ text: String) throws(SQLiteError) -> Statement {
    // The text is long, and a lookup costs as much as many a statement. So it is looked up once per
    // call, and the statement stays in the cache.
    let kept = prepared[text]
    if let kept, !kept.isOut { return kept }
    let statement = try Statement(database, text, persistent: true)
    if kept == nil {
      if prepared.count >= Self.preparedLimit { prepared.removeAll() }
      prepared[text] = statement
    }
    return statement
  }

  /// Resets a statement for its next use.
  func give(back statement: Statement) {
    statement.reset()
    statement.clearBindings()
    statement.isOut = false
  }

  // MARK: paths

  /// The path in a form that SQLite does not take for a URI.
  ///
  /// Debian's build parses `file:` as one.
  package static func plain(_ path: String) -> String {
    path.hasPrefix("file:") ? "./" + path : path
  }

  /// The URI of a file that does not change.
  static func immutableAddress(_ path: String) -> String {
    var address = path.hasPrefix("/") ? "file://" : "file:"
    let hex = Array("0123456789ABCDEF".utf8)
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
        UInt8(ascii: "-"), UInt8(ascii: "_"):
        address.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        address.unicodeScalars.append("%")
        address.unicodeScalars.append(Unicode.Scalar(hex[Int(byte >> 4)]))
        address.unicodeScalars.append(Unicode.Scalar(hex[Int(byte & 15)]))
      }
    }
    return address + "?mode=ro&immutable=1"
  }
}
