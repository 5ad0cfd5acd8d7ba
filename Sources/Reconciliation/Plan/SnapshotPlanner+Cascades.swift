import Ledger
import MobileSync
import Salesforce

// Deletions, and the edits below the records that the org deletes with theirs.
extension SnapshotPlanner {
  /// The verdict of an edit that conflicts with a deletion above it, or of a deletion with edits
  /// below it.
  func cascade(_ edit: OpenEdit) throws -> Settlement? {
    guard let others = cascades.opponents[edit.id] else { return nil }
    let deletes = edit.syncOperation == .delete
    let words =
      switch (deletes, cascades.contradictions.contains(edit.id)) {
      case (true, false): "the org would also delete what other devices have written below it"
      case (true, true): "the org would also delete a record that was moved below it"
      case (false, false):
        "another device has deleted a record, and the org would delete this one with it"
      case (false, true):
        "its device has deleted the record that this one was moved below, and the org would delete both"
      }
    var detail = deletes ? OutcomeDetail() : try editedFields(of: edit).detail
    (detail.message, detail.recordID, detail.otherEdits) = (words, edit.recordID, others.sorted())
    return Settlement(.deviceConflict, detail)
  }

  /// Leaves out the changes of records that the org deletes with a record that the same device has
  /// deleted; they get their verdicts with the deletion's.
  ///
  /// While the deletion is unresolved and not part of the plan, they wait, unless an operator sends
  /// them.
  func followDeletions(_ plan: inout SnapshotPlan) throws {
    for (edit, names) in cascades.kept {
      guard let send = plan.sends.first(where: { $0.edit.id == edit }) else { continue }
      for name in names { plan.leaveOut(name, of: send.edit) }
    }
    try waitForLeaving(&plan)
    let deletions = Dictionary(
      plan.sends.filter { $0.action == .delete }.map { ($0.edit.id, $0) }
    ) { first, _ in first }
    let settled = Set(plan.settled.filter(\.settlement.verdict.isSettled).map(\.edit.id))
    var followers: [Int64: [Write]] = [:]
    var left: Set<Int64> = []
    for send in plan.sends {
      guard let masters = cascades.masters[send.edit.id] else { continue }
      if let deletion = masters.lazy.compactMap({ deletions[$0] }).first {
        // The family itself does the same.
        if isDetail(send, of: deletion) { continue }
        followers[deletion.edit.id, default: []].append(send)
      } else if send.edit.decision?.decision.sends != true,
        let deletion = try masters.first(where: {
          try !settled.contains($0) && state.isUnsettled($0)
        })
      {
        plan.settled.append((send.edit, send.following(deletion, .blocked)))
      } else {
        continue
      }
      left.insert(send.edit.id)
    }
    plan.sends.removeAll { left.contains($0.edit.id) }
    for index in plan.sends.indices {
      plan.sends[index].followers += followers[plan.sends[index].edit.id] ?? []
    }
  }

  /// Leaves deletions while a record that their device moved away is still below theirs, because its
  /// edit is not sent, or does not send the move.
  ///
  /// If it is sent first, the journal checks that it was done.
  private func waitForLeaving(_ plan: inout SnapshotPlan) throws {
    let sent = Set(plan.sends.map(\.edit.id))
    let settled = Set(plan.settled.filter(\.settlement.verdict.isSettled).map(\.edit.id))
    var waiting: Set<Int64> = []
    for (index, send) in plan.sends.enumerated()
    where send.edit.decision?.decision.sends != true {
      let leaving = cascades.leaving[send.edit.id, default: []]
      let left = try leaving.subtracting(sent).subtracting(settled)
        .filter { try state.isUnsettled($0) }
      let unsent = cascades.unsentMoves[send.edit.id, default: []]
      plan.sends[index].leaving = leaving.intersection(sent)
      if left.isEmpty, unsent.isEmpty { continue }
      plan.settled.append((send.edit, send.blocked(byLeaving: left, unsent: unsent)))
      waiting.insert(send.edit.id)
    }
    plan.sends.removeAll { waiting.contains($0.edit.id) }
  }

  /// Whether two writes are a detail and its master in one family.
  private func isDetail(_ send: Write, of master: Write) -> Bool {
    let (rule, parent) = (rules[send.sync], rules[master.sync])
    guard case .child(let targets)? = rule.place, case .parent? = parent.place else {
      return false
    }
    return targets.isMasterDetail && rule.store == parent.store
      && rule.definition.syncName == parent.definition.syncName
  }

  /// Resolves the edits of records that were deleted with a record of the same device, if they were
  /// left before it was known that the deletion was applied.
  nonisolated(nonsending) func settleDeleted(
    _ candidates: inout [Candidate], _ plan: inout SnapshotPlan
  ) async throws {
    var rest: [Candidate] = []
    for candidate in candidates {
      let edit = candidate.edit
      if edit.decision.map({ $0.decision == .retry }) ?? true,
        try await isDeletedWithMaster(candidate)
      {
        plan.settled.append((edit, Write.gone(edit)))
      } else {
        rest.append(candidate)
      }
    }
    candidates = rest
  }

  /// Whether a record is deleted, and its device has deleted its parent in the same return or, by an
  /// edit that was applied, a record above it; for a record that has not been created, whether the
  /// deleted one still is.
  private nonisolated(nonsending) func isDeletedWithMaster(
    _ candidate: Candidate
  ) async throws -> Bool {
    let edit = candidate.edit
    guard candidate.operation == .create || candidate.server == .deleted else { return false }
    if case .child(let targets)? = rules[candidate.sync].place, targets.isMasterDetail,
      let parent = candidate.element[targets.key]?.string?.recordID18,
      try state.hasDeleted(parent, in: edit.returnID), try await areDetails(targets),
      try await isGone(candidate, with: parent, targets.family.parent.sobjectType)
    {
      return true
    }
    for id in cascades.masters[edit.id] ?? [] where try state.verdict(of: id) == .deleted {
      if candidate.operation != .create { return true }
      guard let deletion = try state.openEdit(id: id), let record = deletion.recordID,
        let sobject = deletion.sobject, APIName.isValid(sobject)
      else { continue }
      if try await isGone(candidate, with: record, sobject) { return true }
    }
    return false
  }

  private nonisolated(nonsending) func isGone(
    _ candidate: Candidate, with master: String, _ sobject: String
  ) async throws -> Bool {
    if candidate.operation != .create { return true }
    return try await records.prove(sobject, absent: [master])[master] == .deleted
  }
}
