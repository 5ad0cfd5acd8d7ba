extension LedgerDatabase {
  /// Notes that a snapshot was primed: its newest generation holds what the org held at `time`.
  package func notePrimed(snapshotID: String, at time: Int64) throws {
    try setMeta("primed \(snapshotID)", String(time))
  }

  /// When a snapshot was last primed, by the org's clock; nil if that was never noted.
  package func primedAt(snapshotID: String) throws -> Int64? {
    try meta("primed \(snapshotID)").flatMap { Int64($0) }
  }
}
