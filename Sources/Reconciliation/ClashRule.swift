/// One edit's claim on a record.
package struct RecordClaim: Sendable, Hashable {
  /// The edit; numbers ascend in order of arrival.
  package var editID: Int64
  /// Its lineage.
  package var lineage: Int64
  /// The hand-back of its return.
  package var handback: Int64?
  /// When its return arrived, in ms.
  package var arrived: Int64
  /// What became of it so far; nil while it was never considered.
  package var verdict: Verdict?
  /// The server's date that our write of it left.
  package var writtenDate: String?

  /// A claim.
  package init(
    editID: Int64, lineage: Int64, handback: Int64?, arrived: Int64, verdict: Verdict?,
    writtenDate: String? = nil
  ) {
    self.editID = editID
    self.lineage = lineage
    self.handback = handback
    self.arrived = arrived
    self.verdict = verdict
    self.writtenDate = writtenDate
  }

  /// Says whether nobody has decided about it yet.
  var isUndecided: Bool {
    switch verdict {
    case nil, .clash, .held, .blocked, .inDoubt: true
    default: false
    }
  }
}

/// Decides whether edits of several lineages meet in one record.
package enum ClashRule {
  /// The edits that `edit` clashes with under a policy; empty when it may be sent.
  ///
  /// `issued` is when its bundle was made: a clash that was reported before that is over.
  package static func opponents(
    of edit: RecordClaim, ancestry: Ancestry, deviceDate: String?, issued: Int64?,
    claims: [RecordClaim], policy: ReconcileOptions.Across
  ) -> [Int64] {
    let others = claims.filter {
      $0.editID != edit.editID && !ancestry.owns(lineage: $0.lineage, handback: $0.handback)
        && $0.verdict != .superseded
    }
    let written = others.filter { claim in
      guard let date = claim.writtenDate else { return false }
      guard let deviceDate else { return true }
      return ServerDate.isBefore(deviceDate, date)
    }
    let undecided = others.filter { claim in
      guard claim.isUndecided, claim.writtenDate == nil else { return false }
      guard claim.verdict == .clash, let issued else { return true }
      return issued <= claim.arrived
    }
    let standing: [RecordClaim]
    switch policy {
    case .report: standing = written + undecided
    case .first: standing = written + undecided.filter { $0.editID < edit.editID }
    case .last: standing = undecided.filter { $0.editID > edit.editID }
    }
    return standing.map(\.editID).sorted()
  }
}
