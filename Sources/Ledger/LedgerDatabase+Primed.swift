import SQLite

extension LedgerDatabase {
  /// Notes that a run has primed a snapshot: its newest generation holds what the org held at `time`.
  package func notePrimed(snapshotID: String, at time: Int64, run: Int64) throws {
    try setMeta("primed \(snapshotID)", String(time))
    try setMeta("primed by \(snapshotID)", String(run))
  }

  /// Notes when a run began to read what a snapshot's newest generation stands for, by the org's clock as it was
  /// then, whether or not it made the generation.
  package func noteRead(snapshotID: String, generation: Int, at time: Int64) throws {
    try setMeta("read \(snapshotID)", "\(generation) \(time)")
  }

  /// When a generation of a snapshot was last held against the org, by the org's clock as it was then; nil if
  /// that was not noted of this one.
  package func readAt(snapshotID: String, generation: Int) throws -> Int64? {
    let noted = try meta("read \(snapshotID)")?.split(separator: " ").compactMap { Int64($0) } ?? []
    return noted.count == 2 && noted[0] == Int64(generation) ? noted[1] : nil
  }

  /// Notes that the limit of requests cut the prime of a snapshot off, at `time`.
  package func noteCutOff(snapshotID: String, at time: Int64) throws {
    try setMeta("cut off \(snapshotID)", String(time))
  }

  /// When the limit of requests last cut the prime of a snapshot off, by the org's clock; nil if it never did.
  package func cutOffAt(snapshotID: String) throws -> Int64? {
    try meta("cut off \(snapshotID)").flatMap { Int64($0) }
  }

  /// When a snapshot was last primed, by the org's clock; nil if that was never noted.
  package func primedAt(snapshotID: String) throws -> Int64? {
    try meta("primed \(snapshotID)").flatMap { Int64($0) }
  }

  /// The records of a snapshot's edits that runs have settled since it was last primed, and in the run that
  /// primes it: what its user has made of them may be that a sync selects them no more.
  ///
  /// A run that was broken off and is gone on with keeps its number: what it settles in its second life may
  /// have been settled after it had primed the snapshot.
  package func recordsSettledSincePrime(snapshotID: String, in current: Int64) throws -> Set<String>
  {
    let time = try primedAt(snapshotID: snapshotID) ?? 0
    let run = try meta("primed by \(snapshotID)").flatMap { Int64($0) } ?? 0
    let rows = try connection.all(
      """
      SELECT e.record_id, c.record_id, c.device_record_id, c.chosen_id, o.result_id
      FROM returned r JOIN edit e ON e.return_id = r.id LEFT JOIN creation c ON c.id = e.creation_id
        LEFT JOIN operation o ON o.edit_id = e.id AND o.state = \(OperationState.done)
      WHERE r.snapshot_id = \(snapshotID) AND e.state = 'closed' AND EXISTS (
        SELECT 1 FROM outcome x JOIN run n ON n.id = x.run_id
        WHERE x.edit_id = e.id AND (n.number > \(run) OR n.number = \(current)) AND n.now_ms >= \(time))
      """)
    return Set(rows.flatMap { $0.compactMap(\.text) })
  }
}
