import JSON
import Salesforce
import System

/// One run of a parent-children sync up.
///
/// Trees are sent one after the other, each in its own composite request, with further requests for
/// what does not fit. Each response is stored before the next request is sent. If the org had
/// deleted something and OVERWRITE recreates it, a second round follows; there is never a third.
final class ParentChildrenRun {
  let target: SyncUpTarget
  let targets: ParentChildrenUpTargets
  let context: SyncContext
  let elements: ParentChildrenElements
  /// The journal of the parents' soup, with earlier requests without a response.
  let parents: StoreJournal
  let children: StoreJournal
  /// The current tree and the results of its requests.
  var tree: ParentChildrenTree?
  var round = ParentChildrenRound()
  /// The index at which the current tree's rows start in the report.
  var treeStart = 0
  /// The records with a write since the run started, whose states are read again for a later tree.
  private var written: Set<String> = []
  var mostChanges = Int.max

  init(_ target: SyncUpTarget, _ context: SyncContext) throws(SyncError) {
    self.target = target
    targets = try ParentChildrenUpTargets(target)
    self.context = context
    elements = ParentChildrenElements(targets, context.store)
    let family = targets.family
    parents = StoreJournal(
      targets.parents, context, soupName: family.parent.soupName,
      objectType: family.parent.sobjectType)
    children = StoreJournal(
      targets.children, context, soupName: family.children.soupName,
      objectType: family.children.sobjectType)
  }

  /// The journal of a record's soup.
  func journal(ofParent isParent: Bool) -> StoreJournal { isParent ? parents : children }

  func run() async throws(SyncError) {
    try await parents.settleDoubts { try self.elements.rekey($0) }
    children.reader = parents.reader
    try await children.settleDoubts()
    let changed = try elements.dirtyRows()
    let damaged = try elements.parents.damaged(among: changed, context)
    let rows = changed.filter { !damaged.contains($0) }
    _ = try elements.children.damaged(among: try elements.children.dirtyIDs(), context)
    try context.update { $0.totalSize = rows.count }
    try noteOrphans()
    // Only LEAVE_IF_CHANGED has to query the org before sending.
    let window = context.options.mergeMode == .leaveIfChanged ? Self.treesOfOneCheck : rows.count
    var done = 0
    for part in rows.parts(of: window) {
      let states = try await serverStates(of: part)
      for row in part {
        try context.checkStop()
        treeStart = context.report.records.count
        try await take(row, states)
        done += 1
        if done < rows.count {
          try context.update { $0.progress = 100 * done / rows.count }
        }
      }
    }
    try await parents.readDates()
    try await children.readDates()
  }

  // MARK: Tree

  private func take(_ row: Int64, _ states: ParentChildrenStates) async throws(SyncError) {
    // The app has removed it since the run started.
    guard let tree = try withoutHeld(elements.tree(row)) else { return }
    if ([tree.parent] + tree.children).allSatisfy({ !$0.state.isLocal }),
      try elements.dirtyRows().contains(row)
    {
      let end = SyncUpSettled.End.failed(code: "", message: SyncUpElements.unclear, error: nil)
      return note(SyncUpSettled(tree.parent, as: .update, end, isParent: true))
    }
    var states = states
    let ids = ([tree.parent] + tree.children).compactMap(\.serverID).map { $0.recordID18 ?? $0 }
    if !written.isDisjoint(with: ids) { states = try await serverStates(of: [row]) }
    let known = states.states(of: tree)
    if context.options.mergeMode == .leaveIfChanged, let reason = blocks(tree, known) {
      leave(tree, .left(reason))
      return
    }
    let plan = ParentChildrenPlan(tree, targets, mode: context.options.mergeMode, states: known)
    self.tree = tree
    try commit(plan.settled)
    var round = ParentChildrenRound(parentID: tree.parent.serverID)
    if plan.items.contains(where: { $0.place == .parent && $0.operation == .create }) {
      round.parentID = nil
    }
    written.formUnion(
      plan.items.compactMap(\.record.serverID).map { $0.recordID18 ?? $0 })
    try await send(plan.items, of: tree, round)
    if !self.round.missing.isEmpty { try await repair(row, self.round, of: tree) }
  }

  /// Returns why LEAVE_IF_CHANGED skips a tree: one of its records is newer in the org, or deleted.
  private func blocks(
    _ tree: ParentChildrenTree, _ states: [ParentChildrenPlace: ServerState]
  ) -> SyncReport.MergeReason? {
    let isDeleted = tree.parent.operation == .delete
    let records =
      [(ParentChildrenPlace.parent, tree.parent, false)]
      + tree.children.map {
        (ParentChildrenPlace.child($0.soupEntryID), $0, isDeleted && targets.isMasterDetail)
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
}
