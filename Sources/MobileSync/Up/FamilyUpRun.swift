import JSON
import Salesforce

/// One run of a parent-children sync up.
///
/// Trees go one after the other, each in a composite request of its own; what does not fit goes with
/// the next ones. Each answer is in the store before the next request is made. Where the org had
/// deleted something, and OVERWRITE makes it anew, a second round follows: never a third.
final class FamilyUpRun {
  let targets: FamilyTargets
  let context: SyncContext
  let elements: FamilyElements
  private var parentBodies: UpBodies
  private var childBodies: UpBodies
  /// Where the rows of the tree in work begin in the report.
  private var treeStart = 0

  init(_ target: SyncUpTarget, _ context: SyncContext) throws(SyncError) {
    targets = try FamilyTargets(target)
    self.context = context
    elements = FamilyElements(targets, context.store)
    parentBodies = UpBodies(targets.parents, context.options)
    childBodies = UpBodies(targets.children, context.options)
  }

  nonisolated(nonsending) func run() async throws(SyncError) {
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
  }

  // MARK: one tree

  private nonisolated(nonsending) func take(
    _ row: Int64, _ states: FamilyStates
  ) async throws(SyncError) {
    // Removed by the app since the run began.
    guard let tree = try elements.tree(row) else { return }
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
    if !round.missing.isEmpty { try await repair(row, round) }
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

  // MARK: requests

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

  private nonisolated(nonsending) func send(
    _ items: [FamilyPlan.Item], _ tree: FamilyTree, _ round: inout Round
  ) async throws(SyncError) {
    var parts: [FamilyRequest.Part] = []
    for item in items {
      let bodies = item.place == .parent ? \FamilyUpRun.parentBodies : \FamilyUpRun.childBodies
      var send = try self[keyPath: bodies].send(
        item.record, item.operation, isRecreated: item.isRecreated)
      send.unmodifiedSince = item.unmodifiedSince
      parts.append(FamilyRequest.Part(item: item, send: send))
    }
    let readsDates = context.settings.refreshesDates
    let most = FamilyRequest.most(readsDates: readsDates)
    for start in stride(from: 0, to: parts.count, by: most) {
      var chunk = Array(parts[start..<min(start + most, parts.count)])
      if round.parentFailed {
        try fail(chunk.filter { $0.item.namesParent }, tree)
        chunk.removeAll { $0.item.namesParent }
        if chunk.isEmpty { continue }
      }
      try await exchange(chunk, tree, &round)
    }
  }

  private nonisolated(nonsending) func exchange(
    _ parts: [FamilyRequest.Part], _ tree: FamilyTree, _ round: inout Round
  ) async throws(SyncError) {
    try context.checkStop()
    let session = try await context.session()
    let request = FamilyRequest(
      targets: targets, parts: parts, parentID: round.parentID,
      readsDates: context.settings.refreshesDates)
    let results: FamilyRequest.Results
    do throws(OrgError) {
      results = try await request.send(session)
    } catch {
      if error.isAmbiguous { doubt(parts) }
      throw SyncError(error)
    }
    var settled: [(place: FamilyPlace, settled: UpSettled)] = []
    for (part, answer) in zip(parts, results.answers) where part.item.place == .parent {
      learn(answer, part, &round)
    }
    for (part, answer) in zip(parts, results.answers) {
      if !round.isLast, let refusal = missing(part, answer) {
        round.missing.append(Missing(item: part.item, refusal: refusal))
        continue
      }
      settled.append((part.item.place, self.settled(part, answer, results.dates, round)))
    }
    try commit(settled, tree)
  }

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
    _ part: FamilyRequest.Part, _ answer: RowAnswer, _ dates: [String: String], _ round: Round
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
    if item.place != .parent, item.namesParent, let parentID = round.parentID {
      settled.members.append((targets.key, .string(parentID)))
    }
    if case .sent(let id) = end, let id = id ?? item.record.id,
      let date = dates[RecordID(id)?.text18 ?? id]
    {
      settled.members.append((member.modificationDateFieldName, .string(date)))
    }
    return settled
  }

