extension LedgerSchema {
  /// What has to be reported of a run, and which report has it.
  ///
  /// `outcome.reported_by` is the run whose report shows the verdict. It is set before the report's
  /// files are written (`run.report` is `begun` then, and `written` afterwards), so that no second
  /// report shows the verdict, even after an interruption. A run's stages are names separated by
  /// commas: the requested ones, and those of them that are complete.
  static let reporting = [
    "ALTER TABLE run ADD COLUMN wanted TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE run ADD COLUMN finished TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE run ADD COLUMN report TEXT CHECK (report IN ('begun', 'written'))",
    "ALTER TABLE outcome ADD COLUMN reported_by TEXT REFERENCES run (id)",
    """
    UPDATE run SET report = 'written'
    WHERE json_valid(summary) AND json_extract(summary, '$.report') IS NOT NULL
    """,
    """
    UPDATE outcome SET reported_by = run_id
    WHERE run_id IN (SELECT id FROM run WHERE report = 'written')
    """,
    "CREATE INDEX outcome_of_report ON outcome (reported_by)",
    "CREATE INDEX outcome_by_edit ON outcome (edit_id)",
    "CREATE INDEX outcome_unsettled ON outcome (verdict) WHERE \(isUnsettledOutcome)",
    """
    CREATE TABLE finding (
      id INTEGER PRIMARY KEY, run_id TEXT NOT NULL REFERENCES run (id), kind TEXT NOT NULL,
      subject TEXT NOT NULL, detail TEXT NOT NULL, settled_by TEXT REFERENCES run (id),
      reported_by TEXT REFERENCES run (id), UNIQUE (run_id, kind, subject)) STRICT
    """,
    "CREATE INDEX finding_of_report ON finding (reported_by)",
    "CREATE INDEX finding_open ON finding (kind) WHERE settled_by IS NULL",
  ]

  /// The condition that a verdict is unresolved, as in the index over such verdicts.
  package static let isUnsettledOutcome = isUnsettled("verdict")

  /// The same condition for a column, as a comparison with each value (see `comparing`).
  package static func isUnsettled(_ column: String) -> String {
    let settled = [
      "created", "updated", "deleted", "unchanged", "already in org", "not in field list",
      "superseded",
      "discarded", "undone", "partly undone", "not undone",
    ]
    return "(" + settled.map { "\(column) <> '\($0)'" }.joined(separator: " AND ") + ")"
  }
}
