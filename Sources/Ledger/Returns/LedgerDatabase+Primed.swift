import SQLite

extension LedgerDatabase {
  /// Records that a run has primed a snapshot, whose newest generation has the org's state at
  /// `time`.
  package func notePrimed(snapshotID: String, at time: Int64, run: Int64) throws {
    try setMeta("primed \(snapshotID)", String(time))
    try setMeta("primed by \(snapshotID)", String(run))
  }

  /// Records when a run began to read the data of a snapshot's newest generation, in the org's
  /// time, whether or not it created the generation.
  package func noteRead(snapshotID: String, generation: Int, at time: Int64) throws {
    try setMeta("read \(snapshotID)", "\(generation) \(time)")
  }

  /// When a generation of a snapshot was last compared with the org, in the org's time; nil if that
  /// was not recorded.
  package func readAt(snapshotID: String, generation: Int) throws -> Int64? {
    let noted = try meta("read \(snapshotID)")?.split(separator: " ").compactMap { Int64($0) } ?? []
    return noted.count == 2 && noted[0] == Int64(generation) ? noted[1] : nil
  }

  /// Records that the request limit interrupted the prime of a snapshot at `time`.
  package func noteCutOff(snapshotID: String, at time: Int64) throws {
    try setMeta("cut off \(snapshotID)", String(time))
  }

  /// When the request limit last interrupted the prime of a snapshot, in the org's time; nil if it
  /// never did.
  package func cutOffAt(snapshotID: String) throws -> Int64? {
    try meta("cut off \(snapshotID)").flatMap { Int64($0) }
  }

  /// When a snapshot was last primed, in the org's time; nil if that was never recorded.
  package func primedAt(snapshotID: String) throws -> Int64? {
    try meta("primed \(snapshotID)").flatMap { Int64($0) }
  }

  /// What the last prime learned about calls with several parts; nil before the first.
  package var wideCalls: String? { get throws { try meta("wide calls") } }

  /// Stores what a prime has learned about calls with several parts.
  package func noteWideCalls(_ text: String) throws { try setMeta("wide calls", text) }

  /// The snapshots whose next prime uses nothing of earlier generations.
  package var snapshotsFromScratch: Set<String> {
    get throws { Set(try meta("from scratch")?.split(separator: " ").map(String.init) ?? []) }
  }

  /// Stores the snapshots whose next prime uses nothing of earlier generations.
  package func noteFromScratch(_ snapshots: Set<String>) throws {
    try setMeta("from scratch", snapshots.sorted().joined(separator: " "))
  }

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
    let time = try primedAt(snapshotID: snapshotID) ?? 0
    let run = try meta("primed by \(snapshotID)").flatMap { Int64($0) } ?? 0
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
