import SQLite

extension LedgerDatabase {
  /// Begins an epoch: from here on what bundles of earlier ones bring may have been sent by runs that this
  /// ledger does not know of.
  ///
  /// Runs that are not over are over; an org is not asked for here, and with `newOrganization` the next run
  /// ties the ledger to the one that it finds.
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

  /// Every recovery, the first one first.
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

  /// Notes that a run asks the org, in milliseconds of its time: everything that the ledger does not know of was
  /// sent by then.
  package func noteReach(now: Int64) throws {
    try connection.run("UPDATE recovery SET until_ms = \(now) WHERE until_ms IS NULL")
  }

  /// Notes who sends where a user cannot: he may have sent what a run sent that nobody remembers.
  package func noteIntegrationUser(id: String) throws {
    if try meta("integrationUser") != id { try setMeta("integrationUser", id) }
  }

  /// Notes that this file is a copy for a backup: it is not to be gone on with as it is.
  package func noteBackup(time: Int64) throws { try setMeta(Self.backupTime, String(time)) }

  /// When the backup was made whose copy this is, in ms of the wall clock; nil for a ledger in use.
  package var backupTime: Int64? {
    get throws { try meta(Self.backupTime).flatMap { Int64($0) } }
  }

  private static let backupTime = "backup"

  /// Writes a copy of the whole ledger to a path where nothing stands.
  package func copy(to path: String) throws { try connection.run("VACUUM INTO \(path)") }
}
