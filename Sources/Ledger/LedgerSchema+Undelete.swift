extension LedgerSchema {
  /// A write may be one that takes a record out of the recycle bin.
  ///
  /// SQLite changes no check of a table that is there: it is made anew, with all that belongs to it.
  static let undeleting =
    [
      """
      CREATE TABLE operation_after (
        id INTEGER PRIMARY KEY, edit_id INTEGER NOT NULL REFERENCES edit,
        run_id TEXT NOT NULL REFERENCES run (id), batch INTEGER,
        action TEXT NOT NULL CHECK (action IN ('create', 'update', 'upsert', 'delete', 'undelete')),
        sender TEXT NOT NULL, sobject TEXT NOT NULL, record_id TEXT, external_field TEXT,
        external_value TEXT, payload TEXT NOT NULL, expected TEXT NOT NULL,
        level INTEGER NOT NULL, attempt INTEGER NOT NULL DEFAULT 0,
        sent_ms INTEGER, result_id TEXT, code TEXT, message TEXT, server_date TEXT, left_values TEXT,
        state TEXT NOT NULL CHECK (state IN
          ('planned', 'sent', 'doubt', 'done', 'rejected', 'conflict', 'dropped')),
        sender_id TEXT, seen TEXT, is_doubted INTEGER NOT NULL DEFAULT 0, job_id TEXT,
        since_ms INTEGER, last_ms INTEGER) STRICT
      """,
      """
      INSERT INTO operation_after SELECT \(operationColumns) FROM operation
      """,
      "DROP TABLE operation",
      "ALTER TABLE operation_after RENAME TO operation",
      """
      CREATE UNIQUE INDEX operation_live ON operation (edit_id)
        WHERE state IN ('planned', 'sent', 'doubt')
      """,
      "CREATE INDEX operation_by_state ON operation (state) WHERE state IN ('planned','sent','doubt')",
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
        WHEN OLD.state IN ('planned', 'sent', 'doubt')
      BEGIN SELECT RAISE(ABORT, 'an operation that is under way stays in the ledger'); END
      """,
    ]

  static let operationColumns = """
    id, edit_id, run_id, batch, action, sender, sobject, record_id, external_field, external_value, payload,
      expected, level, attempt, sent_ms, result_id, code, message, server_date, left_values, state, sender_id,
      seen, is_doubted, job_id, since_ms, last_ms
    """
}
