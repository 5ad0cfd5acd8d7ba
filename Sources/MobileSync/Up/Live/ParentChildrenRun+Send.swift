import JSON
import Salesforce
import SmartStore

/// A record of a tree with its request.
struct ParentChildrenChange: SyncUpChange {
  var item: ParentChildrenPlan.Item
  /// The write; a child names its parent in it, unless the same request creates the parent.
  var send: SyncUpSend

  var write: SyncUpWrite { send.write }
  var row: Int64 { item.record.soupEntryID }
}

/// The results of a tree's requests so far.
struct ParentChildrenRound {
  /// The parent's ID in the org; nil while it has none.
  var parentID: String?
  /// Whether the creation of the parent failed.
  var parentFailed = false
  /// Whether the org has confirmed that the parent exists.
  var parentIsAlive = false
  var isLast = false
  /// Whether one of its requests was sent.
  var isBegun = false
  /// Records that were refused because something is missing in the org.
  var missing: [Missing] = []

  /// A record that the org refused because the record or its parent does not exist.
  struct Missing {
    var item: ParentChildrenPlan.Item
    var refusal: RowRefusal
  }
}

// The requests of one tree and their responses.
extension ParentChildrenRun: SyncUpJournal {
  typealias Change = ParentChildrenChange
  /// The request in the journal of the parents' soup and in that of the children's soup.
  typealias Intention = (parents: PendingRequest?, children: PendingRequest?)

  /// Sends items of a tree, in as many requests as needed, and updates the round.
  func send(
    _ items: [ParentChildrenPlan.Item], of tree: ParentChildrenTree, _ round: ParentChildrenRound
  ) async throws(SyncError) {
    self.tree = tree
    self.round = round
    var changes: [ParentChildrenChange] = []
    var settled: [Settled] = []
    for item in items {
      do throws(SyncError) {
        changes.append(try change(item))
      } catch {
        let bodies = item.place == .parent ? parentBodies : childBodies
        guard let end = bodies.end(error, .batch) else { throw error }
        let record = item.record
        settled.append(
          (item.place, SyncUpSettled(record: record, operation: record.operation, end: end)))
        if item.place == .parent, item.operation == .create { self.round.parentFailed = true }
      }
    }
    if !settled.isEmpty { try commit(settled) }
    if self.round.parentFailed {
      try fail(changes.map(\.item).filter(\.namesParent))
      changes.removeAll(where: \.item.namesParent)
    }
    if changes.isEmpty { return }
    let carrier = SyncUpEngine<ParentChildrenRun>.Carrier.org(try await context.session())
    try await SyncUpEngine(
      target, carrier, self, reads: context.settings.refreshesDates
    ).sendAll(changes)
  }

  private func change(_ item: ParentChildrenPlan.Item) throws(SyncError) -> ParentChildrenChange {
    let isParent = item.place == .parent
    var send =
      isParent
      ? try parentBodies.send(
        item.record, item.operation, isRecreated: item.isRecreated,
        unmodifiedSince: item.unmodifiedSince)
      : try childBodies.send(
        item.record, item.operation, isRecreated: item.isRecreated,
        unmodifiedSince: item.unmodifiedSince)
    send.write.isParent = isParent
    send.write.goesAlone =
      (isParent ? parents : children).alone.contains(item.record.soupEntryID)
    if item.namesParent {
      if let parentID = round.parentID {
        send.write.set(targets.key, parentID)
      } else {
        send.write.parentField = targets.key
      }
    }
    return ParentChildrenChange(item: item, send: send)
  }

  // MARK: Journal

  /// If the creation of the parent failed, its children are not sent: the org would refuse each for
  /// the same reason.
  func prepare(
    _ batch: SyncUpRequest.Batch<ParentChildrenChange>
  ) async throws -> [ParentChildrenChange] {
    try context.checkStop()
    children.reader = try await parents.reader()
    guard round.isBegun else {
      round.isBegun = true
      return batch.changes
    }
    var items = try fresh(batch.changes.map(\.item))
    if round.parentFailed {
      try fail(items.filter(\.namesParent))
      items.removeAll(where: \.namesParent)
    }
    return try items.map { try change($0) }
  }

  /// Returns the items with their parent's ID from an earlier request; items that the app has
  /// changed in the meantime wait for the next sync.
  private func fresh(
    _ items: [ParentChildrenPlan.Item]
  ) throws(SyncError) -> [ParentChildrenPlan.Item] {
    var fresh: [ParentChildrenPlan.Item] = []
    for var item in items {
      guard case .child(let row) = item.place else {
        fresh.append(item)
        continue
      }
      guard let record = try elements.children.read(row),
        record.operation == item.record.operation
      else { continue }
      item.record = record
      fresh.append(item)
    }
    return fresh
  }

  func intend(_ batch: [ParentChildrenChange], job: String?) throws -> Intention {
    try context.store.transaction {
      (
        try parents.intend(batch.filter(\.write.isParent).map(\.send), job: nil),
        try children.intend(batch.filter { !$0.write.isParent }.map(\.send), job: nil)
      )
    }
  }

