/// The ledger's tables, and the state transitions that they allow.
///
/// Only `prune` deletes rows. History is only added to, so that a report can be queried at any
/// later time.
package enum LedgerSchema {
  /// The version that this program reads and writes.
  ///
  /// It changes with every change of the tables since the last release. Each change needs a step
  /// that converts the previous version (`LedgerConversion`). A ledger of a version without a step,
  /// such as a later one, is refused.
  package static let version: Int64 = 20

  /// Creates all tables, indexes, views and triggers in an empty database.
  static let statements = [
    runs, snapshots, returns, edits, redeliveries, operations, outcomes, decisions, recoveries,
  ].joined(separator: "\n")

  // MARK: tables

  /// The runs, what has to be reported of each, and which report has it.
  ///
  /// `run.wanted` and `run.finished` are names of stages separated by commas: the requested ones,
  /// and those of them that are complete.
  private static let runs = """
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

    CREATE TABLE run (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, pipeline TEXT NOT NULL,
      now_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL, ended_ms INTEGER,
      config_hash TEXT NOT NULL, host TEXT NOT NULL, exit_status INTEGER, summary TEXT,
      wanted TEXT NOT NULL DEFAULT '', finished TEXT NOT NULL DEFAULT '',
      report TEXT CHECK (report IN ('begun', 'written'))) STRICT;

    CREATE TABLE finding (
      id INTEGER PRIMARY KEY, run_id TEXT NOT NULL REFERENCES run (id), kind TEXT NOT NULL,
      subject TEXT NOT NULL, detail TEXT NOT NULL, settled_by TEXT REFERENCES run (id),
      reported_by TEXT REFERENCES run (id), UNIQUE (run_id, kind, subject)) STRICT;
    CREATE INDEX finding_of_report ON finding (reported_by);
    CREATE INDEX finding_open ON finding (kind) WHERE settled_by IS NULL;
    """

  private static let snapshots = """
    CREATE TABLE snapshot (
      id TEXT PRIMARY KEY, user_id TEXT, username TEXT, generation INTEGER NOT NULL,
      cursors TEXT NOT NULL, ghost_runs TEXT NOT NULL, definitions_hash TEXT NOT NULL,
      included TEXT NOT NULL)
      STRICT, WITHOUT ROWID;
    """

  /// The returns, with the copies of a store from which they come (`lineage`).
  ///
  /// - `returned.part_of`: For a global store returned in a bundle, the return of the bundle's user
  ///   store.
  /// - `returned.epoch`: The epoch of the key that signed the stamp; 0 for a return from before the
  ///   first recovery.
  /// - `witness`: The unchanged rows of returns. `created_ms` is when such a row was created, and
  ///   `server_id` the ID that its device's own sync assigned to it: an older copy of the store may
  ///   return it as a new record again.
  private static let returns = """
    CREATE TABLE lineage (
      id INTEGER PRIMARY KEY, stamp_id TEXT NOT NULL, install TEXT,
      trunk INTEGER REFERENCES lineage, fork_handback INTEGER) STRICT;
    CREATE INDEX lineage_of_stamp ON lineage (stamp_id);

    CREATE TABLE returned (
      id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, source_name TEXT NOT NULL,
      stamp_id TEXT NOT NULL, snapshot_id TEXT NOT NULL, generation INTEGER NOT NULL,
      platform TEXT NOT NULL, install TEXT, handback INTEGER, arrived_ms INTEGER NOT NULL,
      issued_ms INTEGER, lineage_id INTEGER NOT NULL REFERENCES lineage,
      part_of INTEGER REFERENCES returned, epoch INTEGER NOT NULL DEFAULT 0) STRICT;
    CREATE INDEX returned_of_stamp ON returned (stamp_id);
    CREATE INDEX returned_part ON returned (part_of) WHERE part_of IS NOT NULL;
    CREATE INDEX returned_of_snapshot ON returned (snapshot_id);
    CREATE INDEX returned_of_lineage ON returned (lineage_id, handback);
    CREATE INDEX returned_handed ON returned (coalesce(part_of, id));

    CREATE TABLE returned_soup (
      return_id INTEGER NOT NULL REFERENCES returned, store TEXT NOT NULL, soup TEXT NOT NULL,
      total INTEGER NOT NULL, PRIMARY KEY (return_id, store, soup)) STRICT, WITHOUT ROWID;

    CREATE TABLE witness (
      return_id INTEGER NOT NULL REFERENCES returned, store TEXT NOT NULL, soup TEXT NOT NULL,
      entry_id INTEGER NOT NULL, last_modified_ms INTEGER NOT NULL,
      created_ms INTEGER, server_id TEXT,
      PRIMARY KEY (return_id, store, soup, entry_id)) STRICT, WITHOUT ROWID;
    """

  /// The edits, and the new records that they belong to (`creation`).
  ///
  /// - `creation.chosen_id`: The record that an operator chose of two.
  /// - `edit.pruned`: The digest of what the user of a pruned edit had entered
  ///   (`ElementContent.value`), which identifies the same edit when it returns; null while the
  ///   element is stored.
  /// - `sighting`: The returns that contain an unresolved edit from an earlier return.
  /// - `seen`: All returns that contained an edit.
  private static let edits = """
    CREATE TABLE creation (
      id INTEGER PRIMARY KEY, stamp_id TEXT NOT NULL, store TEXT NOT NULL, soup TEXT NOT NULL,
      entry_id INTEGER NOT NULL, created_ms INTEGER NOT NULL, local_id TEXT NOT NULL,
      record_id TEXT, device_record_id TEXT, chosen_id TEXT,
      UNIQUE (stamp_id, store, soup, entry_id, created_ms, local_id)) STRICT;
    CREATE INDEX creation_by_local_id ON creation (stamp_id, local_id);
    CREATE INDEX creation_by_record ON creation (record_id);
    CREATE INDEX creation_by_device_record ON creation (device_record_id)
      WHERE device_record_id IS NOT NULL;

    CREATE TRIGGER creation_keeps BEFORE UPDATE OF record_id ON creation
    WHEN OLD.record_id IS NOT NULL AND NEW.record_id IS NOT OLD.record_id
    BEGIN SELECT RAISE(ABORT, 'a created record keeps its id'); END;

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
      verdict TEXT, pruned TEXT,
      UNIQUE (return_id, store, soup, entry_id)) STRICT;
    CREATE INDEX edit_by_record ON edit (record_id, soup);
    CREATE INDEX edit_by_creation ON edit (creation_id);
    CREATE INDEX edit_by_local_id ON edit (local_id) WHERE local_id IS NOT NULL;
    CREATE INDEX edit_unread ON edit (store, soup, entry_id)
      WHERE finding IS NOT NULL AND record_id IS NULL AND creation_id IS NULL;
    CREATE INDEX edit_unpruned ON edit (return_id) WHERE pruned IS NULL;
    CREATE INDEX edit_unsettled ON edit (return_id)
      WHERE state <> 'closed' OR \(isUnsettledOutcome);

    CREATE TRIGGER edit_moves BEFORE UPDATE OF state ON edit
    WHEN OLD.state = 'closed' AND NEW.state <> 'closed' AND NEW.retries <= OLD.retries
    BEGIN SELECT RAISE(ABORT, 'a closed edit is opened by a retry only'); END;

    CREATE TRIGGER edit_closes BEFORE UPDATE OF state ON edit
    WHEN NEW.state <> 'open' AND NEW.verdict IS NULL
    BEGIN SELECT RAISE(ABORT, 'an edit is left with a verdict only'); END;

    CREATE TABLE sighting (
      return_id INTEGER NOT NULL REFERENCES returned, edit_id INTEGER NOT NULL REFERENCES edit,
      store TEXT NOT NULL, soup TEXT NOT NULL, entry_id INTEGER NOT NULL,
      last_modified_ms INTEGER NOT NULL, content TEXT NOT NULL,
      PRIMARY KEY (return_id, store, soup, entry_id)) STRICT, WITHOUT ROWID;
    CREATE INDEX sighting_of_edit ON sighting (edit_id);

    CREATE VIEW seen AS
    SELECT return_id, id AS edit_id, store, soup, entry_id, last_modified_ms, content FROM edit
    UNION ALL
    SELECT return_id, edit_id, store, soup, entry_id, last_modified_ms, content FROM sighting;
    """

  /// The rows in which bundles redeliver open edits, each by its location in a stamped store.
  ///
  /// The run that put the edits into a store is recorded in the store's stamp and in these rows
  /// (`mark`), because after the data directory was restored from a backup, another generation of
  /// the same number may redeliver others.
  ///
  /// - `last_modified_ms`, `value`: The row as issued; a returned row with both unchanged is the
  ///   same edit.
  /// - `record_id`: The ID in the element, null if that is a local ID.
  /// - `words`: The row's message, null if no message was shown; `shown` has the org's values that
  ///   it quotes.
  /// - `edited`: The fields that the row's device had edited; null if unknown.
  /// - `carried_in`: The rows with which a return was issued.
  private static let redeliveries = """
    CREATE TABLE carried (
      stamp_id TEXT NOT NULL, store TEXT NOT NULL, soup TEXT NOT NULL, entry_id INTEGER NOT NULL,
      mark TEXT NOT NULL, edit_id INTEGER NOT NULL REFERENCES edit,
      last_modified_ms INTEGER NOT NULL, value TEXT NOT NULL, record_id TEXT, shown TEXT,
      words TEXT, edited TEXT,
      PRIMARY KEY (stamp_id, store, soup, entry_id, mark)) STRICT, WITHOUT ROWID;
    CREATE INDEX carried_edit ON carried (edit_id);

    CREATE TABLE returned_mark (
      return_id INTEGER NOT NULL REFERENCES returned, store TEXT NOT NULL, mark TEXT NOT NULL,
      PRIMARY KEY (return_id, store)) STRICT, WITHOUT ROWID;

    CREATE VIEW carried_in AS
    SELECT m.return_id, c.store, c.soup, c.entry_id, c.edit_id, c.last_modified_ms, c.record_id
    FROM returned_mark m JOIN returned r ON r.id = m.return_id
      JOIN carried c ON c.stamp_id = r.stamp_id AND c.store = m.store AND c.mark = m.mark;
    """

  /// The writes, each recorded before it is sent.
  ///
  /// - `purpose`: Whether the write sends its edit or undoes what the edit changed.
  /// - `sender_id`, `seen`: The ID of the user who sent the write, and what the record held before
  ///   it.
  /// - `is_doubted`: Whether an answer was lost. A request that was assumed to have had no effect
  ///   may still arrive and is then found to be done.
  /// - `left_values`: The record's values after a write that was done.
  /// - `sights`: What runs saw of the records of a watched request since it was sent, and of one in a
  ///   bulk job with an unknown outcome, by record ID.
  /// - `batch`: The maximum number of writes in the request with which the write is repeated; null for
  ///   that of its sync up.
  /// - `job_id`: The bulk job that contains the write, recorded before its rows are sent.
  /// - `sent_ms`, `last_ms`: When the first and the last attempt were sent, in the org's time.
  /// - `since_ms`: The earliest time at which a write that a lost ledger recorded can have been
  ///   sent.
  private static let operations = """
    CREATE TABLE operation (
      id INTEGER PRIMARY KEY, edit_id INTEGER NOT NULL REFERENCES edit,
      run_id TEXT NOT NULL REFERENCES run (id), batch INTEGER,
      action TEXT NOT NULL
        CHECK \(isOne(of: ["create", "update", "upsert", "delete", "undelete"], "action")),
      purpose TEXT NOT NULL CHECK \(isOne(of: ["send", "undo"], "purpose")),
      sender TEXT NOT NULL, sobject TEXT NOT NULL, record_id TEXT, external_field TEXT,
      external_value TEXT, payload TEXT NOT NULL, expected TEXT NOT NULL,
      level INTEGER NOT NULL, attempt INTEGER NOT NULL DEFAULT 0,
      sent_ms INTEGER, result_id TEXT, code TEXT, message TEXT, server_date TEXT, left_values TEXT,
      state TEXT NOT NULL CHECK \(isOne(
        of: ["planned", "sent", "doubt", "done", "rejected", "conflict", "dropped"], "state")),
      sender_id TEXT, seen TEXT, is_doubted INTEGER NOT NULL DEFAULT 0, job_id TEXT,
      since_ms INTEGER, last_ms INTEGER, sights TEXT) STRICT;
    CREATE UNIQUE INDEX operation_live ON operation (edit_id) WHERE \(isUnfinished);
    CREATE INDEX operation_by_record ON operation (result_id) WHERE state = 'done';
    CREATE INDEX operation_by_edit ON operation (edit_id);
    CREATE INDEX operation_doubted ON operation (sent_ms) WHERE is_doubted = 1;
    CREATE INDEX operation_unread ON operation (sent_ms)
      WHERE state = 'done' AND left_values IS NULL;

    CREATE TRIGGER operation_moves BEFORE UPDATE OF state ON operation
    WHEN NEW.state <> OLD.state AND NOT (
      OLD.state = 'planned' AND \(isOne(of: ["sent", "dropped"], "NEW.state"))
      OR OLD.state = 'sent'
        AND \(isOne(of: ["done", "rejected", "conflict", "doubt", "planned"], "NEW.state"))
      OR OLD.state = 'doubt' AND \(isOne(of: ["done", "planned", "dropped"], "NEW.state"))
      OR OLD.state = 'dropped' AND NEW.state = 'done' AND OLD.is_doubted = 1)
    BEGIN SELECT RAISE(ABORT, 'the ledger does not let an operation take this step'); END;

    CREATE TRIGGER operation_starts BEFORE INSERT ON operation WHEN NEW.state <> 'planned'
    BEGIN SELECT RAISE(ABORT, 'an operation begins as planned'); END;

    CREATE TRIGGER operation_stays BEFORE DELETE ON operation
      WHEN \(isOne(of: OperationState.unfinished.map(\.rawValue), "OLD.state"))
    BEGIN SELECT RAISE(ABORT, 'an operation that is under way stays in the ledger'); END;
    """

  /// The verdicts.
  ///
  /// `reported_by` is the run whose report shows the verdict. It is set before the report's files
  /// are written (`run.report` is `begun` then, and `written` afterwards), so that no second report
  /// shows the verdict, even after an interruption.
  private static let outcomes = """
    CREATE TABLE outcome (
      run_id TEXT NOT NULL REFERENCES run (id), edit_id INTEGER NOT NULL REFERENCES edit,
      verdict TEXT NOT NULL, detail TEXT NOT NULL, reported_by TEXT REFERENCES run (id),
      PRIMARY KEY (run_id, edit_id))
      STRICT, WITHOUT ROWID;
    CREATE INDEX outcome_of_report ON outcome (reported_by);
    CREATE INDEX outcome_by_edit ON outcome (edit_id);
    CREATE INDEX outcome_unsettled ON outcome (verdict) WHERE \(isUnsettledOutcome);
    """

  /// The decisions of operators.
  ///
  /// Only the `state` of a row changes: it is `pending` until a run applies the decision (`done`)
  /// or finds that the org's values have changed (`moved`), or something else resolves or replaces
  /// it (`withdrawn`). An edit has at most one pending decision. `shown` has the org's values that
  /// the operator saw, and `restriction` is what the decision allows although the edit's user may
  /// not do it.
  private static let decisions = """
    CREATE TABLE decision (
      id INTEGER PRIMARY KEY, edit_id INTEGER NOT NULL REFERENCES edit,
      kind TEXT NOT NULL
        CHECK (kind IN ('device', 'server', 'set', 'record', 'retry', 'discard', 'undo')),
      detail TEXT NOT NULL, verdict TEXT, restriction TEXT, shown TEXT NOT NULL,
      decided_by TEXT NOT NULL,
      decided_ms INTEGER NOT NULL, run_id TEXT REFERENCES run (id),
      state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'moved', 'withdrawn'))) STRICT;
    CREATE UNIQUE INDEX decision_pending ON decision (edit_id) WHERE state = 'pending';
    CREATE INDEX decision_of_edit ON decision (edit_id);

    CREATE TRIGGER decision_moves BEFORE UPDATE OF state ON decision WHEN OLD.state <> 'pending'
    BEGIN SELECT RAISE(ABORT, 'an applied decision cannot change'); END;
    """

  /// The recoveries: each time that the ledger was put back into use without a record of what was
  /// sent last.
  ///
  /// `epoch` is the epoch that started, `before` the previous one, and `organization` the org of
  /// the previous one. `known_ms` is the time of the last run that the ledger knows. `until_ms` is
  /// the org's time before which all unknown writes were sent, once the org has been asked.
  /// `recovered_snapshot` has the newest known generation of each snapshot.
  private static let recoveries = """
    CREATE TABLE recovery (
      epoch INTEGER PRIMARY KEY, before INTEGER NOT NULL, organization TEXT,
      known_ms INTEGER NOT NULL, after_run INTEGER NOT NULL, recovered_ms INTEGER NOT NULL,
      until_ms INTEGER, recovered_by TEXT NOT NULL, detail TEXT NOT NULL) STRICT;

    CREATE TABLE recovered_snapshot (
      epoch INTEGER NOT NULL REFERENCES recovery, snapshot_id TEXT NOT NULL,
      generation INTEGER NOT NULL, PRIMARY KEY (epoch, snapshot_id)) STRICT, WITHOUT ROWID;
    """

  // MARK: conditions

  /// The condition that a column has one of some values, as a comparison with each value.
  ///
  /// SQLite stores a list of more than two values in a table, which it creates and drops for each
  /// row that it checks. With such lists in the checks, triggers and partial indexes, a write of an
  /// operation's state cost three times as much.
  private static func isOne(of values: [String], _ column: String) -> String {
    "(" + values.map { "\(column) = '\($0)'" }.joined(separator: " OR ") + ")"
  }

  /// The condition that an operation is not finished, as in the indexes over such operations.
  package static let isUnfinished = isOne(
    of: OperationState.unfinished.map(\.rawValue), "state")

  /// The condition that a verdict is unresolved, as in the indexes over such verdicts.
  package static let isUnsettledOutcome = isUnsettled("verdict")

  /// The same condition for a column, as a comparison with each value (see `isOne`).
  package static func isUnsettled(_ column: String) -> String {
    "("
      + Verdict.settled.map { "\(column) <> '\($0.text ?? "")'" }.joined(separator: " AND ") + ")"
  }

  /// Whether an edit `e` of a return `r` may have been sent by a run that the ledger does not know:
  /// its bundle, or that of another edit of the same new record, is of an earlier epoch, and
  /// nothing of it has been sent or looked for since.
  ///
  /// The condition is evaluated for each edit, and most ledgers have never been recovered. A plain
  /// `AND` would make SQLite evaluate all parts in those ledgers too.
  static let mayHaveBeenSent = """
    CASE WHEN NOT EXISTS (SELECT 1 FROM recovery) THEN 0 ELSE (
      r.epoch <> (SELECT max(epoch) FROM recovery) OR EXISTS (
        SELECT 1 FROM edit pe JOIN returned pr ON pr.id = pe.return_id
        WHERE pe.creation_id = e.creation_id AND pr.epoch <> (SELECT max(epoch) FROM recovery)))
      AND NOT EXISTS (
        SELECT 1 FROM edit pe JOIN operation po ON po.edit_id = pe.id JOIN run pn ON pn.id = po.run_id
        WHERE (pe.id = e.id OR pe.creation_id = e.creation_id) AND po.sent_ms IS NOT NULL
          AND pn.number > (SELECT max(after_run) FROM recovery)) END
    """
}