  /// Children whose parent was to be made and was not: an org would say the same of each.
  private func fail(_ parts: [FamilyRequest.Part], _ tree: FamilyTree) throws(SyncError) {
    let code = "PROCESSING_HALTED"
    let message = "the parent was not created"
    let error: JSONValue = ["errorCode": .string(code), "message": .string(message), "fields": []]
    try commit(
      parts.map { part in
        (
          part.item.place,
          UpSettled(
            record: part.item.record, operation: part.item.record.operation,
            end: .failed(code: code, message: message, error: error.text))
        )
      }, tree)
  }

  // MARK: entering

  private func enter(_ settled: [FamilyPlan.Settled], _ tree: FamilyTree) throws(SyncError) {
    try commit(
      settled.map {
        ($0.place, UpSettled(record: $0.record, operation: $0.record.operation, end: $0.end))
      }, tree)
  }

  func commit(
    _ settled: [(place: FamilyPlace, settled: UpSettled)], _ tree: FamilyTree
  ) throws(SyncError) {
    if settled.isEmpty { return }
    var settled = settled
    // Details go with their master.
    if targets.isMasterDetail, tree.parent.operation == .delete,
      settled.contains(where: { one in
        one.place == .parent && (one.settled.end == .deleted || one.settled.end == .removed)
      })
    {
      settled += tree.children.map { child in
        (
          .child(child.soupEntryID),
          UpSettled(record: child, operation: child.operation, end: .removed)
        )
      }
    }
    try elements.commit(settled)
    for (place, one) in settled { note(place, one) }
  }

  private func doubt(_ parts: [FamilyRequest.Part]) {
    for part in parts {
      note(
        part.item.place,
        UpSettled(
          record: part.item.record, operation: part.item.record.operation,
          end: .inDoubt("no answer came")))
    }
  }

  /// Puts a record into the report; what is known of it from the same tree's first round is replaced.
  private func note(_ place: FamilyPlace, _ one: UpSettled) {
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

  // MARK: the second round

  /// Finds out what is deleted, and makes it anew.
  private nonisolated(nonsending) func repair(
    _ row: Int64, _ first: Round
  ) async throws(SyncError) {
    guard let tree = try elements.tree(row) else { return }
    var facts = FamilyPlan.Facts()
    facts.refused = Set(first.missing.map(\.item.place))
    var merged: [FamilyPlace: String] = [:]
    if !first.parentIsAlive, let id = tree.parent.serverID {
      let fate = try await fates(of: [id], targets.family.parent)[id]
      facts.parentIsDeleted = fate == .deleted
      if case .merged(let master)? = fate { merged[.parent] = master }
    }
    let suspects = tree.children.filter { child in
      child.serverID != nil
        && (facts.parentIsDeleted || facts.refused.contains(.child(child.soupEntryID)))
    }
    let fates = try await fates(of: suspects.compactMap(\.serverID), targets.family.children)
    for child in suspects {
      switch child.serverID.flatMap({ fates[$0] }) {
      case .deleted: facts.deletedChildren.insert(child.soupEntryID)
      case .merged(let master): merged[.child(child.soupEntryID)] = master
      default: break
      }
    }
    let plan = FamilyPlan(tree, targets, after: facts)
    let again = Set(plan.items.map(\.place))
    try commit(
      first.missing.filter { !again.contains($0.item.place) }.map { missing in
        var message = missing.refusal.message
        if let master = merged[missing.item.place] {
          message += "; the record was merged into \(master)"
        }
        let record = missing.item.record
        return (
          missing.item.place,
          UpSettled(
            record: record, operation: record.operation,
            end: .failed(
              code: missing.refusal.code ?? "", message: message, error: missing.refusal.raw))
        )
      }, tree)
    var round = Round(
      parentID: facts.parentIsDeleted ? nil : first.parentID, isLast: true)
    try await send(plan.items, tree, &round)
  }
}
