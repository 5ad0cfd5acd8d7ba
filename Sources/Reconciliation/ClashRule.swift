import Ledger

/// Decides whether edits of several lineages conflict over one record.
package enum ClashRule {
  /// The edits that `edit` conflicts with under a policy; empty if it may be sent.
  ///
  /// None of `claims` belongs to the past of its lineage. `issued` is the time of its bundle: a
  /// device conflict reported before then is over.
  package static func opponents(
    of edit: RecordClaim, deviceDate: String?, issued: Int64?, claims: [RecordClaim],
    policy: ReconcileOptions.Across
  ) -> [Int64] {
    // A change that was undone is no longer in the org.
    let others = claims.filter { $0.editID != edit.editID && $0.verdict != .undone }
    let written = others.filter { claim in
      guard let date = claim.writtenDate else { return false }
      guard let deviceDate else { return true }
      return ServerDate.isBefore(deviceDate, date)
    }
    let undecided = others.filter { claim in
      guard claim.isUndecided, claim.writtenDate == nil else { return false }
      return claim.verdict != .clash || claim.isNews(toBundleOf: issued)
    }
    let standing: [RecordClaim]
    switch policy {
    case .report: standing = written + undecided
    case .first:
      standing = written + undecided.filter { !policy.sends(edit.editID, over: $0.editID) }
    case .last:
      standing = (written + undecided).filter { !policy.sends(edit.editID, over: $0.editID) }
    }
    return standing.map(\.editID).sorted()
  }
}

extension ReconcileOptions.Across {
  /// Whether the policy sends `edit` rather than `other`, another edit of the same record; edits
  /// are numbered in order of arrival.
  func sends(_ edit: Int64, over other: Int64) -> Bool {
    switch self {
    case .report: false
    case .first: edit < other
    case .last: edit > other
    }
  }
}