  func withdraw(_ intention: Intention) throws {
    try parents.keep([], of: intention.parents)
    try children.keep([], of: intention.children)
  }

  func separate(_ intention: Intention) throws -> Intention? {
    let separate = (
      parents: try parents.separate(intention.parents),
      children: try children.separate(intention.children)
    )
    if separate.parents == nil, separate.children == nil { return nil }
    return (parents: separate.parents ?? nil, children: separate.children ?? nil)
  }

  func settle(
    _ answers: [(change: ParentChildrenChange, answer: RowAnswer)], of intention: Intention,
    read: CompositeResult?, isLast: Bool
  ) async throws {
    for (change, answer) in answers where change.write.isParent { learn(answer, change) }
    let dates = read.map(self.dates) ?? [:]
    var settled: [Settled] = []
    var doubtful: (parents: Set<Int64>, children: Set<Int64>) = ([], [])
    for (change, answer) in answers {
      if case .unknown = answer {
        if change.write.isParent {
          doubtful.parents.insert(change.row)
        } else {
          doubtful.children.insert(change.row)
        }
      }
      if !round.isLast,
        let refusal = MissingRecordRule.suspect(
          answer, change.write.action, context.options.mergeMode,
          parentKey: change.item.namesParent ? targets.key : nil)
      {
        round.missing.append(.init(item: change.item, refusal: refusal))
        continue
      }
      settled.append((change.item.place, self.settled(change, answer, dates)))
    }
    parents.noteAnswered()
    children.noteAnswered()
    try commit(settled) {
      try self.parents.claim(settled.filter { $0.place == .parent }.map(\.settled))
      try self.children.claim(settled.filter { $0.place != .parent }.map(\.settled))
      try self.parents.keep(
        doubtful.parents, of: intention.parents, isLater: intention.parents?.goesAlone == true)
      try self.children.keep(
        doubtful.children, of: intention.children, isLater: intention.children?.goesAlone == true)
    }
  }

  // MARK: Responses

  /// Reads the parent's own response.
  private func learn(_ answer: RowAnswer, _ change: ParentChildrenChange) {
    guard change.item.operation != .delete else { return }
    switch answer {
    case .done(let id?, _):
      round.parentID = id
      round.parentIsAlive = true
    case .done(nil, _): round.parentIsAlive = true
    default: if change.item.operation == .create { round.parentFailed = true }
    }
  }

  private func settled(
    _ change: ParentChildrenChange, _ answer: RowAnswer, _ dates: [String: String]
  ) -> SyncUpSettled {
    let item = change.item
    let end = SyncUpSettled.End(
      answer, action: change.write.action, kind: .parentChildren, mode: context.options.mergeMode)
    var settled = SyncUpSettled(
      record: item.record, operation: item.record.operation, end: end,
      isRecreated: item.isRecreated)
    let member = change.write.isParent ? targets.family.parent : targets.family.children
    if case .sent(let id) = end, let id = id ?? item.record.id,
      let date = dates[id.recordID18 ?? id]
    {
      settled.members.append((member.modificationDateFieldName, .string(date)))
    }
    return settled
  }

  private func fail(_ items: [ParentChildrenPlan.Item]) throws(SyncError) {
    let code = "PROCESSING_HALTED"
    let message = "the parent was not created"
    let error: JSONValue = ["errorCode": .string(code), "message": .string(message), "fields": []]
    try commit(
      items.map { item in
        (
          item.place,
          SyncUpSettled(
            record: item.record, operation: item.record.operation,
            end: .failed(code: code, message: message, error: error.text))
        )
      })
  }

  // MARK: Modification dates

  /// The query for the tree's dates in the same request as its writes, so that no other change
  /// comes between.
  func read(after batch: [ParentChildrenChange]) -> CompositeRequest? {
    // Without a parent in the org, the query has nothing to select.
    guard round.parentID != nil || batch.contains(where: \.write.isParent),
      let session = parents.reader?.session
    else { return nil }
    let start = targets.dates(where: "= ")
    if let parentID = round.parentID {
      return session.queryRequest(
        [start + SOQLLiteral.text(parentID)], referenceId: "dates")
    }
    return session.queryRequest(
      [start + "'", "'"], around: SyncUpRequest.parentID, referenceId: "dates")
  }

  private func dates(_ result: CompositeResult) -> [String: String] {
    var dates: [String: String] = [:]
    func note(_ record: JSONValue, _ member: FamilyMember) {
      guard let id = record[member.idFieldName]?.string,
        let date = record[member.modificationDateFieldName]?.string
      else { return }
      dates[id.recordID18 ?? id] = date
    }
    guard result.isSuccess else { return [:] }
    for parent in result.body["records"]?.array ?? [] {
      note(parent, targets.family.parent)
      let plural = targets.family.children.sobjectTypePlural ?? ""
      for child in parent[plural]?["records"]?.array ?? [] {
        note(child, targets.family.children)
      }
    }
    return dates
  }
}
