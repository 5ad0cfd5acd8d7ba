import Ledger

/// Decides whether edits of several lineages conflict over one record.
package enum DeviceConflictRule {
  /// The edits that `edit` conflicts with under a policy; empty if it may be sent.
  ///
  /// None of `claims` belongs to the past of its lineage. `issued` is the time of its bundle: a
  /// device conflict reported before then is over.
  package static func opponents(
    of edit: RecordClaim, deviceDate: String?, issued: Int64?, claims: [RecordClaim],
    policy: ReconcileOptions.DeviceConflicts
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
      return claim.verdict != .deviceConflict || claim.isNews(toBundleOf: issued)
    }
    let standing: [RecordClaim]
    switch policy {
    case .manual: standing = written + undecided
    case .firstWins:
      standing = written + undecided.filter { !policy.sends(edit.editID, over: $0.editID) }
    case .lastWins:
      standing = (written + undecided).filter { !policy.sends(edit.editID, over: $0.editID) }
    }
    return standing.map(\.editID).sorted()
  }
}

extension ReconcileOptions.DeviceConflicts {
  /// Whether the policy sends `edit` rather than `other`, another edit of the same record; edits
  /// are numbered in order of arrival.
  func sends(_ edit: Int64, over other: Int64) -> Bool {
    switch self {
    case .manual: false
    case .firstWins: edit < other
    case .lastWins: edit > other
    }
  }
}
