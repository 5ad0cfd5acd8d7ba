import JSON

/// What is to be done with the records of one tree: a pure reading of their flags.
package struct ParentChildrenPlan: Sendable {
  /// A record that needs a request.
  package struct Item: Sendable {
    package var place: ParentChildrenPlace
    var record: SyncUpRecord
    package var operation: SyncOperation
    /// Whether the record had been in the org and was deleted there.
    package var isRecreated = false
    package var namesParent = false
    /// The moment after which the record must not have been modified.
    package var unmodifiedSince: Int64?
  }

  /// A record that needs no request.
  package struct Settled: Sendable {
    var place: ParentChildrenPlace
    var record: SyncUpRecord
    var end: SyncUpSettled.End
  }

  /// In the order in which they are sent, but that a deleted parent goes last.
  package var items: [Item] = []
  package var settled: [Settled] = []

  private let targets: ParentChildrenUpTargets
  private let tree: ParentChildrenTree
  private let states: [ParentChildrenPlace: ServerState]
  private let mode: MergeMode

  /// The first request of a tree.
  ///
  /// `states` says what the org has, where the mode made us ask; the tree may be sent.
  package init(
    _ tree: ParentChildrenTree, _ targets: ParentChildrenUpTargets, mode: MergeMode,
    states: [ParentChildrenPlace: ServerState] = [:]
  ) {
    self.tree = tree
    self.targets = targets
    self.states = states
    self.mode = mode
    let operation = tree.parent.operation
    add(.parent, tree.parent, operation, namesParent: false)
    for child in tree.children { add(child, parent: operation) }
    if operation == .delete, let last = items.firstIndex(where: { $0.place == .parent }) {
      items.append(items.remove(at: last))
    }
  }

  private mutating func add(_ child: SyncUpRecord, parent: SyncOperation) {
    let place = ParentChildrenPlace.child(child.soupEntryID)
    var operation = child.operation
    switch parent {
    case .delete where targets.isMasterDetail:
      // The org deletes the details with their master; here they go when it has.
      return
    case .dropLocally where targets.isMasterDetail && child.serverID == nil:
      operation = .dropLocally
    case .create where operation == .none:
      // The parent gets another id, which the child has to learn.
      operation = .update
    default: break
    }
    let isNew = operation == .create
    let needsKey = isNew || parent == .create || targets.sendsKey
    add(
      place, child, operation,
      namesParent: needsKey && parent != .delete && parent != .dropLocally)
  }

  private mutating func add(
    _ place: ParentChildrenPlace, _ record: SyncUpRecord, _ operation: SyncOperation,
    namesParent: Bool
  ) {
    let state = states[place] ?? .unknown
    let decision = MergeDecision.decide(
      operation, local: record.modificationDate, server: state,
      mode: mode)
    switch decision {
    case .nothing: return
    case .dropLocally, .alreadyDeleted:
      settled.append(Settled(place: place, record: record, end: .removed))
    case .leave(let reason):
      settled.append(Settled(place: place, record: record, end: .left(reason)))
    case .send where operation != .create && record.serverID == nil:
      settled.append(Settled(place: place, record: record, end: SyncUpSettled.End.noID(.batch)))
    case .send, .recreate:
      var item = Item(place: place, record: record, operation: operation)
      item.namesParent = namesParent && operation != .delete
      if mode == .leaveIfChanged {
        let target = place == .parent ? targets.parents : targets.children
        item.unmodifiedSince = target.condition(of: operation, state)
      }
      items.append(item)
    }
  }

  // MARK: a second request

  /// What the org's refusals of the first request made us find out.
  package struct Facts: Sendable {
    /// The parent is gone, and is made anew.
    package var remakesParent = false
    /// The children that are gone, and are made anew.
    package var remadeChildren: Set<Int64> = []
    /// The records that were refused because something is missing.
    package var refused: Set<ParentChildrenPlace> = []

    package init(
      remakesParent: Bool = false, remadeChildren: Set<Int64> = [],
      refused: Set<ParentChildrenPlace> = []
    ) {
      self.remakesParent = remakesParent
      self.remadeChildren = remadeChildren
      self.refused = refused
    }
  }

  /// The one request that follows where something is made anew that the org had deleted.
  ///
  /// A deleted parent is made anew, and its children with it where they are deleted too; those that
  /// are there learn the new id. Without that only what was refused is looked at.
  package init(_ tree: ParentChildrenTree, _ targets: ParentChildrenUpTargets, after facts: Facts) {
    self.tree = tree
    self.targets = targets
    (states, mode) = ([:], .overwrite)
    // Deleted by the app while the first request was on its way: that is for the next sync.
    if [.delete, .dropLocally].contains(tree.parent.operation) { return }
    if facts.remakesParent {
      items.append(
        Item(place: .parent, record: tree.parent, operation: .create, isRecreated: true))
    }
    for child in tree.children {
      let place = ParentChildrenPlace.child(child.soupEntryID)
      guard facts.remakesParent || facts.refused.contains(place) else { continue }
      let isRemade = facts.remadeChildren.contains(child.soupEntryID)
      let operation = child.operation
      if operation == .delete || operation == .dropLocally { continue }
      if isRemade {
        items.append(
          Item(
            place: place, record: child, operation: .create, isRecreated: true, namesParent: true))
      } else if facts.remakesParent, operation == .create || child.serverID != nil {
        items.append(
          Item(
            place: place, record: child, operation: operation == .create ? .create : .update,
            namesParent: true))
      }
    }
  }
}
