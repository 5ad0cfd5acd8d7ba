/// The ledger's tables, and the state transitions that they allow.
package enum LedgerSchema {
  /// The version that this program reads and writes.
  package static let version = additions.keys.max() ?? 1

  /// What each version adds to the previous one, from the second on.
  ///
  /// A ledger of an earlier version takes the missing steps in order when it is opened. A new one
  /// takes all of them, so that both are the same.
  package static let additions: [Int64: [String]] = [
    2: reporting + [
      // The returns that contain an unresolved edit from an earlier return.
      """
      CREATE TABLE sighting (
        return_id INTEGER NOT NULL REFERENCES returned, edit_id INTEGER NOT NULL REFERENCES edit,
        store TEXT NOT NULL, soup TEXT NOT NULL, entry_id INTEGER NOT NULL,
        last_modified_ms INTEGER NOT NULL, content TEXT NOT NULL,
        PRIMARY KEY (return_id, store, soup, entry_id)) STRICT, WITHOUT ROWID
      """,
      "CREATE INDEX sighting_of_edit ON sighting (edit_id)",
      // All returns that contained an edit.
      """
      CREATE VIEW seen AS
      SELECT return_id, id AS edit_id, store, soup, entry_id, last_modified_ms, content FROM edit
      UNION ALL
      SELECT return_id, edit_id, store, soup, entry_id, last_modified_ms, content FROM sighting
      """,
    ] + lostAnswers,
    3: [
      // For a global store returned in a bundle, the return of the bundle's user store.
      "ALTER TABLE returned ADD COLUMN part_of INTEGER REFERENCES returned",
      "CREATE INDEX returned_part ON returned (part_of) WHERE part_of IS NOT NULL",
    ],
    4: decisions,
    5: carried,
    6: carriedByMark,
    7: carriedWords,
    8: undoing,
    9: partlyUndone,
    // The bulk job that contains a write, recorded before its rows are sent.
    10: ["ALTER TABLE operation ADD COLUMN job_id TEXT"],
    11: growth,
    12: keeping,
    13: recovering,
    // When the last attempt of a write was sent, in the org's time; `sent_ms` is the time of its
    // first.
    14: ["ALTER TABLE operation ADD COLUMN last_ms INTEGER"],
    // Step 16 recreates what step 15 created, so an earlier ledger takes only step 16.
    16: comparing,
    // When a clean row was created, and the ID that its device's own sync assigned to it. An older
    // copy of the store may return it as a new record again.
    17: [
      "ALTER TABLE witness ADD COLUMN created_ms INTEGER",
      "ALTER TABLE witness ADD COLUMN server_id TEXT",
    ],
    // `operation_live` also finds the writes in progress; each write changed both indexes.
    18: ["DROP INDEX operation_by_state"],
  ]

  /// Who sent a write, what the record held before it, and whether its answer was lost.
  ///
  /// A request that was assumed to have had no effect may still arrive and is then found to be
  /// done.
  private static let lostAnswers = [
    "ALTER TABLE operation ADD COLUMN sender_id TEXT",
    "ALTER TABLE operation ADD COLUMN seen TEXT",
    "ALTER TABLE operation ADD COLUMN is_doubted INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX operation_doubted ON operation (sent_ms) WHERE is_doubted = 1",
    "DROP TRIGGER operation_moves",
    operationMoves,
  ]

  /// The transitions that an operation may make.
  static let operationMoves = """
    CREATE TRIGGER operation_moves BEFORE UPDATE OF state ON operation
    WHEN NEW.state <> OLD.state AND NOT (
      OLD.state = 'planned' AND \(isOne(of: ["sent", "dropped"], "NEW.state"))
      OR OLD.state = 'sent'
        AND \(isOne(of: ["done", "rejected", "conflict", "doubt", "planned"], "NEW.state"))
      OR OLD.state = 'doubt' AND \(isOne(of: ["done", "planned", "dropped"], "NEW.state"))
      OR OLD.state = 'dropped' AND NEW.state = 'done' AND OLD.is_doubted = 1)
    BEGIN SELECT RAISE(ABORT, 'the ledger does not let an operation take this step'); END
    """

  /// The tables of a ledger of the first version.
  ///
  /// Only `prune` deletes rows. History is only added to, so that a report can be queried at any
  /// later time.
  package static let statements = """
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

    CREATE TABLE run (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, pipeline TEXT NOT NULL,
      now_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL, ended_ms INTEGER,
      config_hash TEXT NOT NULL, host TEXT NOT NULL, exit_status INTEGER, summary TEXT) STRICT;

    CREATE TABLE snapshot (
      id TEXT PRIMARY KEY, user_id TEXT, username TEXT, generation INTEGER NOT NULL,
      cursors TEXT NOT NULL, ghost_runs TEXT NOT NULL, definitions_hash TEXT NOT NULL,
      included TEXT NOT NULL)
      STRICT, WITHOUT ROWID;

    CREATE TABLE lineage (
      id INTEGER PRIMARY KEY, stamp_id TEXT NOT NULL, install TEXT,
      trunk INTEGER REFERENCES lineage, fork_handback INTEGER) STRICT;
    CREATE INDEX lineage_of_stamp ON lineage (stamp_id);

    CREATE TABLE returned (
      id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, source_name TEXT NOT NULL,
      stamp_id TEXT NOT NULL, snapshot_id TEXT NOT NULL, generation INTEGER NOT NULL,
      platform TEXT NOT NULL, install TEXT, handback INTEGER, arrived_ms INTEGER NOT NULL,
      issued_ms INTEGER, lineage_id INTEGER NOT NULL REFERENCES lineage) STRICT;
    CREATE INDEX returned_of_stamp ON returned (stamp_id);

    CREATE TABLE returned_soup (
      return_id INTEGER NOT NULL REFERENCES returned, store TEXT NOT NULL, soup TEXT NOT NULL,
      total INTEGER NOT NULL, PRIMARY KEY (return_id, store, soup)) STRICT, WITHOUT ROWID;

    CREATE TABLE witness (
      return_id INTEGER NOT NULL REFERENCES returned, store TEXT NOT NULL, soup TEXT NOT NULL,
      entry_id INTEGER NOT NULL, last_modified_ms INTEGER NOT NULL,
      PRIMARY KEY (return_id, store, soup, entry_id)) STRICT, WITHOUT ROWID;

    CREATE TABLE creation (
      id INTEGER PRIMARY KEY, stamp_id TEXT NOT NULL, store TEXT NOT NULL, soup TEXT NOT NULL,
      entry_id INTEGER NOT NULL, created_ms INTEGER NOT NULL, local_id TEXT NOT NULL,
      record_id TEXT, device_record_id TEXT,
      UNIQUE (stamp_id, store, soup, entry_id, created_ms, local_id)) STRICT;
    CREATE INDEX creation_by_local_id ON creation (stamp_id, local_id);
    CREATE INDEX creation_by_record ON creation (record_id);

    CREATE TABLE edit (
      id INTEGER PRIMARY KEY, return_id INTEGER NOT NULL REFERENCES returned,
      lineage_id INTEGER NOT NULL REFERENCES lineage, store TEXT NOT NULL, soup TEXT NOT NULL,
      entry_id INTEGER NOT NULL, created_ms INTEGER NOT NULL, last_modified_ms INTEGER NOT NULL,
      operation TEXT NOT NULL
        CHECK (operation IN ('create', 'update', 'delete', 'dropped', 'synced')),
      sobject TEXT, record_id TEXT, local_id TEXT, creation_id INTEGER REFERENCES creation,
      modification_date TEXT, content TEXT NOT NULL, element BLOB NOT NULL, base TEXT,
      finding TEXT, unordered_with INTEGER REFERENCES edit, superseded_by INTEGER REFERENCES edit,
      retries INTEGER NOT NULL DEFAULT 0,
      state TEXT NOT NULL CHECK (state IN ('open', 'waiting', 'closed')),
      verdict TEXT,
      UNIQUE (return_id, store, soup, entry_id)) STRICT;
    CREATE INDEX edit_by_record ON edit (record_id, soup);
    CREATE INDEX edit_by_creation ON edit (creation_id);
    CREATE INDEX edit_by_row ON edit (store, soup, entry_id);
    CREATE INDEX edit_unfinished ON edit (state) WHERE state <> 'closed';

    CREATE TABLE operation (
      id INTEGER PRIMARY KEY, edit_id INTEGER NOT NULL REFERENCES edit,
      run_id TEXT NOT NULL REFERENCES run (id), batch INTEGER,
      action TEXT NOT NULL CHECK (action IN ('create', 'update', 'upsert', 'delete')),
      sender TEXT NOT NULL, sobject TEXT NOT NULL, record_id TEXT, external_field TEXT,
      external_value TEXT, payload TEXT NOT NULL, expected TEXT NOT NULL,
      level INTEGER NOT NULL, attempt INTEGER NOT NULL DEFAULT 0,
      sent_ms INTEGER, result_id TEXT, code TEXT, message TEXT, server_date TEXT, left_values TEXT,
      state TEXT NOT NULL CHECK (state IN
        ('planned', 'sent', 'doubt', 'done', 'rejected', 'conflict', 'dropped'))) STRICT;
    CREATE UNIQUE INDEX operation_live ON operation (edit_id)
      WHERE state IN ('planned', 'sent', 'doubt');
    CREATE INDEX operation_by_state ON operation (state) WHERE state IN ('planned','sent','doubt');
    CREATE INDEX operation_by_record ON operation (result_id) WHERE state = 'done';
    CREATE INDEX operation_by_edit ON operation (edit_id);

    CREATE TABLE outcome (
      run_id TEXT NOT NULL REFERENCES run (id), edit_id INTEGER NOT NULL REFERENCES edit,
      verdict TEXT NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (run_id, edit_id))
      STRICT, WITHOUT ROWID;

    CREATE TRIGGER operation_moves BEFORE UPDATE OF state ON operation
    WHEN NEW.state <> OLD.state AND (OLD.state || '>' || NEW.state) NOT IN (
      'planned>sent', 'planned>dropped', 'sent>done', 'sent>rejected', 'sent>conflict',
      'sent>doubt', 'sent>planned', 'doubt>done', 'doubt>planned', 'doubt>dropped')
    BEGIN SELECT RAISE(ABORT, 'the ledger does not let an operation take this step'); END;

    CREATE TRIGGER operation_starts BEFORE INSERT ON operation WHEN NEW.state <> 'planned'
    BEGIN SELECT RAISE(ABORT, 'an operation begins as planned'); END;

    CREATE TRIGGER operation_stays BEFORE DELETE ON operation
      WHEN OLD.state IN ('planned', 'sent', 'doubt')
    BEGIN SELECT RAISE(ABORT, 'an operation that is under way stays in the ledger'); END;

    CREATE TRIGGER edit_moves BEFORE UPDATE OF state ON edit
    WHEN OLD.state = 'closed' AND NEW.state <> 'closed' AND NEW.retries <= OLD.retries
    BEGIN SELECT RAISE(ABORT, 'a closed edit is opened by a retry only'); END;

    CREATE TRIGGER edit_closes BEFORE UPDATE OF state ON edit
    WHEN NEW.state <> 'open' AND NEW.verdict IS NULL
    BEGIN SELECT RAISE(ABORT, 'an edit is left with a verdict only'); END;

    CREATE TRIGGER creation_keeps BEFORE UPDATE OF record_id ON creation
    WHEN OLD.record_id IS NOT NULL AND NEW.record_id IS NOT OLD.record_id
    BEGIN SELECT RAISE(ABORT, 'a created record keeps its id'); END;
    """
}
