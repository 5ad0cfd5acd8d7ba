import JSON

// What became of the records of a tree, in the store and in the report.
extension ParentChildrenRun {
  /// A record of the tree with what became of it.
  typealias Settled = (place: ParentChildrenPlace, settled: SyncUpSettled)

  /// Enters what became of records of the tree in work, and tells of it.
  func commit(_ settled: [Settled], also body: () throws -> Void = {}) throws(SyncError) {
    var settled = settled
    var waiting: [Settled] = []
    if targets.isMasterDetail, let tree, tree.parent.operation == .delete,
      let parent = settled.first(where: { $0.place == .parent })?.settled
    {
      switch parent.end {
      // Details go with their master.
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

  /// Puts a record into the report, in the place of what the tree's first round told of it.
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

  /// Tells of the changed children whose parent is not in the store: no tree brings them up.
  func noteOrphans() throws(SyncError) {
    treeStart = context.report.records.count
    let words = "its parent is not in the soup \"\(targets.family.parent.soupName)\": not sent"
    // One that cannot be read is told by itself.
    try elements.children.forEach(elements.orphans(), damaged: { _ in }) { child in
      let missing = SyncUpSettled.End.failed(code: "", message: words, error: nil)
      let (place, settled) = ended(child, heldChildren[child.soupEntryID] ?? missing)
      note(place, settled)
    }
  }

  /// Leaves a tree, and tells it of each of its changed records.
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

  /// The tree without the children that must wait; nil where all of it must.
  ///
  /// What somebody else has changed since it was sent holds all of its tree, as everything does that
  /// LEAVE_IF_CHANGED leaves.
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
        ofParent ?? .unconfirmed("a child has to be looked for first"))
      for child in tree.children where child.state.isLocal {
        let why = SyncUpSettled.End.unconfirmed("its parent has to be looked for first")
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
