extension LedgerSchema {
  /// Indexes that keep the cost of a run proportional to its own work, regardless of earlier runs:
  /// each query finds its rows without scanning those of other snapshots and runs.
  static let growth = [
    "CREATE INDEX returned_of_snapshot ON returned (snapshot_id)",
    "CREATE INDEX returned_of_lineage ON returned (lineage_id, handback)",
    "CREATE INDEX returned_handed ON returned (coalesce(part_of, id))",
    "CREATE INDEX creation_by_device_record ON creation (device_record_id) WHERE device_record_id IS NOT NULL",
    "CREATE INDEX edit_by_local_id ON edit (local_id) WHERE local_id IS NOT NULL",
    "DROP INDEX edit_unfinished",
    "DROP INDEX edit_by_row",
    "CREATE INDEX edit_unread ON edit (store, soup, entry_id) WHERE finding IS NOT NULL AND record_id IS NULL AND creation_id IS NULL",
    "CREATE INDEX edit_unsettled ON edit (return_id) WHERE state <> 'closed' OR \(isUnsettledOutcome)",
    "CREATE INDEX operation_unread ON operation (sent_ms) WHERE state = 'done' AND left_values IS NULL",
  ]
}
