extension LedgerSchema {
  /// What people decided.
  ///
  /// A row is never changed but in its `state`: `pending` until a run carries it out (`done`), finds that
  /// the org has moved on (`moved`), or something else settles or replaces it (`withdrawn`). Of an edit
  /// one is pending. `shown` has the org's values that its maker saw. `creation.chosen_id` is the one
  /// that a person chose of two records.
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
    // The settled verdicts have one more.
    "DROP INDEX outcome_unsettled",
    "CREATE INDEX outcome_unsettled ON outcome (verdict) WHERE \(isUnsettledOutcome)",
  ]
}
