extension LedgerSchema {
  /// What of a run is to be told, and which report has told it.
  ///
  /// `outcome.reported_by` is the run whose report shows the verdict. It is entered before the
  /// report's files are written (`run.report` is `begun` then, and `written` afterwards), so that
  /// whatever dies in between, no second report shows it too. A run's stages are names, separated
  /// by commas: those that it was asked for, and those of them that have done their work.
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

  /// That a verdict is none of the settled ones, as the index over the others has it.
  package static let isUnsettledOutcome = isUnsettled("verdict")

  /// The same of a verdict in a column: each comparison by itself, as `comparing` says.
  package static func isUnsettled(_ column: String) -> String {
    let settled = [
      "created", "updated", "deleted", "unchanged", "already in org", "not in field list",
      "superseded",
      "discarded", "undone", "partly undone", "not undone",
    ]
    return "(" + settled.map { "\(column) <> '\($0)'" }.joined(separator: " AND ") + ")"
  }
}
