import Ledger
import MobileSync
import Salesforce

// What runs may have sent that the ledger does not know of: it was lost, or is a backup's.
extension Reconciler {
  /// Looks for the new records of a plan that a run may have made of which the ledger does not know, as for
  /// creates without an answer; nothing else of the plan goes before that is known.
  ///
  /// What is not there is planned again, and sent; what may be there waits for a person. One that names a
  /// record without an Id yet is looked for when that one is found, or sent.
  nonisolated(nonsending) func presumeSent(
    _ plan: inout SnapshotPlan, as access: RecordReader
  ) async throws {
    let presumed = plan.sends.filter { $0.edit.mayHaveBeenSent && $0.action == .create }
    if presumed.isEmpty { return }
    var ready = presumed.filter { $0.waiting.isEmpty && $0.tree?.takesParentID != true }
    if ready.isEmpty {
      let waiting = Set(presumed.map(\.edit.id))
      if waiting.count < plan.sends.count { return plan.leaveOut(waiting) }
      // Each names another one.
      ready = presumed
    }
    plan.leaveOut(Set(plan.sends.map(\.edit.id)))
    try presume(ready, as: access)
    try await settleDoubts(of: [plan.snapshotID])
  }

  private func presume(_ sends: [PlannedSend], as access: RecordReader) throws {
    let recoveries = try state.recoveries()
    // What was sent before the last run that the ledger knows of, it knows.
    let known = recoveries.map(\.known).min() ?? 0
    let until = recoveries.compactMap(\.until).max() ?? run.now
    let identity = access.session.identity
    for send in sends {
      var operation = send.operation(sender: identity.username)
      for field in send.waiting.keys { operation.payload[field] = nil }
      try state.presume(
        operation, run: run.id, senderID: identity.userID,
        since: max(send.edit.issued ?? 0, known), until: until)
    }
  }
}

extension SnapshotPlan {
  /// Leaves edits open, to be planned again.
  fileprivate mutating func leaveOut(_ edits: Set<Int64>) {
    sends.removeAll { edits.contains($0.edit.id) }
    levels = levels.map { $0.filter { !edits.contains($0) } }
  }
}
