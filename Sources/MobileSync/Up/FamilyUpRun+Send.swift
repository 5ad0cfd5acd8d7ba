import JSON
import Salesforce
import SmartStore

// The requests of one tree, and what the org said.
extension FamilyUpRun {
  /// What a round of requests has come to.
  struct Round {
    /// The parent's id in the org; nil as long as it has none.
    var parentID: String?
    /// Whether the parent was to be made and was not.
    var parentFailed = false
    /// Whether the org has said that the parent is there.
    var parentIsAlive = false
    /// Whether this is the second and last round.
    var isLast = false
    /// Records that were refused because something is missing in the org.
    var missing: [Missing] = []
  }

  /// A record that the org refused because it, or its parent, is not there.
  struct Missing {
    var item: FamilyPlan.Item
    var refusal: RowRefusal
  }

  /// Sends items in as many requests as they need.
  nonisolated(nonsending) func send(
    _ items: [FamilyPlan.Item], _ tree: FamilyTree, _ round: inout Round
  ) async throws(SyncError) {
    let most = FamilyRequest.most(readsDates: context.settings.refreshesDates)
    for start in stride(from: 0, to: items.count, by: most) {
      var chunk = Array(items[start..<min(start + most, items.count)])
      if start > 0 { chunk = try fresh(chunk) }
      if round.parentFailed {
        try fail(chunk.filter(\.namesParent), tree)
        chunk.removeAll(where: \.namesParent)
      }
      if chunk.isEmpty { continue }
      var parts: [FamilyRequest.Part] = []
      for item in chunk { parts.append(try part(item, parentID: round.parentID)) }
      try await exchange(parts, tree, &round)
    }
  }

