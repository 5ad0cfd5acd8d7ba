import JSON

// The outcomes of a tree's records, in the store and in the report.
extension ParentChildrenRun {
  /// Stores outcomes of records of the current tree and reports them.
  func commit(_ settled: [SyncUpSettled], also body: () throws -> Void = {}) throws(SyncError) {
    var settled = settled
    var waiting: [SyncUpSettled] = []
    if targets.isMasterDetail, let tree, tree.parent.operation == .delete,
      let parent = settled.first(where: \.isParent)
    {
      switch parent.end {
      // Details are deleted with their master.
      case .deleted, .removed: settled += tree.children.map { SyncUpSettled($0, .removed) }
      default:
        waiting = tree.children.filter(\.state.isLocal).map { SyncUpSettled($0, parent.end) }
      }
    }
    try elements.commit(settled, also: body)
    for one in settled + waiting { note(one) }
  }

  /// Adds a record to the report, replacing its outcome from the tree's first round.
  func note(_ one: SyncUpSettled) {
    let row = one.reportRow(soupName: journal(ofParent: one.isParent).soupName)
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
      note(SyncUpSettled(child, children.held[child.soupEntryID] ?? missing))
    }
  }

  /// Skips a tree and reports each of its changed records.
  func leave(_ tree: ParentChildrenTree, _ end: SyncUpSettled.End) {
    if tree.parent.state.isLocal { note(SyncUpSettled(tree.parent, end, isParent: true)) }
    for child in tree.children where child.state.isLocal { note(SyncUpSettled(child, end)) }
  }

  /// Returns the tree without the children that must wait; nil if all of it must.
  ///
  /// A record that another user has changed since it was sent blocks its whole tree, like
  /// everything that LEAVE_IF_CHANGED skips.
  func withoutHeld(_ tree: ParentChildrenTree?) -> ParentChildrenTree? {
    guard let tree else { return nil }
    let held = tree.children.compactMap { child in
      children.held[child.soupEntryID].map { SyncUpSettled(child, $0) }
    }
    let ofParent = parents.held[tree.parent.soupEntryID]
    for case .left(let reason)? in [ofParent] + held.map({ $0.end }) {
      leave(tree, .left(reason))
      return nil
    }
    if ofParent != nil || !held.isEmpty && tree.parent.state.isDeleted {
      leave(
        ParentChildrenTree(parent: tree.parent, children: []),
        ofParent ?? .unconfirmed("a child must be looked up first"))
      for child in tree.children where child.state.isLocal {
        let why = SyncUpSettled.End.unconfirmed("its parent must be looked up first")
        note(SyncUpSettled(child, children.held[child.soupEntryID] ?? why))
      }
      return nil
    }
    for one in held { note(one) }
    return ParentChildrenTree(
      parent: tree.parent,
      children: tree.children.filter { children.held[$0.soupEntryID] == nil })
  }
}
