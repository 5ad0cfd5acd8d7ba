import JSON
import SQLite

/// The ledger `state.sqlite`: what was issued, what was returned, and the outcome of every edit.
///
/// It has one writer at a time, which the run's lock ensures, and is used by one task on one
/// thread. Every transaction is on disk when its call returns (`synchronous = FULL`). The org's
/// answers are on disk before anything else is sent or awaited (`Connection.hold`).
package final class LedgerDatabase {
  package let connection: Connection
  /// The number of verdicts recorded since the ledger was opened.
  package internal(set) var verdictsGiven = 0

  package var path: String { connection.path }

  /// Opens the ledger at `path`; creates it if it does not exist, and converts it if an earlier
  /// version of the program wrote it.
  ///
  /// Only the holder of the run's lock may convert it (`isOfEarlierVersion`).
  package init(path: String) throws {
    do {
      connection = try Self.connect(path)
    } catch let error as SQLiteError where error.isFull {
      // On a full disk the only user of the file can still read it, because the log's index is held
      // in memory then.
      connection = try Self.connect(path, locking: "EXCLUSIVE")
    }
    try prepareSchema()
  }

  private static func connect(
    _ path: String, locking: String = "NORMAL"
  ) throws -> Connection {
    let connection = try Connection(path, mode: .create)
    // The log is checkpointed every 16 MiB, because a run changes the same pages repeatedly. The
    // page cache is large enough for a small ledger, and the same for a large one.
    try connection.execute(
      "PRAGMA locking_mode = \(locking);"
        + "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
        + "PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 4096;"
        + "PRAGMA cache_size = -4096")
    // A lack of disk space is detected here, because the pragmas may not touch the log.
    _ = try connection.integer("PRAGMA user_version")
    return connection
  }

  /// Checkpoints the log and closes the file.
  package func close() {
    try? connection.keepHeld()
    // A reader may hold the log; then the next opening checkpoints it.
    try? connection.checkpointTruncate()
    connection.close()
  }

  /// Whether opening the ledger converts it; false if there is none, or if it cannot be read.
  package static func isOfEarlierVersion(path: String) -> Bool {
    guard let connection = try? Connection(path, mode: .readOnly) else { return false }
    defer { connection.close() }
    let version = try? connection.integer("PRAGMA user_version")
    return version.map(LedgerConversion.isPossible) ?? false
  }

  private func prepareSchema() throws {
    let found = try connection.integer("PRAGMA user_version") ?? 0
    if found == LedgerSchema.version { return }
    if LedgerConversion.isPossible(from: found) {
      return try LedgerConversion.perform(on: self)
    }
    if found != 0 {
      throw LedgerError.unsupportedVersion(path: path, found: found, known: LedgerSchema.version)
    }
    try connection.transaction {
      // Another process that opened the file at the same time may have created the tables.
      if try connection.integer("PRAGMA user_version") == LedgerSchema.version { return }
      guard try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 else {
        throw LedgerError.notALedger(path: path)
      }
      try connection.execute(LedgerSchema.statements)
      try store(1, as: .epoch)
      try store(0, as: .runNumber)
      try connection.execute("PRAGMA user_version = \(LedgerSchema.version)")
    }
  }

  // MARK: meta

  /// The value of a note; nil if there is none.
  package func noted<Value>(_ note: LedgerNote<Value>) throws -> Value? {
    try connection.text("SELECT value FROM meta WHERE name = \(note.name)").flatMap(note.value)
  }

  /// Records the value of a note, unless the ledger has it.
  package func store<Value>(_ value: Value, as note: LedgerNote<Value>) throws {
    let text = note.text(value)
    try connection.run(
      """
      INSERT INTO meta (name, value) VALUES (\(note.name), \(text))
      ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value
      """)
  }

  /// The ledger's epoch, which each recovery increases.
  package var epoch: Int64 { get throws { try noted(.epoch) ?? 1 } }

  /// The number of the last run that was started.
  package var runNumber: Int64 { get throws { try noted(.runNumber) ?? 0 } }

  /// The pipeline file of a ledger, and the pipeline's name at its last run; nil before the first
  /// run.
  ///
  /// Another process may be using the ledger, which is not changed.
  package static func owner(ofLedger path: String) throws -> (file: String?, pipeline: String?) {
    let connection = try Connection(path, mode: .readOnly)
    defer { connection.close() }
    return (
      try connection.text(
        "SELECT value FROM meta WHERE name = \(LedgerNote<String>.pipelineFile.name)"),
      try connection.text("SELECT pipeline FROM run ORDER BY number DESC LIMIT 1")
    )
  }

  /// The ID of the org of the first run; nil before it.
  package var organizationID: String? { get throws { try noted(.organization) } }

  /// Ties the ledger to an org at the first run, and refuses any other afterwards.
  package func pinOrganization(id: String) throws {
    guard let pinned = try organizationID else { return try store(id, as: .organization) }
    if pinned != id { throw LedgerError.foreignOrganization(pinned: pinned, found: id) }
  }

  // MARK: display names

  /// The names for display, as far as runs have read them: the org's labels for its objects, by API
  /// name, and the names of users, by ID.
  package func displayNames() throws -> (labels: [String: String], people: [String: String]) {
    (try notes(LedgerNote<String>.labels), try people())
  }

  /// The display names of users, by ID: user names for the pipeline's users, and names in the org
  /// for others who have changed a record, as far as a run has read them.
  private func people() throws -> [String: String] {
    try snapshotRows().usernames.merging(notes(LedgerNote<String>.people)) { known, _ in known }
  }

  /// The notes whose names start with a prefix, by the rest of the name.
  private func notes(_ prefix: String) throws -> [String: String] {
    try connection.all("SELECT name, value FROM meta WHERE name LIKE \(prefix + "%")").reduce(
      into: [:]
    ) { $0[String(($1[0].text ?? "").dropFirst(prefix.count))] = $1[1].text }
  }

  /// The IDs of users who changed records in the org and whose names are unknown.
  ///
  /// This covers the records of a run's edits and of all open edits, because an earlier run may not
  /// have read the names.
  package func unnamedPeople(run id: String) throws -> [String] {
    let known = try people()
    return try connection.all(
      """
      SELECT person FROM (
        SELECT detail ->> '$.serverChange.by' AS person FROM outcome
        WHERE run_id = \(id) AND instr(detail, '"serverChange"') > 0
        UNION SELECT x.detail ->> '$.serverChange.by' FROM edit e JOIN outcome x ON x.edit_id = e.id
        WHERE \(Self.isUnsettledEdit))
      WHERE person IS NOT NULL ORDER BY 1
      """
    ).compactMap { $0[0].text }.filter { known[$0] == nil }
  }

  // MARK: snapshots

  /// What the ledger knows about a snapshot; nil before its first prime.
  package func snapshotRow(id: String) throws -> SnapshotRow? {
    try snapshotRows("WHERE id = \(id)").first
  }

  /// All snapshots, by ID.
  package func snapshotRows() throws -> [SnapshotRow] { try snapshotRows("ORDER BY id") }

  private func snapshotRows(_ clause: SQL) throws -> [SnapshotRow] {
    try connection.all(
      """
      SELECT id, user_id, username, generation, cursors, ghost_runs, definitions_hash, included
      FROM snapshot \(clause)
      """
    ).map { row in
      SnapshotRow(
        id: row[0].text ?? "", userID: row[1].text, username: row[2].text,
        generation: row[3].integer ?? 0, cursors: try parse(row[4].text, "a snapshot's cursors"),
        ghostRuns: try parse(row[5].text, "a snapshot's ghost runs"),
        definitionsHash: row[6].text ?? "",
        included: (try parse(row[7].text, "a snapshot's returns").array ?? []).compactMap(
          IncludedReturn.init(json:)))
    }
  }

  /// Stores a snapshot's row.
  package func save(_ row: SnapshotRow) throws {
    try connection.run(
      """
      INSERT INTO snapshot VALUES (\(row.id), \(row.userID), \(row.username), \(row.generation),
        \(row.cursors.text), \(row.ghostRuns.text), \(row.definitionsHash),
        \(JSONValue.array(row.included.map(\.json)).text))
      ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id, username = excluded.username,
        generation = excluded.generation, cursors = excluded.cursors,
        ghost_runs = excluded.ghost_runs, definitions_hash = excluded.definitions_hash,
        included = excluded.included
      """)
  }

  /// Parses JSON from the ledger.
  ///
  /// Throws `LedgerError` if it is not valid, with `what` as its description.
  package func parse(_ text: String?, _ what: String) throws -> JSONValue {
    do {
      return try JSONValue(parsing: text ?? "null")
    } catch {
      throw LedgerError.damaged(path: path, what: what)
    }
  }
}

