import SQLite

extension LedgerDatabase {
  /// Starts a new epoch: bundles of earlier epochs may return edits that were already sent by runs
  /// that this ledger does not know.
  ///
  /// Open runs are ended. The org is not contacted here. With `newOrganization`, the next run ties
  /// the ledger to the org that it finds.
  package func recover(_ recovery: Recovery, stampKeyDigest: String, newOrganization: Bool) throws {
    try connection.transaction {
      try connection.run(
        """
        INSERT INTO recovery (epoch, before, organization, known_ms, after_run, recovered_ms, recovered_by, detail)
        VALUES (\(recovery.epoch), \(recovery.before), \(recovery.organizationID), \(recovery.known),
          \(recovery.afterRun), \(recovery.time), \(recovery.by), \(recovery.detail))
        """)
      for (snapshot, generation) in recovery.generations.sorted(by: { $0.key < $1.key }) {
        try connection.run(
          "INSERT INTO recovered_snapshot VALUES (\(recovery.epoch), \(snapshot), \(generation))")
      }
      try store(recovery.epoch, as: .epoch)
      try store(recovery.afterRun, as: .runNumber)
      try store(stampKeyDigest, as: .stampKey)
      try connection.run(
        """
        DELETE FROM meta WHERE name = \(LedgerNote<Int64>.backup.name) OR \(newOrganization)
          AND name IN (\(LedgerNote<String>.organization.name), \(LedgerNote<String>.instance.name))
        """
      )
      try abandonOpenRuns()
    }
  }

  /// All recoveries, the earliest first.
  package func recoveries() throws -> [Recovery] {
    try connection.all(
      """
      SELECT epoch, organization, known_ms, after_run, recovered_ms, recovered_by, detail, until_ms, before
      FROM recovery ORDER BY epoch
      """
    ).map { row in
      var recovery = Recovery(
        epoch: row[0].integer ?? 0, before: row[8].integer ?? 0, organizationID: row[1].text,
        known: row[2].integer ?? 0,
        afterRun: row[3].integer ?? 0, time: row[4].integer ?? 0, by: row[5].text ?? "",
        detail: row[6].text ?? "", generations: [:])
      recovery.until = row[7].integer
      for known in try connection.all(
        "SELECT snapshot_id, generation FROM recovered_snapshot WHERE epoch = \(recovery.epoch)")
      {
        recovery.generations[known[0].text ?? ""] = known[1].integer
      }
      return recovery
    }
  }

  /// Writes a copy of the whole ledger to a path that does not exist yet.
  package func copy(to path: String) throws { try connection.run("VACUUM INTO \(path)") }
}
