import JSON
import Salesforce
import SmartStore

/// A record of a tree with its request.
struct ParentChildrenChange: SyncUpChange {
  var item: ParentChildrenPlan.Item
  /// The write; a child names its parent in it, unless the same request creates the parent.
  var send: SyncUpSend

  var write: SyncUpWrite { send.write }
}

/// The results of a tree's requests so far.
struct ParentChildrenRound {
  /// The parent's ID in the org; nil while it has none.
  var parentID: String?
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
    var settled: [SyncUpSettled] = []
    for item in items {
      do throws(SyncError) {
        changes.append(try change(item))
      } catch {
        let bodies = journal(ofParent: item.place == .parent).bodies
        guard let end = bodies.end(error, .batch) else { throw error }
        settled.append(item.settled(end))
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
    let journal = journal(ofParent: isParent)
    var send = try journal.bodies.send(
      item.record, item.operation, isRecreated: item.isRecreated,
      unmodifiedSince: item.unmodifiedSince)
    send.write.isParent = isParent
    send.write.goesAlone = journal.alone.contains(item.record.soupEntryID)
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
    if intention.parents == nil, intention.children == nil { return nil }
    var separate = intention
    separate.parents?.goesAlone = true
    separate.children?.goesAlone = true
    return separate
  }

  func settle(
    _ answers: [(change: ParentChildrenChange, answer: RowAnswer)], of intention: Intention,
    read: CompositeResult?, isLast: Bool
  ) async throws {
    for (change, answer) in answers where change.write.isParent { learn(answer, change) }
    let dates = read.map(self.dates) ?? [:]
    var settled: [SyncUpSettled] = []
    var doubtful: [ParentChildrenChange] = []
    for (change, answer) in answers {
      if case .unknown = answer { doubtful.append(change) }
      if !round.isLast,
        let refusal = MissingRecordRule.suspect(
          answer, change.write.action, context.options.mergeMode,
          parentKey: change.item.namesParent ? targets.key : nil)
      {
        round.missing.append(.init(item: change.item, refusal: refusal))
        continue
      }
      settled.append(self.settled(change, answer, dates))
    }
    parents.noteAnswered()
    children.noteAnswered()
    try commit(settled) {
      for (isParent, request) in [(true, intention.parents), (false, intention.children)] {
        let journal = self.journal(ofParent: isParent)
        try journal.claim(settled.filter { $0.isParent == isParent })
        let rows = doubtful.filter { $0.write.isParent == isParent }.map(\.item.record.soupEntryID)
        try journal.keep(Set(rows), of: request, isLater: request?.goesAlone == true)
      }
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
    var settled = item.settled(end)
    settled.isRecreated = item.isRecreated
    if case .sent(let id) = end, let id = id ?? item.record.id,
      let date = dates[id.recordID18 ?? id]
    {
      let name = journal(ofParent: settled.isParent).target.modificationDateFieldName
      settled.members.append((name, .string(date)))
    }
    return settled
  }

  private func fail(_ items: [ParentChildrenPlan.Item]) throws(SyncError) {
    let refusal = RowRefusal(code: "PROCESSING_HALTED", message: "the parent was not created")
    try commit(items.map { $0.settled(.refused(refusal, .batch)) })
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
