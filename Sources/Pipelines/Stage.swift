import Ledger

/// A stage of a pipeline, in the order in which a run does them.
package enum Stage: String, Sendable, CaseIterable {
  /// Takes returns from the inbox, proves them and records their edits.
  case ingest
  /// Sends the edits to the org and reports what became of each.
  case reconcile
  /// Fetches what changed and publishes new generations.
  case prime
  /// Writes the bundles of the generations and moves `current`.
  case pack
}

extension LedgerDatabase {
  /// The org's time at the last run that asked the org; without asking it a run has this machine's.
  func lastOrgTime() throws -> Int64? {
    let asking: Set<Stage> = [.reconcile, .prime]
    return try lastRunTime(ofStages: Set(asking.map(\.rawValue)))
  }
}
