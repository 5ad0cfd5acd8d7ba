extension LedgerSchema {
  /// The changes of a resolved edit can be undone, which takes a decision and two more resolved
  /// verdicts.
  static let undoing =
    [
      """
      CREATE TABLE decision_after (
        id INTEGER PRIMARY KEY, edit_id INTEGER NOT NULL REFERENCES edit,
        kind TEXT NOT NULL
          CHECK (kind IN ('device', 'server', 'set', 'record', 'retry', 'discard', 'undo')),
        detail TEXT NOT NULL, verdict TEXT, shown TEXT NOT NULL, decided_by TEXT NOT NULL,
        decided_ms INTEGER NOT NULL, run_id TEXT REFERENCES run (id),
        state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'moved', 'withdrawn'))) STRICT
      """,
      """
      INSERT INTO decision_after SELECT id, edit_id, kind, detail, verdict, shown, decided_by, decided_ms,
        run_id, state FROM decision
      """,
      "DROP TABLE decision",
      "ALTER TABLE decision_after RENAME TO decision",
      "CREATE UNIQUE INDEX decision_pending ON decision (edit_id) WHERE state = 'pending'",
      "CREATE INDEX decision_of_edit ON decision (edit_id)",
      """
      CREATE TRIGGER decision_moves BEFORE UPDATE OF state ON decision WHEN OLD.state <> 'pending'
      BEGIN SELECT RAISE(ABORT, 'a decision that is carried out stays as it is'); END
      """,
    ] + partlyUndone

  /// There is one more resolved verdict.
  static let partlyUndone = [
    "DROP INDEX outcome_unsettled",
    "CREATE INDEX outcome_unsettled ON outcome (verdict) WHERE \(isUnsettledOutcome)",
  ]
}
