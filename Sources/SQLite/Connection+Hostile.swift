import CSQLite

extension Connection {
  /// The resource limits of a connection to an untrusted file.
  package struct HostileLimits: Sendable {
    /// The memory that SQLite may allocate on the thread that opens the file, in addition to its
    /// earlier allocations.
    package var heapMiB: Int
    /// The time that statements may take, counted from the opening.
    package var deadlineSeconds: Int
    /// The maximum length of a text, blob or row.
    package var lengthBytes: Int32

    /// Creates limits.
    ///
    /// The defaults, used for nil, allow every store that a device can create.
    package init(
      heapMiB: Int? = nil, deadlineSeconds: Int? = nil, lengthBytes: Int32 = 32 << 20
    ) {
      self.heapMiB = heapMiB ?? 256
      self.deadlineSeconds = deadlineSeconds ?? 60
      self.lengthBytes = lengthBytes
    }
  }

  /// Opens an untrusted file read-only, with all defenses that SQLite has.
  ///
  /// The last path component must not be a symbolic link. Schema code with side effects,
  /// extensions, tokenizers defined in SQL, double-quoted strings and memory mapping are disabled.
  /// Cell sizes are checked, limits are small, only SELECT and harmless pragmas are allowed, and
  /// there are a heap limit and a deadline.
  ///
  /// A `-wal` next to the file is not read: call `foldLog` on a private copy first. If `image` has
  /// the bytes of the file, they are read in place instead of the file. The image must stay valid
  /// until the connection is closed, followed by `imageMargin` readable bytes for a cell at the end
  /// that declares a wrong length. Use the connection on one thread only.
  package static func hostile(
    _ path: String, image: UnsafeMutableRawBufferPointer? = nil,
    limits: HostileLimits = HostileLimits()
  ) throws(SQLiteError) -> Connection {
    let connection = try openGuarded(path, image: image, limits: limits, writing: false)
    try connection.execute("PRAGMA query_only = ON")
    connection.authorize(writingLog: false)
    return connection
  }

  /// Checkpoints the `-wal` of a **private copy** of an untrusted file, and leaves only the file,
  /// in rollback-journal mode.
  package static func foldLog(
    untrusted path: String, limits: HostileLimits = HostileLimits()
  ) throws(SQLiteError) {
    let connection = try openGuarded(path, limits: limits, writing: true)
    defer { connection.close() }
    connection.authorize(writingLog: true)
    if try connection.text("PRAGMA journal_mode") == "wal" { try connection.checkpointTruncate() }
    let mode = try connection.text("PRAGMA journal_mode = DELETE")
    guard mode == "delete" else {
      throw SQLiteError(
        code: SQLITE_BUSY, message: "the write-ahead log could not be checkpointed", path: path)
    }
  }

  /// The number of bytes after an image: the size of the largest page.
  package static let imageMargin = 1 << 16

  /// The structural faults of the file, in SQLite's wording; empty if it is sound.
  package func quickCheck(limit: Int = 20) throws(SQLiteError) -> [String] {
    let words = try texts("PRAGMA quick_check(\(raw: String(limit)))")
    return words == ["ok"] ? [] : words
  }

  /// Restarts the time limit of statements on an untrusted file.
  package func renewTime(_ limits: HostileLimits = HostileLimits()) throws(SQLiteError) {
    try limitTime(seconds: limits.deadlineSeconds)
  }

  private static func openGuarded(
    _ path: String, image: UnsafeMutableRawBufferPointer? = nil, limits: HostileLimits,
    writing: Bool
  ) throws(SQLiteError) -> Connection {
    let heap = HeapBudget(mebibytes: limits.heapMiB)
    let database: Database
    if let image {
      database = try Database(path: path, image: image)
    } else {
      database = try openFile(path, writing: writing)
    }
    let connection = Connection(database, busyMilliseconds: 0)
    connection.database.attachments.append(heap)
    try connection.defend(limits)
    // This maps no file. It makes SQLite use the pages in place instead of copying them.
    if let image { try connection.execute("PRAGMA mmap_size = \(image.count)") }
    return connection
  }

  private static func openFile(
    _ path: String, writing: Bool
  ) throws(SQLiteError) -> Database {
    // NOFOLLOW rejects a link anywhere in the path. The directories above the file are chosen by
    // attache, so they are resolved first.
    let resolved = resolvingDirectory(of: path)
    return writing
      ? try Database(
        path: path, opening: plain(resolved), flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW)
      : try Database(
        path: path, opening: immutableAddress(resolved),
        flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_URI)
  }

  private static func resolvingDirectory(of path: String) -> String {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    guard let real = attache_real_path(directory) else { return path }
    defer { attache_free(real) }
    let resolved = String(cString: real)
    return resolved == "/" ? "/" + name : resolved + "/" + name
  }