/// The current state of a snapshot.
package struct SnapshotRow: Sendable, Hashable {
  /// The user's 18-character Id, or `global`.
  package var id: String
  /// The user's ID; nil for the global snapshot.
  package var userID: String?
  package var username: String?
  /// The last published generation, or 0 if there is none.
  package var generation: Int64
  /// The cursor of each sync down.
  package var cursors: JSONValue
  /// The number of runs since the last check for ghosts, by sync down.
  package var ghostRuns: JSONValue
  /// The digest of the store and sync definitions.
  package var definitionsHash: String
  /// The returns that were resolved when the last prime started; the prime's data has their
  /// changes.
  package var included: [IncludedReturn]

  package init(
    id: String, userID: String?, username: String?, generation: Int64 = 0,
    cursors: JSONValue = [:], ghostRuns: JSONValue = [:], definitionsHash: String = "",
    included: [IncludedReturn] = []
  ) {
    self.id = id
    self.userID = userID
    self.username = username
    self.generation = generation
    self.cursors = cursors
    self.ghostRuns = ghostRuns
    self.definitionsHash = definitionsHash
    self.included = included
  }
}

extension [SnapshotRow] {
  /// The names of the users with a snapshot, by ID.
  package var usernames: [String: String] {
    reduce(into: [:]) { names, row in
      if let id = row.userID { names[id] = row.username }
    }
  }
}
