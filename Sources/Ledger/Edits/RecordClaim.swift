/// The claim of one edit on a record.
package struct RecordClaim: Sendable, Hashable {
  /// The edit's number; numbers increase in order of arrival.
  package var editID: Int64
  /// The start of the run that ingested its return, in ms.
  package var arrived: Int64
  /// The latest verdict; nil if no run has processed it.
  package var verdict: Verdict?
  /// The server's date after attache's write of the edit.
  package var writtenDate: String?

  package init(
    editID: Int64, arrived: Int64, verdict: Verdict?, writtenDate: String? = nil
  ) {
    self.editID = editID
    self.arrived = arrived
    self.verdict = verdict
    self.writtenDate = writtenDate
  }

  /// Whether the device of a bundle made at `issued`, in ms, cannot know of the edit.
  ///
  /// A run primes after it has reconciled, so its bundles take account of every edit that it
  /// ingested. They have the time at which the run started.
  package func isNews(toBundleOf issued: Int64?) -> Bool { issued.map { $0 < arrived } ?? true }

  /// Whether the edit has not been decided yet.
  package var isUndecided: Bool {
    switch verdict {
    case nil, .deviceConflict, .notAttempted, .blocked, .unconfirmed: true
    default: false
    }
  }
}
