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
    let refused = Set(first.missing.map(\.item.place))
    var known: [ParentChildrenPlace: RecordFate] = [:]
    if !first.parentIsAlive, let id = tree.parent.serverID {
      known[.parent] = try await fates(of: [id], parents)[id]
    }
    let remakesParent = isRemade(known[.parent])
    let suspects = tree.children.filter { child in
      child.serverID != nil && (remakesParent || refused.contains(.child(child.soupEntryID)))
    }
    let fates = try await fates(of: suspects.compactMap(\.serverID), children)
    for child in suspects {
      known[.child(child.soupEntryID)] = child.serverID.flatMap { fates[$0] }
    }
    let remade = Set(known.filter { isRemade($0.value) }.keys)
    let plan = ParentChildrenPlan(tree, targets, remade: remade, refused: refused)
    let again = Set(plan.items.map(\.place))
    try refuse(first.missing.filter { !again.contains($0.item.place) }, fates: known, tree)
    let round = ParentChildrenRound(
      parentID: remakesParent ? nil : first.parentID, isLast: true)
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
      missing.map { one in
        one.item.settled(MissingRecordRule.end(one.refusal, fates[one.item.place]))
      })
  }
}
