import SQLite

extension LedgerDatabase {
  /// The records of a snapshot's edits that have been resolved since it was last primed, including
  /// by the run that primes it, by soup.
  ///
  /// A sync may no longer select these records after the user's changes.
  ///
  /// A resumed run keeps its number, so edits that it resolves after it was resumed may have been
  /// resolved after it primed the snapshot.
  package func recordsSettledSincePrime(
    snapshotID: String, in current: Int64
  ) throws -> [String: Set<String>] {
    let time = try noted(.primed(snapshotID)) ?? 0
    let run = try noted(.primingRun(snapshotID)) ?? 0
    let rows = try connection.all(
      """
      SELECT e.soup, e.record_id, c.record_id, c.device_record_id, c.chosen_id, o.result_id
      FROM returned r JOIN edit e ON e.return_id = r.id LEFT JOIN creation c ON c.id = e.creation_id
        LEFT JOIN operation o ON o.edit_id = e.id AND o.state = \(OperationState.done)
      WHERE r.snapshot_id = \(snapshotID) AND e.state = 'closed' AND EXISTS (
        SELECT 1 FROM outcome x JOIN run n ON n.id = x.run_id
        WHERE x.edit_id = e.id AND (n.number > \(run) OR n.number = \(current)) AND n.now_ms >= \(time))
      """)
    return Self.bySoup(rows)
  }

  /// The records of a snapshot's unresolved edits, by soup.
  package func recordsOfOpenEdits(snapshotID: String) throws -> [String: Set<String>] {
    Self.bySoup(
      try connection.all(
        """
        SELECT e.soup, e.record_id, c.record_id, c.device_record_id, c.chosen_id
        FROM returned r JOIN edit e ON e.return_id = r.id
          LEFT JOIN creation c ON c.id = e.creation_id
        WHERE r.snapshot_id = \(snapshotID) AND \(Self.isUnsettledEdit)
        """))
  }

  /// The IDs that follow the soup in each row.
  private static func bySoup(_ rows: [[SQLiteValue]]) -> [String: Set<String>] {
    rows.reduce(into: [:]) { records, row in
      records[row[0].text ?? "", default: []].formUnion(row.dropFirst().compactMap(\.text))
    }
  }
}
