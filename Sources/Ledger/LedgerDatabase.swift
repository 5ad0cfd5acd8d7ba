import Crypto
import JSON
import SQLite
import System

/// The ledger `state.sqlite`: what was issued, what came back, and what became of every edit.
///
/// One writer at a time (the run's lock sees to it), used by one task on one thread. Every
/// transaction is on the disk when its call returns (`synchronous = FULL`); answers of the org are on it before
/// anything else leaves or is waited for (`Connection.hold`).
package final class LedgerDatabase {
  package let connection: Connection
  /// How many verdicts were given since it was opened.
  package internal(set) var verdictsGiven = 0

  /// The file's path.
  package var path: String { connection.path }

  /// Opens the ledger at `path`, and makes it if it is not there.
  package init(path: String) throws {
    do {
      connection = try Self.connect(path)
    } catch let error as SQLiteError where error.isFull {
      // It can be read on a full disk by whoever is alone: the index of the log is held in memory then.
      connection = try Self.connect(path, locking: "EXCLUSIVE")
    }
    try prepareSchema()
  }

  private static func connect(
    _ path: String, locking: String = "NORMAL"
  ) throws -> Connection {
    let connection = try Connection(path, mode: .create)
    // The log is folded in every 16 MiB: a night changes the same pages over and over. A ledger of any size has room
    // for as many pages in memory as a small one has at all.
    try connection.execute(
      "PRAGMA locking_mode = \(locking);"
        + "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
        + "PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 4096;"
        + "PRAGMA cache_size = -4096")
    // What fails for want of room fails here: the pragmas alone may not touch the log.
    _ = try connection.integer("PRAGMA user_version")
    return connection
  }

  /// Opens the ledger.
  package static func open(path: String) throws -> LedgerDatabase { try LedgerDatabase(path: path) }

  /// Folds the log into the file and closes it.
  package func close() {
    try? connection.keepHeld()
    // A reader may hold the log; then it is folded in by the next opening.
    try? connection.checkpointTruncate()
    connection.close()
  }

  private func prepareSchema() throws {
    let found = try connection.integer("PRAGMA user_version") ?? 0
    if found > LedgerSchema.version {
      throw LedgerError.newer(path: path, found: found, known: LedgerSchema.version)
    }
    if found == LedgerSchema.version { return }
    if found == 0 {
      guard try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 else {
        throw LedgerError.notALedger(path: path)
      }
    } else {
      try keepCopy(of: found)
    }
    try connection.transaction {
      // Whoever opened it at the same time has been faster.
      let version = try connection.integer("PRAGMA user_version") ?? 0
      if version == 0 { try makeFirstVersion() }
      for (step, statements) in LedgerSchema.additions.sorted(by: { $0.key < $1.key })
      where step > version {
        for statement in statements { try connection.execute(statement) }
      }
      try connection.execute("PRAGMA user_version = \(LedgerSchema.version)")
    }
  }

  private func makeFirstVersion() throws {
    try connection.execute(LedgerSchema.statements)
    try setMeta("epoch", "1")
    try setMeta("runNumber", "0")
  }

  /// Keeps the ledger as an earlier version left it, beside the one that is taken over.
  private func keepCopy(of version: Int64) throws {
    let copy = "\(path).version-\(version)"
    let temporary = DurableFile.temporaryName(for: copy)
    try self.copy(to: temporary)
    try Files.setMode(of: temporary, 0o600)
    try DurableFile.rename(temporary, to: copy)
  }

  // MARK: meta

  /// A value that the ledger keeps by a name.
  package func meta(_ name: String) throws -> String? {
    try connection.text("SELECT value FROM meta WHERE name = \(name)")
  }

  func setMeta(_ name: String, _ value: String) throws {
    try connection.run(
      """
      INSERT INTO meta (name, value) VALUES (\(name), \(value))
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
      """)
  }

  /// The ledger's epoch: raised when it was restored or recovered.
  package var epoch: Int64 { get throws { Int64(try meta("epoch") ?? "") ?? 1 } }

  /// The number of the last run that began.
  package var runNumber: Int64 { get throws { Int64(try meta("runNumber") ?? "") ?? 0 } }

  /// The key of the stamps, as a ledger of the first version held it; nil once it has a file of its
  /// own.
  package var firstVersionStampKey: [UInt8]? {
    get throws {
      guard let text = try meta("stampKey") else { return nil }
      guard let key = Hex.decode(text), key.count == 32 else {
        throw LedgerError.damaged(path: path, what: "a stamp key")
      }
      return key
    }
  }

  /// What tells the key that this ledger signs with from another; nil before it signs.
  package var stampKeyDigest: String? { get throws { try meta("stampKeyDigest") } }

  /// Notes which key this ledger signs with; it is on the disk in a file of its own, and kept here
  /// no more.
  package func noteStampKey(digest: String) throws {
    try connection.transaction {
      try setMeta("stampKeyDigest", digest)
      try connection.run("DELETE FROM meta WHERE name = 'stampKey'")
    }
  }

  /// The pipeline file whose runs these are, a whole path without links; nil before the first.
  package var pipelineFile: String? { get throws { try meta("pipelineFile") } }

  /// The same of a ledger that somebody else may be at, and that is left as it is.
  package static func pipelineFile(ofLedger path: String) throws -> String? {
    try text("SELECT value FROM meta WHERE name = 'pipelineFile'", ofLedger: path)
  }

  /// The name that the pipeline had at the last run of such a ledger; nil before the first.
  package static func pipelineName(ofLedger path: String) throws -> String? {
    try text("SELECT pipeline FROM run ORDER BY number DESC LIMIT 1", ofLedger: path)
  }

  private static func text(_ query: SQL, ofLedger path: String) throws -> String? {
    let connection = try Connection(path, mode: .readOnly)
    defer { connection.close() }
    return try connection.text(query)
  }

  /// Ties the ledger to a pipeline file.
  package func notePipelineFile(_ path: String) throws { try setMeta("pipelineFile", path) }

  /// The org of the first run; nil before it.
  package var organizationID: String? { get throws { try meta("organization") } }

  /// Ties the ledger to an org at the first run, and refuses another one ever after.
  package func pinOrganization(id: String) throws {
    guard let pinned = try organizationID else { return try setMeta("organization", id) }
    if pinned != id { throw LedgerError.foreignOrganization(pinned: pinned, found: id) }
  }

  // MARK: names for people

  /// Where people open the org, without a slash at its end; nil before a run that asked it.
  package var instance: String? { get throws { try meta("instance") } }

  /// Keeps where people open the org.
  package func noteInstance(_ address: String) throws {
    if try instance != address { try setMeta("instance", address) }
  }

  /// What the org calls its objects, by API name, as far as runs have seen it.
  package func labels() throws -> [String: String] {
    try connection.all("SELECT name, value FROM meta WHERE name LIKE 'label %'").reduce(into: [:]) {
      $0[String(($1[0].text ?? "").dropFirst("label ".count))] = $1[1].text
    }
  }

  /// Keeps what the org calls an object.
  package func noteLabel(_ label: String, of sobject: String) throws {
    if try meta("label " + sobject) != label { try setMeta("label " + sobject, label) }
  }

  /// The user names of the users with a snapshot, by their Ids.
  package func usernames() throws -> [String: String] {
    try connection.all(
      "SELECT user_id, username FROM snapshot WHERE user_id IS NOT NULL AND username IS NOT NULL"
    ).reduce(into: [:]) { $0[$1[0].text ?? ""] = $1[1].text }
  }

  /// How people are called by their Ids: the pipeline's users by their user names, others who have changed a
  /// record by their names in the org, as far as a run has seen them.
  package func people() throws -> [String: String] {
    try connection.all("SELECT name, value FROM meta WHERE name LIKE 'person %'").reduce(
      into: usernames()
    ) { known, row in
      let id = String((row[0].text ?? "").dropFirst("person ".count))
      known[id] = known[id] ?? row[1].text
    }
  }

  /// Keeps what the org calls a user who has no snapshot.
  package func notePerson(_ name: String, id: String) throws {
    if try meta("person " + id) != name { try setMeta("person " + id, name) }
  }

  /// The Ids of those who changed records in the org and whose names nobody knows: records of a run's edits,
  /// and of all that are open, as an earlier run may not have come to ask.
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

  /// What the ledger knows of a snapshot; nil before its first prime.
  package func snapshotRow(id: String) throws -> SnapshotRow? {
    guard
      let row = try connection.first(
        """
        SELECT id, user_id, username, generation, cursors, ghost_runs, definitions_hash, included
        FROM snapshot WHERE id = \(id)
        """)
    else { return nil }
    return SnapshotRow(
      id: row[0].text ?? "", userID: row[1].text, username: row[2].text,
      generation: row[3].integer ?? 0, cursors: try parse(row[4].text, "a snapshot's cursors"),
      ghostRuns: try parse(row[5].text, "a snapshot's ghost runs"),
      definitionsHash: row[6].text ?? "",
      included: (try parse(row[7].text, "a snapshot's returns").array ?? []).compactMap(
        IncludedReturn.init(json:)))
  }

  /// Every snapshot, by id.
  package func snapshotRows() throws -> [SnapshotRow] {
    try connection.texts("SELECT id FROM snapshot ORDER BY id").compactMap(snapshotRow(id:))
  }

  /// Keeps a snapshot's row.
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

  /// Reads JSON that the ledger keeps.
  ///
  /// Throws `LedgerError` where it is none, with `what` as its name.
  package func parse(_ text: String?, _ what: String) throws -> JSONValue {
    do {
      return try JSONValue(parsing: text ?? "null")
    } catch {
      throw LedgerError.damaged(path: path, what: what)
    }
  }
}

/// A snapshot's place in time.
package struct SnapshotRow: Sendable, Hashable {
  /// The user's 18-character Id, or `global`.
  package var id: String
  /// The user's Id; nil for the global snapshot.
  package var userID: String?
  /// The user's name.
  package var username: String?
  /// The last published generation, 0 for none.
  package var generation: Int64
  /// The cursor of each sync down.
  package var cursors: JSONValue
  /// How many runs ago ghosts were looked for, by sync down.
  package var ghostRuns: JSONValue
  /// The digest of the store and sync definitions.
  package var definitionsHash: String
  /// The returns that were settled when the last prime began: what they brought to the org is in
  /// what it fetched.
  package var included: [IncludedReturn]

  /// A row.
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
