import Ledger
import MobileSync
import Salesforce

// Writes that a run unknown to the ledger may have sent, because the ledger was lost or restored
// from a backup.
extension Reconciler {
  /// Looks for new records of a plan that an unknown run may have created, as for creates without
  /// an answer; nothing else of the plan is sent before.
  ///
  /// Records that are missing are planned again and sent; ambiguous ones need review. A record that
  /// refers to one without an ID yet is looked for after that one is found or sent.
  nonisolated(nonsending) func presumeSent(
    _ plan: inout SnapshotPlan, as access: RecordReader
  ) async throws {
    let presumed = plan.sends.filter { $0.edit.mayHaveBeenSent && $0.action == .create }
    if presumed.isEmpty { return }
    var ready = presumed.filter { $0.waiting.isEmpty && $0.tree?.takesParentID != true }
    if ready.isEmpty {
      let waiting = Set(presumed.map(\.edit.id))
      if waiting.count < plan.sends.count { return plan.leaveOut(waiting) }
      // Each refers to another one.
      ready = presumed
    }
    plan.leaveOut(Set(plan.sends.map(\.edit.id)))
    try presume(ready, as: access)
    try await settleDoubts(of: [plan.snapshotID])
  }

  private func presume(_ sends: [Write], as access: RecordReader) throws {
    let recoveries = try state.recoveries()
    // The ledger knows everything that was sent before the last run that it knows.
    let known = recoveries.map(\.known).min() ?? 0
    let until = recoveries.compactMap(\.until).max() ?? run.now
    let identity = access.session.identity
    for send in sends {
      var operation = send.operation(by: identity)
      for field in send.waiting.keys { operation.payload[field] = nil }
      operation.sinceMilliseconds = max(send.edit.issued ?? 0, known)
      operation.sentMilliseconds = until
      _ = try state.plan([([operation], identity.userID)], run: run.id)
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
