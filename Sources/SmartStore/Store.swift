import JSON
import SQLite
import System

/// A SmartStore file: soups of JSON elements with indexes, in the layout of the Mobile SDK.
///
/// Only one task or thread may use a store at a time. Every write operation is all or nothing.
///
/// ```swift
/// let store = try Store(creating: path, platform: .android)
/// try store.registerSoup(
///   "accounts",
///   indexSpecs: [
///     IndexSpec(path: "Id", type: .string), IndexSpec(path: "Name", type: .fullText),
///     IndexSpec(path: "Employees", type: .integer),
///   ])
/// ```
public final class Store {
  /// The platform whose layout the file has.
  public let platform: Platform
  /// The path of the file.
  public let path: String

  /// The connection.
  ///
  /// Waits for a page that is being written in the background.
  package var connection: Connection {
    pageWrite?.wait()
    return ownConnection
  }
  private let ownConnection: Connection
  /// The page that a bulk load is writing in the background.
  var pageWrite: PageWrite?
  let layout: SchemaSQL
  /// The clock for `created` and `lastModified`, in milliseconds since 1970.
  package var clock: () -> Int64 = Clock.wallMilliseconds
  private var known: [String: Soup] = [:]
  /// The soups whose full-text tables contain remains of deleted words.
  private var wornFullText: Set<String> = []
  /// The SQL of Smart SQL that was checked to be read-only.
  var translations = BoundedCache<String, String>(limit: 64)
  /// Plans of earlier queries, for reuse.
  var plans = BoundedCache<QueryPlan.Shape, QueryPlan>(limit: 64)
  /// The plan of the last query.
  var latestPlan: QueryPlan?
  /// The soups between two steps of an alteration, in a read-only store: their tables do not match
  /// their elements.
  private var unreadable: Set<String> = []
  /// The soups whose elements were changed since this set was last emptied.
  var changedSoups: Set<String> = []
  /// Whether rows were removed, of which copies may be in unused bytes of the file.
  package var hasRemovedRows = false
  /// The lock that every change acquires if the file is shared; nil for a store with one owner.
  var lock: StoreLock?
  /// The lock of a change that lasts longer than a call.
  var heldLock: FileLock?
  /// SQLite's version number of the file, which changes when others write to it.
  var version: Int64?
  /// The status of an untrusted file when it was found sound.
  package internal(set) var proof: FileStatus?
  /// The number of running bulk loads without a journal.
  var looseLoads = 0
  /// Whether the file is discarded unless its creator completes it, so that no one else reads it.
  package internal(set) var isDisposable = false
  /// Whether records of a disposable file were lost, so that it must be discarded.
  package internal(set) var isSpoiled = false

  /// Creates a store in a file that does not exist yet or is empty.
  public convenience init(creating path: String, platform: Platform) throws(StoreError) {
    self.init(try Self.create(path, platform), platform: platform)
  }

  /// Creates the tables of a store in a file that does not exist yet or is empty.
  static func create(
    _ path: String, _ platform: Platform, isDisposable: Bool = false
  ) throws(StoreError) -> Connection {
    try StoreError.mapping {
      let connection = try Connection(path, mode: .create)
      guard try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 else {
        throw StoreError.notAStore(
          path: path, reason: "a new store was to be created, but the file has tables")
      }
      try connection.reserveBytes(StorePages.reservedBytes)
      try connection.execute(
        """
        PRAGMA page_size = \(StorePages.size); PRAGMA encoding = 'UTF-8';
        PRAGMA auto_vacuum = NONE; PRAGMA journal_mode = DELETE; PRAGMA secure_delete = ON;
        PRAGMA synchronous = \(isDisposable ? "OFF" : "FULL")
        """)
      try connection.transaction {
        for object in SchemaSQL(platform: platform).metaObjects {
          try connection.execute(object.sql)
        }
        try connection.execute("PRAGMA user_version = \(platform.userVersion)")
      }
      return connection
    }
  }

