import Ledger

/// The stages of a pipeline, in the order in which they run.
package enum Stage: String, Sendable, CaseIterable {
  /// Takes returns from the inbox, validates them and records their edits.
  case ingest
  /// Sends the edits to the org and reports their outcomes.
  case reconcile
  /// Fetches changes and publishes new generations.
  case prime
  /// Writes the bundles of the generations and moves `current`.
  case pack
}

extension LedgerDatabase {
  /// Returns the org's time at the last run that contacted the org.
  ///
  /// A run that does not uses this machine's time.
  func lastOrgTime() throws -> Int64? {
    let asking: Set<Stage> = [.reconcile, .prime]
    return try runs(limit: 400, withStages: true).first {
      !$0.wanted.isDisjoint(with: asking.map(\.rawValue))
    }?.now
  }
}
