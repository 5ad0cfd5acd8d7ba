import Ledger

/// Decides whether edits of several lineages meet in one record.
package enum DeviceConflictRule {
  /// The edits that `edit` clashes with under a policy; empty when it may be sent.
  ///
  /// None of `claims` is of its lineage's own past. `issued` is when its bundle was made: a clash that
  /// was reported before that is over.
  package static func opponents(
    of edit: RecordClaim, deviceDate: String?, issued: Int64?, claims: [RecordClaim],
    policy: ReconcileOptions.DeviceConflicts
  ) -> [Int64] {
    // What was undone is not in the org any more.
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
  /// Whether of two edits of one record this is the one to send; edits are numbered as they come in.
  func sends(_ edit: Int64, over other: Int64) -> Bool {
    switch self {
    case .manual: false
    case .firstWins: edit < other
    case .lastWins: edit > other
    }
  }
}
