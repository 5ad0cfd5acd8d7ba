/// One edit's claim on a record.
package struct RecordClaim: Sendable, Hashable {
  /// The edit; numbers ascend in order of arrival.
  package var editID: Int64
  /// When the run began that took its return, in ms.
  package var arrived: Int64
  /// What became of it so far; nil while it was never considered.
  package var verdict: Verdict?
  /// The server's date that our write of it left.
  package var writtenDate: String?

  /// A claim.
  package init(
    editID: Int64, arrived: Int64, verdict: Verdict?, writtenDate: String? = nil
  ) {
    self.editID = editID
    self.arrived = arrived
    self.verdict = verdict
    self.writtenDate = writtenDate
  }

  /// Says whether a device with a bundle of that time, in ms, cannot know of it.
  ///
  /// A run primes after it has reconciled: its own bundles are made in the knowledge of all that it
  /// took, and bear the time at which it began.
  package func isNews(toBundleOf issued: Int64?) -> Bool { issued.map { $0 < arrived } ?? true }

  /// Says whether nobody has decided about it yet.
  package var isUndecided: Bool {
    switch verdict {
    case nil, .deviceConflict, .notAttempted, .blocked, .unconfirmed: true
    default: false
    }
  }
}