  /// Items whose records may have learned their parent's id from an earlier request; what the app
  /// did otherwise meanwhile waits for the next sync.
  private func fresh(_ items: [FamilyPlan.Item]) throws(SyncError) -> [FamilyPlan.Item] {
    var fresh: [FamilyPlan.Item] = []
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

  private func part(
    _ item: FamilyPlan.Item, parentID: String?
  ) throws(SyncError) -> FamilyRequest.Part {
    let run = item.place == .parent ? parents : children
    var send = try run.bodies.send(item.record, item.operation, isRecreated: item.isRecreated)
    send.unmodifiedSince = item.unmodifiedSince
    if item.namesParent, let parentID { send = send.naming(targets.key, parentID) }
    return FamilyRequest.Part(item: item, send: send)
  }

  private nonisolated(nonsending) func exchange(
    _ parts: [FamilyRequest.Part], _ tree: FamilyTree, _ round: inout Round
  ) async throws(SyncError) {
    try context.checkStop()
    let session = try await context.session()
    let request = FamilyRequest(
      targets: targets, parts: parts, parentID: round.parentID,
      readsDates: context.settings.refreshesDates)
    let marks = try mark(parts, session)
    let results: FamilyRequest.Results
    do throws(OrgError) {
      results = try await request.send(session)
    } catch {
      if error.isAmbiguous { doubt(parts, error) } else { try unmark(marks, but: []) }
      throw SyncError(error, isWrite: true)
    }
    var settled: [(place: FamilyPlace, settled: UpSettled)] = []
    for (part, answer) in zip(parts, results.answers) where part.item.place == .parent {
      learn(answer, part, &round)
    }
    var doubtful: Set<FamilyPlace> = []
    for (part, answer) in zip(parts, results.answers) {
      if case .unknown = answer { doubtful.insert(part.item.place) }
      if !round.isLast, let refusal = missing(part, answer) {
        round.missing.append(Missing(item: part.item, refusal: refusal))
        continue
      }
      settled.append((part.item.place, self.settled(part, answer, results.dates)))
    }
    (parents.answered, children.answered) = (session.serverDate, session.serverDate)
    try commit(settled, tree) {
      try self.parents.claim(settled.filter { $0.place == .parent }.map(\.settled))
      try self.children.claim(settled.filter { $0.place != .parent }.map(\.settled))
      try self.unmark(marks, but: doubtful)
    }
  }

  // MARK: marks

  /// The marks of a request: that of the parent's soup and that of the children's.
  private typealias Marks = (parent: SentMark?, children: SentMark?)

  /// Notes in the store what is about to leave.
  private func mark(
    _ parts: [FamilyRequest.Part], _ session: Session
  ) throws(SyncError) -> Marks {
    let ofParent = parts.filter { $0.item.place == .parent }.map(\.send)
    let ofChildren = parts.filter { $0.item.place != .parent }.map(\.send)
    return try UpElements.mapping {
      try context.store.transaction {
        (try parents.mark(ofParent, session), try children.mark(ofChildren, session))
      }
    }
  }

  /// Takes the marks back, but for what is still in doubt.
  private func unmark(_ marks: Marks, but doubtful: Set<FamilyPlace>) throws(SyncError) {
    var rows: Set<Int64> = []
    for case .child(let row) in doubtful { rows.insert(row) }
    let parentRow = doubtful.contains(.parent) ? marks.parent?.changes.first?.soupEntryID : nil
    try parents.unmark(marks.parent, but: parentRow.map { [$0] } ?? [])
    try children.unmark(marks.children, but: rows)
  }

  private func doubt(_ parts: [FamilyRequest.Part], _ error: OrgError) {
    for part in parts {
      note(
        part.item.place,
        UpSettled(
          record: part.item.record, operation: part.item.record.operation,
          end: .inDoubt("no answer came: \(error.message)")))
    }
  }

  // MARK: answers

  /// What the parent's own answer says.
  private func learn(_ answer: RowAnswer, _ part: FamilyRequest.Part, _ round: inout Round) {
    guard part.item.operation != .delete else { return }
    switch answer {
    case .done(let id?, _):
      round.parentID = id
      round.parentIsAlive = true
    case .done(nil, _): round.parentIsAlive = true
    default: if part.item.operation == .create { round.parentFailed = true }
    }
  }

  /// The refusal, where it says that the record or its parent is not there and OVERWRITE can make
  /// it anew.
  private func missing(_ part: FamilyRequest.Part, _ answer: RowAnswer) -> RowRefusal? {
    guard context.options.mergeMode == .overwrite else { return nil }
    switch answer {
    case .absent(let refusal) where part.send.action == .update: return refusal
    case .absent(let refusal), .refused(let refusal):
      guard part.item.namesParent,
        ["ENTITY_IS_DELETED", "INVALID_CROSS_REFERENCE_KEY"]
          .contains(refusal.code ?? ""), refusal.fields.allSatisfy({ $0 == targets.key })
      else { return nil }
      return refusal
    default: return nil
    }
  }

  private func settled(
    _ part: FamilyRequest.Part, _ answer: RowAnswer, _ dates: [String: String]
  ) -> UpSettled {
    let item = part.item
    let end: UpSettled.End =
      switch answer {
      case .absent
      where part.send.action == .update
        && context.options.mergeMode == .leaveIfChanged:
        .left(.deletedOnServer)
      default: UpSettled.End(answer, action: part.send.action, kind: .batch)
      }
    var settled = UpSettled(
      record: item.record, operation: item.record.operation, end: end,
      isRecreated: item.isRecreated)
    let member = item.place == .parent ? targets.family.parent : targets.family.children
    if case .sent(let id) = end, let id = id ?? item.record.id,
      let date = dates[RecordID(id)?.text18 ?? id]
    {
      settled.members.append((member.modificationDateFieldName, .string(date)))
    }
    return settled
  }

  /// Children whose parent was to be made and was not: an org would say the same of each.
  private func fail(_ items: [FamilyPlan.Item], _ tree: FamilyTree) throws(SyncError) {
    let code = "PROCESSING_HALTED"
    let message = "the parent was not created"
    let error: JSONValue = ["errorCode": .string(code), "message": .string(message), "fields": []]
    try commit(
      items.map { item in
        (
          item.place,
          UpSettled(
            record: item.record, operation: item.record.operation,
            end: .failed(code: code, message: message, error: error.text))
        )
      }, tree)
  }

  // MARK: entering

  func enter(_ settled: [FamilyPlan.Settled], _ tree: FamilyTree) throws(SyncError) {
    try commit(
      settled.map {
        ($0.place, UpSettled(record: $0.record, operation: $0.record.operation, end: $0.end))
      }, tree)
  }

  /// Enters what became of records of a tree, and tells of it.
  func commit(
    _ settled: [(place: FamilyPlace, settled: UpSettled)], _ tree: FamilyTree,
    also body: () throws -> Void = {}
  ) throws(SyncError) {
    var settled = settled
    var waiting: [(place: FamilyPlace, settled: UpSettled)] = []
    if targets.isMasterDetail, tree.parent.operation == .delete,
      let parent = settled.first(where: { $0.place == .parent })?.settled
    {
      let details = { (end: UpSettled.End, children: [UpRecord]) in
        children.map { child in
          (
            place: FamilyPlace.child(child.soupEntryID),
            settled: UpSettled(record: child, operation: child.operation, end: end)
          )
        }
      }
      switch parent.end {
      // Details go with their master.
      case .deleted, .removed: settled += details(.removed, tree.children)
      default: waiting = details(parent.end, tree.children.filter(\.state.isLocal))
      }
    }
    try elements.commit(settled, also: body)
    for (place, one) in settled + waiting { note(place, one) }
  }

  /// Puts a record into the report, in the place of what the tree's first round told of it.
  func note(_ place: FamilyPlace, _ one: UpSettled) {
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
}
