/// A time at which the ledger went on without knowing what was sent last: it was lost, or is a backup's.
package struct Recovery: Sendable, Hashable {
  /// The epoch that it began.
  package var epoch: Int64
  /// The epoch before: the number of the ledger whose key stamps were made with.
  package var before: Int64
  /// The org before; nil where that is not known.
  package var organizationID: String?
  /// The time of the last run that the ledger knows of, in ms of the org's time; 0 for none.
  package var known: Int64
  /// The number of that run, and of whatever run is known otherwise: those after it have higher ones.
  package var afterRun: Int64
  /// When it happened, in ms of the wall clock.
  package var time: Int64
  /// By when everything that the ledger does not know of was sent, in ms of the org's time; nil before a run
  /// asked the org.
  package var until: Int64?
  /// Who did it.
  package var by: String
  /// What was found, in words.
  package var detail: String
  /// The newest known generation of each snapshot.
  package var generations: [String: Int64] = [:]
  /// Whether later generations may have been published: the directory is a backup's, or was put back.
  package var mayLackGenerations: Bool {
    detail == "backup" || detail == "sound" || detail.hasSuffix(Self.restored)
  }

  /// How `detail` ends where a person said that the whole directory was put back.
  package static let restored = ", restored"

  /// A recovery.
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
  /// The newest generation of a snapshot that is known to be of an epoch: nil where the ledger is in it still, and
  /// 0 for an epoch that it has never been in.
  package func lastGeneration(ofEpoch epoch: Int64, of snapshotID: String) -> Int64? {
    if isEmpty || epoch == last?.epoch { return nil }
    return first { $0.before == epoch }?.generations[snapshotID] ?? 0
  }
}
