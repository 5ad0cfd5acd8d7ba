import SQLite
import System

/// The org's file, with clock, sequences, shares and cursors in addition to its records.
final class OrgStore {
  let connection: Connection
  /// The objects as set up, with all permissions.
  private(set) var catalog = Catalog.standard
  /// The org's setup; `use` changes it.
  private(set) var setup = OrgSetup.none
  /// The catalogs as users see them, by the names of the profiles and permission sets that
  /// determine their rights.
  var views: [String: Catalog] = [:]
  /// The users for whom statements were planned, by ID, for the formulas in these statements.
  var asking: [String: OrgUser] = [:]
  /// The number of setups since the org was opened.
  private(set) var setups = 0
  /// The time of the last setup by the org's clock; 0 if there was none.
  private(set) var setUpAt: Int64 = 0
  /// The first user, who owns what the org itself does.
  static let administratorID = OrgID.make(prefix: "005", sequence: 1)
  private(set) var clock: OrgClock
  private var sequences: [String: Int64] = [:]
  private var depth = 0
  private var saved: (clock: OrgClock, sequences: [String: Int64])
  private var statements: [String: Statement] = [:]
  private var tables: [String: StoredObject] = [:]

  init(directory: String, clockStart: Int64?, hasOwnID: Bool = false) throws {
    try Files.makeDirectory(directory)
    connection = try Connection(directory + "/org.sqlite", mode: .create)
    clock = OrgClock(stepped: clockStart)
    saved = (clock, [:])
    // A killed process loses nothing that it committed; only a power failure could.
    try connection.execute(
      "PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL; PRAGMA cache_size=-65536;"
        + "PRAGMA temp_store=MEMORY;")
    for object in catalog.objects { tables[object.name] = StoredObject(object) }
    try addFormulaFunctions()
    try transaction {
      try makeTables()
      try restoreState(clockStart: clockStart)
      try adopt(keptSetup())
    }
    if try connection.integer("SELECT count(*) FROM \"o_Organization\"") == 0 {
      // An ID's sequence has nine base-62 digits.
      if hasOwnID { sequences["00D"] = Int64.random(in: 1..<(1 << 53)) }
      try transaction { try bootstrap() }
    }
  }

  private func makeTables() throws {
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS share (
        user TEXT NOT NULL, record TEXT NOT NULL, edit INTEGER NOT NULL, PRIMARY KEY (user, record)
      ) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS rule_error (rule TEXT PRIMARY KEY) WITHOUT ROWID;
      """)
    try Cursors.makeTables(connection)
    try RelayTokens.makeTables(connection)
    try RecentItems.makeTables(connection)
    try BulkJobs.makeTables(connection)
    try OrgStore.makeSetupTable(connection)
    try OrgStore.makeLockTable(connection)
    for table in tables.values {
      try connection.execute(table.creation)
      try addMissingColumns(table)
      for index in table.indexes { try connection.execute(index.creation) }
    }
  }

  /// Adds a column for a field that did not exist when the org was created.
  private func addMissingColumns(_ table: StoredObject) throws {
    let rows = try connection.all(
      "SELECT name FROM pragma_table_info(\("o_" + table.schema.name))")
    let known = Set(rows.compactMap { $0[0].text })
    for column in table.columns where !known.contains(column.name) {
      // A new checkbox of an existing record is not checked.
      let isFlag = table.schema.field(column.name)?.type == .boolean
      try connection.execute(
        "ALTER TABLE \(table.table) ADD COLUMN \(column.definition)\(isFlag ? " DEFAULT 0" : "")")
    }
  }

  /// Restores clock and sequences from the last process.
  private func restoreState(clockStart: Int64?) throws {
    for row in try connection.all("SELECT key, value FROM meta") {
      guard let key = row[0].text, let value = row[1].integer else { continue }
      if key == "clock" {
        if clockStart != nil { clock.stepped = value }
      } else {
        sequences[key] = value
      }
    }
    saved = (clock, sequences)
  }

  // MARK: Transactions

  /// Runs `body` in a transaction, which may be nested.
  func transaction<T>(_ body: () throws -> T) throws -> T {
    let level = depth
    let before = (clock, sequences)
    try connection.run(SQL(level == 0 ? "BEGIN IMMEDIATE" : "SAVEPOINT level\(level)"))
    depth = level + 1
    do {
      let result = try body()
      depth = level
      if level == 0 { try saveState() }
      try connection.run(SQL(level == 0 ? "COMMIT" : "RELEASE level\(level)"))
      return result
    } catch {
      depth = level
      (clock, sequences) = before
      if level > 0 {
        try? connection.execute("ROLLBACK TO level\(level); RELEASE level\(level)")
      } else if connection.inTransaction {
        try? connection.execute("ROLLBACK")
      }
      throw error
    }
  }

  private func saveState() throws {
    if let now = clock.stepped, now != saved.clock.stepped { try save("clock", now) }
    for (key, value) in sequences where saved.sequences[key] != value { try save(key, value) }
    saved = (clock, sequences)
  }

  private func save(_ key: String, _ value: Int64) throws {
    let statement = try prepared("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)")
    try statement.bind(1, key)
    try statement.bind(2, value)
    try statement.execute()
  }

  // MARK: Statements and tables

  /// Returns a statement, which is cached.
  func prepared(_ sql: String) throws -> Statement {
    if let statement = statements[sql] {
      statement.reset()
      return statement
    }
    if statements.count > 400 { statements.removeAll() }
    let statement = try connection.prepare(sql)
    statements[sql] = statement
    return statement
  }

  func table(_ object: String) throws -> StoredObject {
    guard let schema = catalog.object(object), let table = tables[schema.name] else {
      throw OrgError.unknownObject(object)
    }
    return table
  }

  // MARK: Time and IDs

  /// Returns the time of the next record written.
  func tick() -> Int64 { clock.tick() }

  /// Changes the clock persistently.
  func adjustClock(_ body: (inout OrgClock) -> Void) throws {
    try transaction { body(&clock) }
  }

  /// Returns the next sequence number for a key prefix.
  func nextSequence(_ prefix: String) -> Int64 {
    let next = (sequences[prefix] ?? 0) + 1
    sequences[prefix] = next
    return next
  }

  /// Applies a setup from now on.
  func use(_ new: OrgSetup) throws {
    try adopt(new)
    setups += 1
    setUpAt = clock.now()
  }

  private func adopt(_ new: OrgSetup) throws {
    setup = new
    views = [:]
    catalog = new.catalog
    for object in catalog.objects {
      let table = StoredObject(object)
      tables[object.name] = table
      if object.fields.count != Catalog.standard.object(object.name)?.fields.count {
        try addMissingColumns(table)
      }
    }
  }

  var cursors: Cursors { Cursors(store: self) }

  func organizationID() throws -> String {
    guard let id = try connection.text("SELECT \"Id\" FROM \"o_Organization\"") else {
      throw OrgError.notFound
    }
    return id
  }
}
