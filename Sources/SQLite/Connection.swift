import CSQLite

/// One connection to one database file, used by one task or thread at a time.
package final class Connection {
  /// What every database file begins with.
  package static let fileMagic = Array("SQLite format 3\0".utf8)

  /// How a file is opened.
  package enum Mode: Sendable {
    /// For reading and writing; made if it is not there.
    case create
    /// For reading and writing; it must be there.
    case readWrite
    /// For reading; beside writers.
    case readOnly
    /// For reading a file that nobody writes: no locks, and no `-wal` is looked at.
    case immutable
  }

  let database: Database
  /// Statements of `run`, `rows` and their like, ready to be used again.
  private var prepared: [String: Statement] = [:]
  /// More than a module uses; above it the lot is dropped, so that generated SQL cannot grow it.
  private static let preparedLimit = 64

  /// Whether a transaction is open that the next one ends.
  private var isHeld = false

  /// The file's path as given.
  package var path: String { database.path }

  /// Opens a file.
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

  /// Prepares a statement for many uses.
  package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    try Statement(database, sql, persistent: true)
  }

  /// Runs statements without bindings, separated by semicolons.
  package func execute(_ sql: String) throws(SQLiteError) {
    guard let handle = database.handle else { throw database.failure(SQLITE_MISUSE) }
    try database.check(sqlite3_exec(handle, sql, nil, nil, nil), sql: sql)
  }

  /// Runs `body` in a write transaction: kept when it returns, undone when it throws.
  ///
  /// What is held is kept with it, and also when it throws.
  package func transaction<T>(_ body: () throws -> T) throws -> T {
    if isHeld {
      let result = Result { try part(body) }
      try keepHeld()
      return try result.get()
    }
    return try opening {
      let result = try body()
      try execute("COMMIT")
      return result
    }
  }

  /// Runs `body` as a part of a write transaction that the next one ends, or `keepHeld`; undone when it throws.
  ///
  /// Two that follow each other at once go to the disk as one. Until then nothing of it is there: the caller sees to it
  /// that it is before anything is waited for.
  package func hold<T>(_ body: () throws -> T) throws -> T {
    if isHeld { return try part(body) }
    let result = try opening(body)
    isHeld = true
    return result
  }

  /// Opens a write transaction for `body`, which is undone when it throws.
  private func opening<T>(_ body: () throws -> T) throws -> T {
    try execute("BEGIN IMMEDIATE")
    do {
      return try body()
    } catch {
      rollBack()
      throw error
    }
  }

  /// Keeps what is held, if anything is.
  package func keepHeld() throws(SQLiteError) {
    guard isHeld else { return }
    isHeld = false
    // The error of what came after has ended it all, and is thrown there.
    guard inTransaction else { return }
    do throws(SQLiteError) {
      try execute("COMMIT")
    } catch {
      rollBack()
      throw error
    }
  }

  /// Runs `body` as a part of the transaction that is open; it alone is undone when it throws.
  package func part<T>(_ body: () throws -> T) throws -> T {
    try execute("SAVEPOINT part")
    do {
      let result = try body()
      try execute("RELEASE part")
      return result
    } catch {
      do {
        if inTransaction { try execute("ROLLBACK TO part; RELEASE part") }
      } catch {
        // Half of a part must not be kept with the rest.
        rollBack()
      }
      throw error
    }
  }

  private func rollBack() {
    // A full disk or a damaged page may have ended the transaction already.
    if inTransaction { try? execute("ROLLBACK") }
  }

  /// Reads many times in one transaction, or in the one that is open: each read alone would take the file's locks
  /// and give them back.
  package func reading<T>(_ body: () throws -> T) throws -> T {
    if inTransaction { return try body() }
    try execute("BEGIN")
    defer { if inTransaction { try? execute("COMMIT") } }
    return try body()
  }

  /// Says whether a transaction is open.
  package var inTransaction: Bool {
    database.handle.map { sqlite3_get_autocommit($0) == 0 } ?? false
  }

  /// The rowid of the last insert.
  package var lastInsertRowID: Int64 {
    database.handle.map { sqlite3_last_insert_rowid($0) } ?? 0
  }

  /// The rows that the last statement changed.
  package var changes: Int { database.handle.map { Int(sqlite3_changes64($0)) } ?? 0 }

  /// Reserves bytes at the end of each page; only of a file that has no page yet, or before VACUUM.
  package func reserveBytes(_ count: Int32) throws(SQLiteError) {
    guard let handle = database.handle else { throw database.failure(SQLITE_MISUSE) }
    var count = count
    try database.check(sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &count))
  }

  /// The bytes reserved at the end of each page.
  package func reservedBytes() throws(SQLiteError) -> Int32 {
    guard let handle = database.handle else { throw database.failure(SQLITE_MISUSE) }
    var count: Int32 = -1
    try database.check(sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &count))
    return count
  }

  /// Moves everything from the `-wal` into the file and empties the `-wal`.
  package func checkpointTruncate() throws(SQLiteError) {
    let answer = try first("PRAGMA wal_checkpoint(TRUNCATE)")
    if answer?.first?.integer == 1 {
      throw SQLiteError(
        code: SQLITE_BUSY, message: "the write-ahead log is in use and was not folded in",
        path: path)
    }
  }

  /// Ends what runs on this connection as soon as it can, with `SQLITE_INTERRUPT`.
  package func interrupt() {
    if let handle = database.handle { sqlite3_interrupt(handle) }
  }

  // MARK: prepared statements

  /// Drops the statements that are kept ready: a table whose columns changed gives other rows for the
  /// same text.
  package func forgetStatements() { prepared.removeAll() }

  /// Hands out a statement of this text for the time of `body`.
  func withStatement<T>(_ sql: SQL, _ body: (Statement) throws -> T) throws -> T {
    let statement = try take(sql)
    defer { give(back: statement) }
    return try body(statement)
  }

  /// A statement of this text, bound; while it is out, nested use gets another.
  func take(_ sql: SQL) throws(SQLiteError) -> Statement {
    let statement = try ready(sql.text)
    try statement.bind(sql.bindings)
    statement.isOut = true
    return statement
  }

  /// A statement of this text, to be bound.
  func take(_ text: String) throws(SQLiteError) -> Statement {
    let statement = try ready(text)
    statement.isOut = true
    return statement
  }

  private func ready(_ text: String) throws(SQLiteError) -> Statement {
    // The text is long, and looking it up costs as much as many a statement: once each time, and it stays there.
    let kept = prepared[text]
    if let kept, !kept.isOut { return kept }
    let statement = try Statement(database, text, persistent: true)
    if kept == nil {
      if prepared.count >= Self.preparedLimit { prepared.removeAll() }
      prepared[text] = statement
    }
    return statement
  }

  /// Makes a statement ready to be handed out again.
  func give(back statement: Statement) {
    statement.reset()
    statement.clearBindings()
    statement.isOut = false
  }

  // MARK: addresses

  /// A path that SQLite does not take for a URI (Debian's build reads `file:` as one).
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
