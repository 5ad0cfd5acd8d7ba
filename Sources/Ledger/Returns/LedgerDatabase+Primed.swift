import SQLite

extension LedgerDatabase {
  /// The records of a snapshot's edits, by soup: of those that have been resolved since it was last
  /// primed, including by the run that primes it, and of the unresolved ones.
  ///
  /// A sync may no longer select the former after the user's changes.
  ///
  /// A resumed run keeps its number, so edits that it resolves after it was resumed may have been
  /// resolved after it primed the snapshot.
  package func recordsOfEdits(
    snapshotID: String, in current: Int64
  ) throws -> (settled: [String: Set<String>], open: [String: Set<String>]) {
    let time = try noted(.primed(snapshotID)) ?? 0
    let run = try noted(.primingRun(snapshotID)) ?? 0
    let settled = try connection.all(
      """
      SELECT e.soup, e.record_id, c.record_id, c.device_record_id, c.chosen_id, o.result_id
      FROM returned r JOIN edit e ON e.return_id = r.id LEFT JOIN creation c ON c.id = e.creation_id
        LEFT JOIN operation o ON o.edit_id = e.id AND o.state = \(OperationState.done)
      WHERE r.snapshot_id = \(snapshotID) AND e.state = 'closed' AND EXISTS (
        SELECT 1 FROM outcome x JOIN run n ON n.id = x.run_id
        WHERE x.edit_id = e.id AND (n.number > \(run) OR n.number = \(current)) AND n.now_ms >= \(time))
      """)
    let open = try connection.all(
      """
      SELECT e.soup, e.record_id, c.record_id, c.device_record_id, c.chosen_id
      FROM returned r JOIN edit e ON e.return_id = r.id
        LEFT JOIN creation c ON c.id = e.creation_id
      WHERE r.snapshot_id = \(snapshotID) AND \(Self.isUnsettledEdit)
      """)
    return (Self.bySoup(settled), Self.bySoup(open))
  }

  /// The IDs that follow the soup in each row.
  private static func bySoup(_ rows: [[SQLiteValue]]) -> [String: Set<String>] {
    rows.reduce(into: [:]) { records, row in
      records[row[0].text ?? "", default: []].formUnion(row.dropFirst().compactMap(\.text))
    }
  }
}