  private func defend(_ limits: HostileLimits) throws(SQLiteError) {
    guard let handle = database.handle else { throw database.failure(SQLITE_MISUSE) }
    let switches: [(Int32, Int32)] = [
      (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
      (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), (SQLITE_DBCONFIG_ENABLE_VIEW, 0),
      (SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
      (SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0), (SQLITE_DBCONFIG_DQS_DDL, 0),
      (SQLITE_DBCONFIG_DQS_DML, 0), (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1),
    ]
    for (option, on) in switches {
      try database.check(attache_sqlite3_db_config(handle, option, on))
    }
    let ceilings: [(Int32, Int32)] = [
      (SQLITE_LIMIT_LENGTH, limits.lengthBytes), (SQLITE_LIMIT_SQL_LENGTH, 100_000),
      (SQLITE_LIMIT_COLUMN, 256), (SQLITE_LIMIT_EXPR_DEPTH, 32),
      (SQLITE_LIMIT_COMPOUND_SELECT, 3), (SQLITE_LIMIT_VDBE_OP, 25_000),
      (SQLITE_LIMIT_FUNCTION_ARG, 16), (SQLITE_LIMIT_ATTACHED, 0),
      (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000), (SQLITE_LIMIT_VARIABLE_NUMBER, 32_766),
      (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]
    for (kind, most) in ceilings { sqlite3_limit(handle, kind, most) }
    try limitTime(seconds: limits.deadlineSeconds)
    try execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0")
    try readSchema(handle)
  }

  /// Reads the schema, so that a file that is not a database is rejected here.
  ///
  /// SQLite before 3.41 considers its own JSON functions unsafe, and a store may have indexes on
  /// them. Only in that case is the schema trusted, if it names no function with side effects.
  /// Reading a schema executes nothing.
  private func readSchema(_ handle: OpaquePointer) throws(SQLiteError) {
    let count: SQL = "SELECT count(*) FROM sqlite_schema"
    do {
      _ = try integer(count)
    } catch {
      guard error.message.contains("unsafe use of json_extract()") else { throw error }
      try database.check(attache_sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1))
      _ = try integer(count)
      for name in functionsWithEffects {
        let uses: SQL = """
          SELECT count(*) FROM sqlite_schema WHERE instr(lower(sql), \(name)) > 0
          """
        guard try integer(uses) == 0 else {
          throw SQLiteError(
            code: SQLITE_AUTH, message: "the schema uses \(name)", path: path)
        }
      }
    }
  }

  private func authorize(writingLog: Bool) {
    guard let handle = database.handle else { return }
    if writingLog {
      sqlite3_set_authorizer(handle, permitLog, nil)
    } else {
      sqlite3_set_authorizer(handle, permitReading, nil)
    }
  }
}

/// Functions with side effects, in SQLite or in common extensions, in the form in which a schema is
/// searched for them.
///
/// Names that are also words include their parenthesis.
private let functionsWithEffects = [
  "load_extension", "fts3_tokenizer", "readfile", "writefile", "zipfile", "fsdir", "sqlar",
  "rtreecheck", "sqlite_dbpage", "edit(", "shell(",
]

/// Pragmas that only read.
///
/// FTS5 uses `data_version`.
private let readingPragmas: Set<String> = [
  "quick_check", "integrity_check", "table_info", "table_xinfo", "table_list", "index_list",
  "index_info", "index_xinfo", "user_version", "application_id", "page_count", "page_size",
  "freelist_count", "encoding", "data_version", "journal_mode", "schema_version",
]

private func permitReading(
  _ context: UnsafeMutableRawPointer?, _ action: Int32, _ first: UnsafePointer<CChar>?,
  _ second: UnsafePointer<CChar>?, _ database: UnsafePointer<CChar>?,
  _ trigger: UnsafePointer<CChar>?
) -> Int32 {
  switch action {
  case SQLITE_SELECT, SQLITE_READ: return SQLITE_OK
  case SQLITE_FUNCTION:
    let name = second.map { String(cString: $0).lowercased() } ?? ""
    let isRefused = functionsWithEffects.contains { $0 == name || $0 == name + "(" }
    return isRefused ? SQLITE_DENY : SQLITE_OK
  case SQLITE_PRAGMA:
    let name = first.map { String(cString: $0).lowercased() } ?? ""
    let setsMode = name == "journal_mode" && second != nil
    return readingPragmas.contains(name) && !setsMode ? SQLITE_OK : SQLITE_DENY
  default: return SQLITE_DENY
  }
}

private func permitLog(
  _ context: UnsafeMutableRawPointer?, _ action: Int32, _ first: UnsafePointer<CChar>?,
  _ second: UnsafePointer<CChar>?, _ database: UnsafePointer<CChar>?,
  _ trigger: UnsafePointer<CChar>?
) -> Int32 {
  let name = first.map { String(cString: $0).lowercased() } ?? ""
  let known = action == SQLITE_PRAGMA && ["wal_checkpoint", "journal_mode"].contains(name)
  return known ? SQLITE_OK : SQLITE_DENY
}
