extension LedgerSchema {
  /// The decisions of operators.
  ///
  /// Only the `state` of a row changes: it is `pending` until a run applies the decision (`done`)
  /// or finds that the org's values have changed (`moved`), or something else resolves or replaces
  /// it (`withdrawn`). An edit has at most one pending decision. `shown` has the org's values that
  /// the operator saw. `creation.chosen_id` is the record that the operator chose of two.
  static let decisions = [
    """
    CREATE TABLE decision (
      id INTEGER PRIMARY KEY, edit_id INTEGER NOT NULL REFERENCES edit,
      kind TEXT NOT NULL CHECK (kind IN ('device', 'server', 'set', 'record', 'retry', 'discard')),
      detail TEXT NOT NULL, verdict TEXT, shown TEXT NOT NULL, decided_by TEXT NOT NULL,
      decided_ms INTEGER NOT NULL, run_id TEXT REFERENCES run (id),
      state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'moved', 'withdrawn'))) STRICT
    """,
    "CREATE UNIQUE INDEX decision_pending ON decision (edit_id) WHERE state = 'pending'",
    "CREATE INDEX decision_of_edit ON decision (edit_id)",
    """
    CREATE TRIGGER decision_moves BEFORE UPDATE OF state ON decision WHEN OLD.state <> 'pending'
    BEGIN SELECT RAISE(ABORT, 'a decision that is carried out stays as it is'); END
    """,
    "ALTER TABLE creation ADD COLUMN chosen_id TEXT",
    // There is one more resolved verdict.
    "DROP INDEX outcome_unsettled",
    "CREATE INDEX outcome_unsettled ON outcome (verdict) WHERE \(isUnsettledOutcome)",
  ]
}
