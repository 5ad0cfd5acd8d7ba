import JSON
import Salesforce

// The second round, after something was found deleted in the org.
extension ParentChildrenRun {
  /// Determines what is deleted and recreates it.
  func repair(
    _ row: Int64, _ first: ParentChildrenRound, of sent: ParentChildrenTree
  ) async throws(SyncError) {
    guard let tree = try elements.tree(row) else {
      // The parent was removed from the store; refused children are still to be reported.
      try refuse(first.missing, fates: [:], sent)
      return
    }
    var facts = ParentChildrenPlan.Facts()
    facts.refused = Set(first.missing.map(\.item.place))
    var known: [ParentChildrenPlace: RecordFate] = [:]
    if !first.parentIsAlive, let id = tree.parent.serverID {
      known[.parent] = try await fates(of: [id], targets.family.parent)[id]
      facts.remakesParent = isRemade(known[.parent])
    }
    let suspects = tree.children.filter { child in
      child.serverID != nil
        && (facts.remakesParent || facts.refused.contains(.child(child.soupEntryID)))
    }
    let fates = try await fates(of: suspects.compactMap(\.serverID), targets.family.children)
    for child in suspects {
      let fate = child.serverID.flatMap { fates[$0] }
      known[.child(child.soupEntryID)] = fate
      if isRemade(fate) { facts.remadeChildren.insert(child.soupEntryID) }
    }
    let plan = ParentChildrenPlan(tree, targets, after: facts)
    let again = Set(plan.items.map(\.place))
    try refuse(first.missing.filter { !again.contains($0.item.place) }, fates: known, tree)
    let round = ParentChildrenRound(
      parentID: facts.remakesParent ? nil : first.parentID, isLast: true)
    try await send(plan.items, of: tree, round)
  }

  private func isRemade(_ fate: RecordFate?) -> Bool {
    MissingRecordRule.step(.update, fate ?? .unproved, context.options.mergeMode) == .recreate
  }

  /// Records the org's refusals of records that are not recreated.
  private func refuse(
    _ missing: [ParentChildrenRound.Missing], fates: [ParentChildrenPlace: RecordFate],
    _ tree: ParentChildrenTree
  ) throws(SyncError) {
    self.tree = tree
    try commit(
      missing.map { missing in
        let record = missing.item.record
        return (
          missing.item.place,
          SyncUpSettled(
            record: record, operation: record.operation,
            end: MissingRecordRule.end(missing.refusal, fates[missing.item.place]))
        )
      })
  }
}
