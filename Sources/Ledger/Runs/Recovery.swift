/// A recovery: the ledger was lost or restored from a backup, and was put back into use without a
/// record of what was sent last.
package struct Recovery: Sendable, Hashable {
  /// The epoch that it started.
  package var epoch: Int64
  /// The previous epoch, whose key signed the earlier stamps.
  package var before: Int64
  /// The previous org; nil if unknown.
  package var organizationID: String?
  /// The time of the last run that the ledger knows, in ms of the org's time; 0 if there is none.
  package var known: Int64
  /// The greatest known run number, from the ledger or elsewhere.
  ///
  /// Later runs get higher numbers.
  package var afterRun: Int64
  /// The time of the recovery, in ms of the wall clock.
  package var time: Int64
  /// The org's time before which all unknown writes were sent, in ms; nil until a run has asked the
  /// org.
  package var until: Int64?
  /// Who ran it.
  package var by: String
  /// A description of what was found.
  package var detail: String
  /// The newest known generation of each snapshot.
  package var generations: [String: Int64] = [:]
  /// Whether later generations may have been published, because the directory is a backup or was
  /// restored from one.
  package var mayLackGenerations: Bool {
    detail == "backup" || detail == "sound" || detail.hasSuffix(Self.restored)
  }

  /// The suffix of `detail` if the operator said that the whole directory was restored.
  package static let restored = ", restored"

  package init(
    epoch: Int64, before: Int64, organizationID: String?, known: Int64, afterRun: Int64,
    time: Int64, by: String,
    detail: String, generations: [String: Int64]
  ) {
    (self.epoch, self.before) = (epoch, before)
    (self.organizationID, self.known) = (organizationID, known)
    (self.afterRun, self.time, self.by) = (afterRun, time, by)
    (self.detail, self.generations) = (detail, generations)
  }
}

extension [Recovery] {
  /// The newest generation of a snapshot known to be of an epoch: nil if the ledger is still in
  /// that epoch, and 0 if it has never been in it.
  package func lastGeneration(ofEpoch epoch: Int64, of snapshotID: String) -> Int64? {
    if isEmpty || epoch == last?.epoch { return nil }
    return first { $0.before == epoch }?.generations[snapshotID] ?? 0
  }
}
