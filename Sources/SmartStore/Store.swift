import JSON
import SQLite
import System

/// One SmartStore file: soups of JSON elements with indexes, as the Mobile SDK lays them out.
///
/// A store is owned by one task or thread at a time. Every operation that writes is all or nothing.
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
  /// The file's path.
  public let path: String

  /// The connection; a page that is being written in the background is waited for.
  package var connection: Connection {
    pageWrite?.wait()
    return ownConnection
  }
  private let ownConnection: Connection
  /// The page that a bulk load writes in the background.
  var pageWrite: PageWrite?
  let layout: SchemaSQL
  /// What `created` and `lastModified` become: milliseconds since 1970.
  package var clock: () -> Int64 = Clock.wallMilliseconds
  private var known: [String: Soup] = [:]
  /// Soups whose full-text tables hold remains of deleted words.
  private var wornFullText: Set<String> = []
  /// Smart SQL beside its SQL, which was found to do nothing but read.
  var translations = BoundedCache<String, String>(limit: 64)
  /// Queries that were asked, ready to be asked again.
  var plans = BoundedCache<QueryPlan.Shape, QueryPlan>(limit: 64)
  /// The plan of the last query.
  var latestPlan: QueryPlan?
  /// Soups between two steps of an alteration, in a store that is only read: their tables do not
  /// answer what their elements say.
  private var unreadable: Set<String> = []
  /// The soups whose elements were changed since somebody emptied this.
  var changedSoups: Set<String> = []
  /// What every change takes where others share the file; nil for a store of one owner.
  var lock: StoreLock?
  /// The lock of a change that lasts longer than a call.
  var heldLock: FileLock?
  /// What SQLite says of the file when somebody else has changed it: another number.
  var version: Int64?
  /// What the file system said of a file from outside when it was found sound.
  package internal(set) var proof: FileStatus?
  /// Bulk loads under way that do without a journal.
  var looseLoads = 0

  /// Makes a new store in a file that does not exist yet, or is empty.
  public convenience init(creating path: String, platform: Platform) throws(StoreError) {
    let connection = try StoreError.mapping {
      let connection = try Connection(path, mode: .create)
      guard try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 else {
        throw StoreError.notAStore(
          path: path, reason: "a new store was to be made and it has tables")
      }
      try connection.reserveBytes(StorePages.reservedBytes)
      try connection.execute(
        """
        PRAGMA page_size = \(StorePages.size); PRAGMA encoding = 'UTF-8';
        PRAGMA auto_vacuum = NONE; PRAGMA journal_mode = DELETE; PRAGMA secure_delete = ON
        """)
      try connection.transaction {
        for object in SchemaSQL(platform: platform).metaObjects {
          try connection.execute(object.sql)
        }
        try connection.execute("PRAGMA user_version = \(platform.userVersion)")
      }
      return connection
    }
    self.init(connection, platform: platform)
  }

  /// Opens a store; its platform is read from the file.
  ///
  /// A change of a soup that was interrupted is finished first. In a store that is only to be read such
  /// a soup cannot be asked, where its tables do not have the answer.
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

  /// Opens a file that came from outside, for reading only, with every defence on.
  ///
  /// Throws when the file is damaged or its schema holds anything that SmartStore does not make; one
  /// whose device was interrupted in altering a soup is first finished by
  /// `finishAlterations(untrusted:to:)`. A `-wal` beside it is not read.
  public convenience init(
    untrusted path: String, heapLimitMiB: Int? = nil, deadlineSeconds: Int? = nil
  ) throws(StoreError) {
    try self.init(
      untrusted: path, proof: nil,
      limits: .init(heapMiB: heapLimitMiB, deadlineSeconds: deadlineSeconds))
  }

  /// Opens a file from outside once more, with every defence on.
  ///
  /// `proof` is what the file system said of it when it was found sound; unless it says the same still, the file is
  /// proved again.
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

  /// Says which platform's layout a file has.
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

  /// Runs `body` as one change, kept when it returns, undone when it throws; it can be nested.
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

  /// Moves everything from a `-wal` into the file and leaves it in rollback-journal mode.
  public func checkpoint() throws(StoreError) {
    try StoreError.mapping {
      try optimizeFullText()
      if try connection.text("PRAGMA journal_mode") == "wal" {
        try connection.checkpointTruncate()
        try connection.execute("PRAGMA journal_mode = DELETE")
      }
    }
  }

  /// Closes the store; what was deleted is gone from the file's bytes afterwards.
  public func close() throws(StoreError) {
    defer {
      forgetQueries()
      connection.close()
    }
    if wornFullText.isEmpty { return }
    let lock = try takeLock()
    defer { lock?.close() }
    try StoreError.mapping { try optimizeFullText() }
  }

  /// Rewrites full-text tables that hold remains: FTS5 only marks deleted words as deleted.
  func optimizeFullText() throws {
    for name in wornFullText.sorted() {
      guard let soup = try self.find(name), soup.hasFullText else { continue }
      let table = SQL.quoted(name: soup.fullTextTable)
      try connection.execute("INSERT INTO \(table)(\(table)) VALUES ('optimize')")
    }
    wornFullText = []
  }

  /// Remembers that words of a soup were deleted.
  func markFullTextStale(_ soup: Soup) {
    if soup.hasFullText { wornFullText.insert(soup.name) }
  }

  // MARK: the meta tables

  /// The soup of a name, or an error.
  package func soup(_ name: String) throws -> Soup {
    guard let soup = try findReadable(name) else { throw StoreError.unknownSoup(name) }
    return soup
  }

  /// The soup of a name, if it is registered; an error where it cannot be asked.
  func findReadable(_ name: String) throws -> Soup? {
    guard !unreadable.contains(name) else {
      throw StoreError.interrupted(path: path, soup: name)
    }
    return try find(name)
  }

  /// The soup of a name, if it is registered.
  package func find(_ name: String) throws -> Soup? {
    if let soup = known[name] { return soup }
    guard
      let number = try connection.integer("SELECT id FROM soup_attrs WHERE soupName = \(name)")
    else { return nil }
    let soup = try read(name, number)
    known[name] = soup
    return soup
  }

  /// Forgets what was read of a soup.
  func forget(_ name: String) {
    known[name] = nil
    forgetQueries()
  }

  /// Forgets what was read of all soups, when the file may have been changed beside this store.
  func forgetSoups() {
    known = [:]
    forgetQueries()
  }

  /// What Smart SQL means depends on the soups and their indexes.
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
      // The text goes into SQL: only what SmartStore itself would have written may.
      guard column == SchemaSQL.column(SchemaSQL.table(number), specs.count, spec) else {
        throw StoreError.damaged(
          path: self.path,
          reason:
            "index \(specs.count) of soup \"\(name)\" has a column that SmartStore never makes")
      }
      specs.append(spec)
      columns.append(column)
    }
    return Soup(name: name, number: number, specs: specs, columnNames: columns)
  }
}
