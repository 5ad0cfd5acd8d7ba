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
      try setMeta("epoch", String(recovery.epoch))
      try setMeta("runNumber", String(recovery.afterRun))
      try setMeta("stampKeyDigest", stampKeyDigest)
      try connection.run(
        "DELETE FROM meta WHERE name = \(Self.backupTime) OR \(newOrganization) AND name IN ('organization', 'instance')"
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

  /// Records that a run is using the org, at `now` in ms of the org's time.
  ///
  /// Writes that the ledger does not know were sent before then.
  package func noteReach(now: Int64) throws {
    try connection.run("UPDATE recovery SET until_ms = \(now) WHERE until_ms IS NULL")
  }

  /// Records the user who sends writes on behalf of users who cannot, because an unknown run may
  /// have sent writes as this user.
  package func noteIntegrationUser(id: String) throws {
    if try meta("integrationUser") != id { try setMeta("integrationUser", id) }
  }

  /// Records that this file is a backup copy, which must be recovered before use.
  package func noteBackup(time: Int64) throws { try setMeta(Self.backupTime, String(time)) }

  /// When this backup copy was made, in ms of the wall clock; nil for a ledger in use.
  package var backupTime: Int64? {
    get throws { try meta(Self.backupTime).flatMap { Int64($0) } }
  }

  private static let backupTime = "backup"

  /// Writes a copy of the whole ledger to a path that does not exist yet.
  package func copy(to path: String) throws { try connection.run("VACUUM INTO \(path)") }
}
