import JSON

// The outcomes of a tree's records, in the store and in the report.
extension ParentChildrenRun {
  /// A record of the tree with its outcome.
  typealias Settled = (place: ParentChildrenPlace, settled: SyncUpSettled)

  /// Stores outcomes of records of the current tree and reports them.
  func commit(_ settled: [Settled], also body: () throws -> Void = {}) throws(SyncError) {
    var settled = settled
    var waiting: [Settled] = []
    if targets.isMasterDetail, let tree, tree.parent.operation == .delete,
      let parent = settled.first(where: { $0.place == .parent })?.settled
    {
      switch parent.end {
      // Details are deleted with their master.
      case .deleted, .removed: settled += tree.children.map { ended($0, .removed) }
      default:
        waiting = tree.children.filter(\.state.isLocal).map { ended($0, parent.end) }
      }
    }
    try elements.commit(settled, also: body)
    for (place, one) in settled + waiting { note(place, one) }
  }

  private func ended(_ child: SyncUpRecord, _ end: SyncUpSettled.End) -> Settled {
    (
      .child(child.soupEntryID),
      SyncUpSettled(record: child, operation: child.operation, end: end)
    )
  }

  /// Adds a record to the report, replacing its outcome from the tree's first round.
  func note(_ place: ParentChildrenPlace, _ one: SyncUpSettled) {
    let member = place == .parent ? targets.family.parent : targets.family.children
    let row = one.reportRow(soupName: member.soupName)
    let records = context.report.records
    if let known = records[treeStart...].firstIndex(where: {
      $0.soupName == row.soupName && $0.soupEntryID == row.soupEntryID
    }) {
      context.report.records[known] = row
    } else {
      context.report.records.append(row)
    }
  }

  /// Reports the changed children whose parent is not in the store; they are not sent with any
  /// tree.
  func noteOrphans() throws(SyncError) {
    treeStart = context.report.records.count
    let words = "its parent is not in the soup \"\(targets.family.parent.soupName)\": not sent"
    // An unreadable child is reported separately.
    try elements.children.forEach(elements.orphans(), damaged: { _ in }) { child in
      let missing = SyncUpSettled.End.failed(code: "", message: words, error: nil)
      let (place, settled) = ended(child, heldChildren[child.soupEntryID] ?? missing)
      note(place, settled)
    }
  }

  /// Skips a tree and reports each of its changed records.
  func leave(_ tree: ParentChildrenTree, _ end: SyncUpSettled.End) {
    if tree.parent.state.isLocal {
      note(
        .parent,
        SyncUpSettled(record: tree.parent, operation: tree.parent.operation, end: end))
    }
    for child in tree.children where child.state.isLocal {
      let (place, settled) = ended(child, end)
      note(place, settled)
    }
  }

  /// Returns the tree without the children that must wait; nil if all of it must.
  ///
  /// A record that another user has changed since it was sent blocks its whole tree, like
  /// everything that LEAVE_IF_CHANGED skips.
  func withoutHeld(_ tree: ParentChildrenTree?) -> ParentChildrenTree? {
    guard let tree else { return nil }
    let held = tree.children.filter { heldChildren[$0.soupEntryID] != nil }
    let ofParent = heldParents[tree.parent.soupEntryID]
    let ends = [ofParent] + held.map { heldChildren[$0.soupEntryID] }
    let left = ends.first { if case .left? = $0 { true } else { false } }
    if let left = left.flatMap(\.self) {
      leave(tree, left)
      return nil
    }
    if ofParent != nil || !held.isEmpty && tree.parent.state.isDeleted {
      leave(
        ParentChildrenTree(parent: tree.parent, children: []),
        ofParent ?? .unconfirmed("a child must be looked up first"))
      for child in tree.children where child.state.isLocal {
        let why = SyncUpSettled.End.unconfirmed("its parent must be looked up first")
        let (place, settled) = ended(child, heldChildren[child.soupEntryID] ?? why)
        note(place, settled)
      }
      return nil
    }
    for child in held {
      guard let end = heldChildren[child.soupEntryID] else { continue }
      let (place, settled) = ended(child, end)
      note(place, settled)
    }
    return ParentChildrenTree(
      parent: tree.parent,
      children: tree.children.filter { heldChildren[$0.soupEntryID] == nil })
  }
}
