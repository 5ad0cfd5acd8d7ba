import JSON
import Salesforce

/// One run of a parent-children sync up.
///
/// Trees go one after the other, each in a composite request of its own; what does not fit goes
/// with the next ones. Each answer is in the store before the next request is made. Where the org
/// had deleted something, and OVERWRITE makes it anew, a second round follows: never a third.
final class FamilyUpRun {
  let targets: FamilyTargets
  let context: SyncContext
  let elements: FamilyElements
  /// What is known of earlier requests without an answer, and how their records are sent.
  let parents: SyncUpRun
  let children: SyncUpRun
  /// Where the rows of the tree in work begin in the report.
  var treeStart = 0
  /// Rows that wait until it is known what an earlier request did, and why.
  private var heldParents: [Int64: String] = [:]
  private var heldChildren: [Int64: String] = [:]

  init(_ target: SyncUpTarget, _ context: SyncContext) throws(SyncError) {
    targets = try FamilyTargets(target)
    self.context = context
    elements = FamilyElements(targets, context.store)
    let family = targets.family
    parents = SyncUpRun(
      targets.parents, custom: nil, context, soupName: family.parent.soupName,
      objectType: family.parent.sobjectType)
    children = SyncUpRun(
      targets.children, custom: nil, context, soupName: family.children.soupName,
      objectType: family.children.sobjectType)
  }

  nonisolated(nonsending) func run() async throws(SyncError) {
    heldParents = try await parents.settleDoubts { try self.elements.rekey($0) }
    heldChildren = try await children.settleDoubts()
    let rows = try elements.dirtyRows()
    try context.update { $0.totalSize = rows.count }
    let orphans = try elements.orphans()
    if orphans > 0 {
      context.warn(
        "\(orphans) changed records of soup \"\(targets.family.children.soupName)\" have no parent "
          + "in soup \"\(targets.family.parent.soupName)\" and were not sent")
    }
    // Only what leaves changed records alone has to ask the org before it sends.
    let window = context.options.mergeMode == .leaveIfChanged ? Self.treesOfOneCheck : rows.count
    for start in stride(from: 0, to: rows.count, by: max(1, window)) {
      let part = Array(rows[start..<min(start + window, rows.count)])
      let states = try await serverStates(of: part)
      for (place, row) in part.enumerated() {
        try context.checkStop()
        treeStart = context.report.records.count
        try await take(row, states)
        let done = start + place + 1
        if done < rows.count {
          try context.update { $0.progress = 100 * done / rows.count }
        }
      }
    }
    try await parents.readDates()
    try await children.readDates()
  }

  // MARK: one tree

  private nonisolated(nonsending) func take(
    _ row: Int64, _ states: FamilyStates
  ) async throws(SyncError) {
    // Removed by the app since the run began.
    guard let tree = try withoutHeld(elements.tree(row)) else { return }
    if ([tree.parent] + tree.children).allSatisfy({ !$0.state.isLocal }),
      try elements.dirtyRows().contains(row)
    {
      let end = UpSettled.End.failed(code: "", message: UpElements.unclear, error: nil)
      return note(.parent, UpSettled(record: tree.parent, operation: .update, end: end))
    }
    let known = states.states(of: tree, targets)
    if context.options.mergeMode == .leaveIfChanged, let reason = blocks(tree, known) {
      leave(tree, reason)
      return
    }
    let plan = FamilyPlan(tree, targets, mode: context.options.mergeMode, states: known)
    try enter(plan.settled, tree)
    var round = Round(parentID: tree.parent.serverID)
    if plan.items.contains(where: { $0.place == .parent && $0.operation == .create }) {
      round.parentID = nil
    }
    try await send(plan.items, tree, &round)
    if !round.missing.isEmpty { try await repair(row, round, of: tree) }
  }

  /// The tree without the children that must wait; nil where all of it must.
  private func withoutHeld(_ tree: FamilyTree?) -> FamilyTree? {
    guard let tree else { return nil }
    var held = tree.children.filter { heldChildren[$0.soupEntryID] != nil }
    let words = heldParents[tree.parent.soupEntryID]
    let waits = words != nil || !held.isEmpty && tree.parent.state.isDeleted
    if waits {
      let end = UpSettled.End.inDoubt(words ?? "a child has to be looked for first")
      if tree.parent.state.isLocal {
        note(
          .parent,
          UpSettled(record: tree.parent, operation: tree.parent.operation, end: end))
      }
      held = tree.children.filter(\.state.isLocal)
    }
    for child in held {
      let why = heldChildren[child.soupEntryID] ?? "its parent has to be looked for first"
      note(
        .child(child.soupEntryID),
        UpSettled(record: child, operation: child.operation, end: .inDoubt(why)))
    }
    if waits { return nil }
    return FamilyTree(
      parent: tree.parent,
      children: tree.children.filter { heldChildren[$0.soupEntryID] == nil })
  }

  /// Why LEAVE_IF_CHANGED leaves a tree: one of its records is newer in the org, or gone from it.
  private func blocks(
    _ tree: FamilyTree, _ states: [FamilyPlace: ServerState]
  ) -> SyncReport.MergeReason? {
    let isDeleted = tree.parent.operation == .delete
    let records =
      [(FamilyPlace.parent, tree.parent, false)]
      + tree.children.map {
        (FamilyPlace.child($0.soupEntryID), $0, isDeleted && targets.isMasterDetail)
      }
    for (place, record, goesWithParent) in records {
      var operation = record.operation
      if operation == .none { operation = .update }
      if goesWithParent, operation == .update { operation = .delete }
      let decision = MergeDecision.decide(
        operation, local: record.modificationDate, server: states[place] ?? .unknown,
        mode: .leaveIfChanged)
      if case .leave(let reason) = decision { return reason }
    }
    return nil
  }

  private func leave(_ tree: FamilyTree, _ reason: SyncReport.MergeReason) {
    for record in [tree.parent] where record.state.isLocal {
      note(.parent, UpSettled(record: record, operation: record.operation, end: .left(reason)))
    }
    for child in tree.children where child.state.isLocal {
      note(
        .child(child.soupEntryID),
        UpSettled(record: child, operation: child.operation, end: .left(reason)))
    }
  }
}