  /// Opens a store; its platform is determined from the file.
  ///
  /// An interrupted change of a soup is finished first. In a read-only store, such a soup cannot be
  /// queried if its tables are incomplete.
  public convenience init(opening path: String, readOnly: Bool = false) throws(StoreError) {
    let (connection, platform) = try StoreError.mapping {
      try StoreFileHeader.checkFiles(of: path)
      let connection = try Connection(path, mode: readOnly ? .readOnly : .readWrite)
      let platform = try Store.platform(of: connection)
      if !readOnly { try connection.execute("PRAGMA secure_delete = ON") }
      return (connection, platform)
    }
    self.init(connection, platform: platform)
    try StoreError.mapping {
      if readOnly {
        unreadable = try interruptedSoups()
      } else {
        try resumeLongOperations()
      }
    }
  }

  /// Opens a store that a device may have edited, for writing.
  ///
  /// Throws if SQLite would lose changes of the device, before it opens the file.
  package convenience init(edited path: String) throws(StoreError) {
    try StoreError.mapping {
      try StoreFileHeader.checkFiles(of: path)
      if let loss = try WriteAheadLog.loss(at: path) {
        throw StoreError.damaged(path: path, reason: loss)
      }
    }
    try self.init(opening: path)
  }

  /// Opens an untrusted file read-only, with all defenses.
  ///
  /// Throws if the file is damaged or its schema has anything that SmartStore does not create. If
  /// its device was interrupted while altering a soup, call `finishAlterations(untrusted:to:)`
  /// first. A `-wal` next to the file is not read.
  public convenience init(
    untrusted path: String, heapLimitMiB: Int? = nil, deadlineSeconds: Int? = nil
  ) throws(StoreError) {
    try self.init(
      untrusted: path, proof: nil,
      limits: .init(heapMiB: heapLimitMiB, deadlineSeconds: deadlineSeconds))
  }

  /// Opens an untrusted file again, with all defenses.
  ///
  /// `proof` is the status of the file when it was found sound. If the status has changed, the file
  /// is validated again.
  package convenience init(
    untrusted path: String, proof: FileStatus?, limits: Connection.HostileLimits = .init()
  ) throws(StoreError) {
    let (examined, connection) = try StoreError.mapping {
      let connection = try Connection.hostile(path, limits: limits)
      let examined = try Store.examined(connection, proof)
      if let alteration = examined.interrupted.first {
        throw StoreError.interrupted(path: path, soup: alteration.old.name)
      }
      return (examined, connection)
    }
    self.init(connection, platform: examined.platform)
    self.proof = examined.proof
  }

  package init(_ connection: Connection, platform: Platform) {
    ownConnection = connection
    self.platform = platform
    path = connection.path
    layout = SchemaSQL(platform: platform)
  }

  /// The platform whose layout a file has.
  ///
  /// Android's extra index decides, not `user_version`: exporting through SQLCipher resets that.
  static func platform(of connection: Connection) throws -> Platform {
    let names = Set(try connection.texts("SELECT name FROM sqlite_schema"))
    for name in ["soup_index_map", "soup_attrs"] where !names.contains(name) {
      throw StoreError.notAStore(path: connection.path, reason: "it has no table \(name)")
    }
    let version = try connection.integer("PRAGMA user_version")
    return names.contains("soup_index_map_0") || version == 3 ? .android : .ios
  }

  /// Runs `body` as one change, committed when it returns and rolled back when it throws; may be
  /// nested.
  public func transaction<T>(_ body: () throws -> T) throws -> T {
    let isNested = connection.inTransaction
    let lock = isNested ? nil : try takeLock()
    defer { lock?.close() }
    do {
      return try isNested ? connection.part(body) : connection.transaction(body)
    } catch {
      forgetSoups()
      throw error
    }
  }

  /// Moves the content of a `-wal` into the file and sets rollback-journal mode.
  public func checkpoint() throws(StoreError) {
    try StoreError.mapping {
      try optimizeFullText()
      if try connection.text("PRAGMA journal_mode") == "wal" {
        try connection.checkpointTruncate()
        try connection.execute("PRAGMA journal_mode = DELETE")
      }
    }
  }

