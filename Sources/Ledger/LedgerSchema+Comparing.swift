extension LedgerSchema {
  /// The condition that a column has one of some values, as a comparison with each value.
  ///
  /// SQLite stores a list of more than two values in a table, which it creates and drops for each
  /// row that it checks. With such lists in the checks, triggers and partial indexes, a write of an
  /// operation's state cost three times as much.
  static func isOne(of values: [String], _ column: String) -> String {
    "(" + values.map { "\(column) = '\($0)'" }.joined(separator: " OR ") + ")"
  }

  /// The condition that an operation is not finished, as in the indexes over such operations.
  package static let isUnfinished = isOne(
    of: OperationState.unfinished.map(\.rawValue), "state")

  /// A write may restore a record from the recycle bin.
  ///
  /// The other rules are unchanged, but without lists.
  ///
  /// SQLite cannot change a check of an existing table, so the table is recreated with everything
  /// that belongs to it.
  static let comparing =
    [
      """
      CREATE TABLE operation_after (
        id INTEGER PRIMARY KEY, edit_id INTEGER NOT NULL REFERENCES edit,
        run_id TEXT NOT NULL REFERENCES run (id), batch INTEGER,
        action TEXT NOT NULL
          CHECK \(isOne(of: ["create", "update", "upsert", "delete", "undelete"], "action")),
        sender TEXT NOT NULL, sobject TEXT NOT NULL, record_id TEXT, external_field TEXT,
        external_value TEXT, payload TEXT NOT NULL, expected TEXT NOT NULL,
        level INTEGER NOT NULL, attempt INTEGER NOT NULL DEFAULT 0,
        sent_ms INTEGER, result_id TEXT, code TEXT, message TEXT, server_date TEXT, left_values TEXT,
        state TEXT NOT NULL CHECK \(isOne(
          of: ["planned", "sent", "doubt", "done", "rejected", "conflict", "dropped"], "state")),
        sender_id TEXT, seen TEXT, is_doubted INTEGER NOT NULL DEFAULT 0, job_id TEXT,
        since_ms INTEGER, last_ms INTEGER) STRICT
      """,
      """
      INSERT INTO operation_after SELECT \(operationColumns) FROM operation
      """,
      "DROP TABLE operation",
      "ALTER TABLE operation_after RENAME TO operation",
      "CREATE UNIQUE INDEX operation_live ON operation (edit_id) WHERE \(isUnfinished)",
      "CREATE INDEX operation_by_state ON operation (state) WHERE \(isUnfinished)",
      "CREATE INDEX operation_by_record ON operation (result_id) WHERE state = 'done'",
      "CREATE INDEX operation_by_edit ON operation (edit_id)",
      "CREATE INDEX operation_doubted ON operation (sent_ms) WHERE is_doubted = 1",
      "CREATE INDEX operation_unread ON operation (sent_ms) WHERE state = 'done' AND left_values IS NULL",
      operationMoves,
      """
      CREATE TRIGGER operation_starts BEFORE INSERT ON operation WHEN NEW.state <> 'planned'
      BEGIN SELECT RAISE(ABORT, 'an operation begins as planned'); END
      """,
      """
      CREATE TRIGGER operation_stays BEFORE DELETE ON operation
        WHEN \(isOne(of: OperationState.unfinished.map(\.rawValue), "OLD.state"))
      BEGIN SELECT RAISE(ABORT, 'an operation that is under way stays in the ledger'); END
      """,
    ] + unsettledIndexes

  private static let operationColumns = """
    id, edit_id, run_id, batch, action, sender, sobject, record_id, external_field, external_value, payload,
      expected, level, attempt, sent_ms, result_id, code, message, server_date, left_values, state, sender_id,
      seen, is_doubted, job_id, since_ms, last_ms
    """

  private static let unsettledIndexes = [
    "DROP INDEX outcome_unsettled",
    "CREATE INDEX outcome_unsettled ON outcome (verdict) WHERE \(isUnsettledOutcome)",
    "DROP INDEX edit_unsettled",
    "CREATE INDEX edit_unsettled ON edit (return_id) WHERE state <> 'closed' OR \(isUnsettledOutcome)",
  ]
}
