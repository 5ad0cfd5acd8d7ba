import JSON
import Salesforce

// The second round, where the org had deleted something.
extension ParentChildrenRun {
  /// Finds out what is deleted, and makes it anew.
  func repair(
    _ row: Int64, _ first: ParentChildrenRound, of sent: ParentChildrenTree
  ) async throws(SyncError) {
    guard let tree = try elements.tree(row) else {
      // The parent has left the store; what was refused of its children is still to be told of.
      try refuse(first.missing, merged: [:], sent)
      return
    }
    var facts = ParentChildrenPlan.Facts()
    facts.refused = Set(first.missing.map(\.item.place))
    var merged: [ParentChildrenPlace: String] = [:]
    if !first.parentIsAlive, let id = tree.parent.serverID {
      let fate = try await fates(of: [id], targets.family.parent)[id]
      facts.parentIsDeleted = fate == .deleted
      if case .merged(let master)? = fate { merged[.parent] = master }
    }
    let suspects = tree.children.filter { child in
      child.serverID != nil
        && (facts.parentIsDeleted || facts.refused.contains(.child(child.soupEntryID)))
    }
    let fates = try await fates(of: suspects.compactMap(\.serverID), targets.family.children)
    for child in suspects {
      switch child.serverID.flatMap({ fates[$0] }) {
      case .deleted: facts.deletedChildren.insert(child.soupEntryID)
      case .merged(let master): merged[.child(child.soupEntryID)] = master
      default: break
      }
    }
    let plan = ParentChildrenPlan(tree, targets, after: facts)
    let again = Set(plan.items.map(\.place))
    try refuse(first.missing.filter { !again.contains($0.item.place) }, merged: merged, tree)
    let round = ParentChildrenRound(
      parentID: facts.parentIsDeleted ? nil : first.parentID, isLast: true)
    try await send(plan.items, of: tree, round)
  }

  /// Enters the org's refusals of what is not made anew.
  private func refuse(
    _ missing: [ParentChildrenRound.Missing], merged: [ParentChildrenPlace: String],
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
            end: .missing(missing.refusal, mergedInto: merged[missing.item.place]))
        )
      })
  }
}