  /// Closes the store.
  ///
  /// Afterwards, deleted data is gone from the file's bytes.
  public func close() throws(StoreError) {
    defer {
      forgetQueries()
      connection.close()
    }
    if wornFullText.isEmpty, !hasRemovedRows { return }
    let lock = try takeLock()
    defer { lock?.close() }
    try StoreError.mapping {
      try optimizeFullText()
      if hasRemovedRows { try clearUnusedBytes() }
    }
  }

  /// Clears the unused bytes of a file without a `-wal`, while no one can write it.
  private func clearUnusedBytes() throws {
    guard !connection.inTransaction, try connection.text("PRAGMA journal_mode") != "wal" else {
      return
    }
    try connection.transaction {
      let roots = try connection.all("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0")
      try UnusedBytes(path).clear(trees: [1] + roots.compactMap { $0[0].integer.map { Int($0) } })
    }
  }

  /// Rewrites full-text tables with remains of deleted words, which FTS5 only marks as deleted.
  func optimizeFullText() throws {
    for name in wornFullText.sorted() {
      guard let soup = try self.find(name), soup.hasFullText else { continue }
      let table = SQL.quoted(name: soup.fullTextTable)
      try connection.execute("INSERT INTO \(table)(\(table)) VALUES ('optimize')")
    }
    wornFullText = []
  }

  /// Records that words of a soup were deleted.
  package func markFullTextStale(_ soup: Soup) {
    if soup.hasFullText { wornFullText.insert(soup.name) }
  }

  // MARK: the meta tables

  /// The soup with a name; throws if it is not registered.
  package func soup(_ name: String) throws -> Soup {
    guard let soup = try findReadable(name) else { throw StoreError.unknownSoup(name) }
    return soup
  }

  /// The soup with a name, if registered; throws if it cannot be queried.
  func findReadable(_ name: String) throws -> Soup? {
    guard !unreadable.contains(name) else {
      throw StoreError.interrupted(path: path, soup: name)
    }
    return try find(name)
  }

  /// The soup with a name, if registered.
  package func find(_ name: String) throws -> Soup? {
    if let soup = known[name] { return soup }
    guard
      let number = try connection.integer("SELECT id FROM soup_attrs WHERE soupName = \(name)")
    else { return nil }
    let soup = try read(name, number)
    known[name] = soup
    return soup
  }

  /// Discards the cached description of a soup.
  func forget(_ name: String) {
    known[name] = nil
    forgetQueries()
  }

  /// Discards the cached descriptions of all soups, as others may have changed the file.
  func forgetSoups() {
    known = [:]
    forgetQueries()
  }

  /// The meaning of Smart SQL depends on the soups and their indexes.
  private func forgetQueries() {
    translations.removeAll()
    plans.removeAll()
    latestPlan = nil
  }

  /// Reads the specs in their physical order, as both SDKs do.
  private func read(_ name: String, _ number: Int64) throws -> Soup {
    let rows = try connection.all(
      "SELECT path, columnName, columnType FROM soup_index_map WHERE soupName = \(name)")
    var specs: [IndexSpec] = []
    var columns: [String] = []
    for row in rows {
      guard let path = row[0].text, let column = row[1].text, let typeName = row[2].text,
        let type = IndexType(stored: typeName, on: platform)
      else {
        throw StoreError.damaged(
          path: self.path, reason: "soup \"\(name)\" has an index of an unknown type")
      }
      let spec = IndexSpec(path: path, type: type)
      // The text becomes part of SQL: only names that SmartStore generates are allowed.
      guard column == SchemaSQL.column(SchemaSQL.table(number), specs.count, spec) else {
        throw StoreError.damaged(
          path: self.path,
          reason:
            "index \(specs.count) of soup \"\(name)\" has a column that SmartStore never creates")
      }
      specs.append(spec)
      columns.append(column)
    }
    return Soup(name: name, number: number, specs: specs, columnNames: columns)
  }
}
