import JSON

/// The requests needed for the records of one tree, derived only from their flags.
package struct ParentChildrenPlan: Sendable {
  /// A record that needs a request.
  package struct Item: Sendable {
    package var place: ParentChildrenPlace
    var record: SyncUpRecord
    package var operation: SyncOperation
    /// Whether the record existed in the org and was deleted there.
    package var isRecreated = false
    package var namesParent = false
    /// The time after which the record must not have been modified.
    package var unmodifiedSince: Int64?

    func settled(_ end: SyncUpSettled.End) -> SyncUpSettled {
      SyncUpSettled(record, end, isParent: place == .parent)
    }
  }

  /// The records in sending order; a deleted parent comes last.
  package var items: [Item] = []
  /// The records that need no request.
  package var settled: [SyncUpSettled] = []

  private let targets: ParentChildrenUpTargets
  private let tree: ParentChildrenTree
  private let states: [ParentChildrenPlace: ServerState]
  private let mode: MergeMode

  /// Plans the first request of a tree that may be sent.
  ///
  /// `states` is the org's state of the records, if the mode requires a check.
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
      // The org deletes the details with their master; they are removed here after that.
      return
    case .dropLocally where targets.isMasterDetail && child.serverID == nil:
      operation = .dropLocally
    case .create where operation == .none:
      // The parent gets another ID, which the child must be given.
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
    func settle(_ end: SyncUpSettled.End) {
      settled.append(SyncUpSettled(record, end, isParent: place == .parent))
    }
    let decision = MergeDecision.decide(
      operation, local: record.modificationDate, server: state, mode: mode)
    switch decision {
    case .nothing: return
    case .dropLocally, .alreadyDeleted: settle(.removed)
    case .leave(let reason): settle(.left(reason))
    case .send where operation != .create && record.serverID == nil: settle(.noID(.batch))
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

  // MARK: Second request

  /// Plans the single follow-up request that recreates what the org had deleted.
  ///
  /// A deleted parent is recreated, together with those of its children that are deleted too;
  /// existing children get the new ID. Otherwise only refused records are planned.
  package init(
    _ tree: ParentChildrenTree, _ targets: ParentChildrenUpTargets,
    remade: Set<ParentChildrenPlace>, refused: Set<ParentChildrenPlace>
  ) {
    self.tree = tree
    self.targets = targets
    (states, mode) = ([:], .overwrite)
    // The app deleted it while the first request was in transit; the next sync handles that.
    if [.delete, .dropLocally].contains(tree.parent.operation) { return }
    let remakesParent = remade.contains(.parent)
    if remakesParent {
      items.append(
        Item(place: .parent, record: tree.parent, operation: .create, isRecreated: true))
    }
    for child in tree.children {
      let place = ParentChildrenPlace.child(child.soupEntryID)
      guard remakesParent || refused.contains(place) else { continue }
      let isRemade = remade.contains(place)
      let operation = child.operation
      if operation == .delete || operation == .dropLocally { continue }
      let follows = remakesParent && (operation == .create || child.serverID != nil)
      guard isRemade || follows else { continue }
      items.append(
        Item(
          place: place, record: child,
          operation: isRemade || operation == .create ? .create : .update, isRecreated: isRemade,
          namesParent: true))
    }
  }
}
