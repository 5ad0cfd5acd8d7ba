import JSON
import Ledger
import MobileSync
import Salesforce
import System

extension Reconciler {
  /// Sends plans in parallel, level by level, with all deletions last and the writes to one soup in
  /// the order of the sync ups.
  ///
  /// Everything is recorded in the ledger before the first request. Writes without an answer are
  /// looked up before the next level, which may depend on them.
  nonisolated(nonsending) func send(_ plans: [(SnapshotPlan, RecordReader)]) async throws {
    let plans = plans.filter { !$0.0.sends.isEmpty }
    if plans.isEmpty { return }
    let rows = try state.plan(
      plans.map { plan, access in
        let identity = access.session.identity
        return (plan.sends.map { $0.operation(by: identity) }, identity.userID)
      }, run: run.id)
    var journals: [LedgerJournal] = []
    for ((plan, access), rows) in zip(plans, rows) {
      journals.append(
        LedgerJournal(
          self, access, plan.snapshotID, levels: levels(of: plan, rows),
          carrier: try await carrier(of: plan, access)))
    }
    let writes = journals.map(\.writeLevels).max() ?? 0
    let deletes = journals.map { $0.levels.count - $0.writeLevels }.max() ?? 0
    for level in 0..<(writes + deletes) {
      var groups: [(turn: Int, load: SyncUpEngine<LedgerJournal>.Load)] = []
      for journal in journals {
        let own = level < writes ? level : journal.writeLevels + level - writes
        guard level >= writes || own < journal.writeLevels, own < journal.levels.count else {
          continue
        }
        groups += loads(of: journal.levels[own], journal)
      }
      for (_, turn) in Dictionary(grouping: groups, by: \.turn).sorted(by: { $0.key < $1.key }) {
        try await SyncUpTraffic(turn.map(\.load), inFlight: options.inFlight).run()
      }
      for journal in journals {
        guard let refusal = journal.refusal else { continue }
        try holdTheRest(Self.words(refusal), of: journal.snapshotID)
      }
      // A later run reads back what they wrote before.
      journals.removeAll(where: \.isEnded)
      let doubtful = journals.filter(\.isDoubtful)
      if doubtful.isEmpty { continue }
      try await readBack(doubtful)
      try await settleDoubts(of: Set(doubtful.map(\.snapshotID)))
      for journal in doubtful { journal.isDoubtful = false }
    }
    try await readBack(journals)
  }

  /// The writes of each level, as the ledger has them.
  private func levels(of plan: SnapshotPlan, _ rows: [OperationRow]) -> [[Write]] {
    var sends: [Int64: Write] = [:]
    for (var send, row) in zip(plan.sends, rows) {
      send.operation = row
      send.goesAlone = alone.contains(send.edit.id)
      sends[send.edit.id] = send
    }
    return plan.levels.map { level in level.compactMap { sends[$0] } }
  }

  /// Reads the state after the writes, so that these do not look like conflicts later.
  private nonisolated(nonsending) func readBack(_ journals: [LedgerJournal]) async throws {
    try await recordServerState(after: journals.map { ($0.takeWritten(), $0.access) })
    for journal in journals { try await journal.nameSurvivors() }
  }

  /// The writes at one level of a plan, in groups with their turn: the sync ups of one soup follow
  /// each other in the file's order.
  private func loads(
    of level: [Write], _ journal: LedgerJournal
  ) -> [(turn: Int, load: SyncUpEngine<LedgerJournal>.Load)] {
    var turns: [SoupKey: (sync: Int, turn: Int)] = [:]
    return groups(of: level).map { sync, sends in
      let soups = Set(sends.map(\.edit.soup))
      let turn =
        soups.compactMap { soup in
          turns[soup].map { $0.sync == sync ? $0.turn : $0.turn + 1 }
        }.max() ?? 0
      for soup in soups { turns[soup] = (sync, turn) }
      let engine = SyncUpEngine(
        rules[sync].carrier, journal.carrier, journal, patience: patience,
        bulkAbove: options.bulkAbove)
      // The requests of a tree need each other's answers.
      return (turn, SyncUpEngine.Load(engine, sends, beside: sends.allSatisfy { $0.tree == nil }))
    }
  }

  /// How to handle a failure of a whole request.
  private var patience: SyncUpEngine<LedgerJournal>.Patience {
    var patience = SyncUpEngine<LedgerJournal>.Patience(
      lockAttempts: RetryPolicy.attemptsOfRow, survivesDoubt: true,
      pause: options.pause)
    patience.mayWait = options.mayWait
    return patience
  }

  /// Where writes are sent: to the org, or in a dry run to its presumed state.
  private nonisolated(nonsending) func carrier(
    of plan: SnapshotPlan, _ access: RecordReader
  ) async throws -> SyncUpEngine<LedgerJournal>.Carrier {
    guard let presumed else { return .org(access.session) }
    var ids = plan.sends.filter { $0.action != .undelete }.compactMap(\.recordID)
    let undeletes = Dictionary(
      grouping: plan.sends.filter { $0.action == .undelete }, by: \.sobject)
    for (sobject, sends) in undeletes.sorted(by: { $0.key < $1.key }) {
      try await presumed.learn(binned: sends.compactMap(\.recordID), of: sobject, access)
    }
    for send in plan.sends {
      guard let field = send.externalField, let value = send.externalValue,
        let id = UnacknowledgedCreates.id(ofSeen: send.seen)
      else { continue }
      presumed.know(id, under: value, in: field, of: send.sobject)
      ids.append(id)
    }
    try await presumed.learn(accessTo: ids, of: access)
    let now = access.session.serverDate ?? run.now
    return .custom { try await presumed.answer($0, as: access, now: now) }
  }

  /// The changes of each sync up, in order; a tree is a group by itself.
  private func groups(of sends: [Write]) -> [(sync: Int, sends: [Write])] {
    var places: [GroupKey: Int] = [:]
    var groups: [(sync: Int, sends: [Write])] = []
    for send in sends {
      // The members of a family are sent by one sync up.
      let rule = rules[send.sync]
      let first = rules.firstIndex {
        $0.store == rule.store && $0.definition.syncName == rule.definition.syncName
      }
      let key = GroupKey(sync: first ?? send.sync, tree: send.tree?.key)
      if let place = places[key] {
        groups[place].sends.append(send)
      } else {
        places[key] = groups.count
        groups.append((key.sync, [send]))
      }
    }
    return groups.enumerated()
      .sorted { ($0.element.sync, $0.offset) < ($1.element.sync, $1.offset) }.map(\.element)
  }

  private struct GroupKey: Hashable {
    var sync: Int
    var tree: String?
  }

  /// The verdict of a write that was done.
  func outcome(
    of operation: OperationRow, _ edit: OpenEdit?, id: String?, created: Bool?
  ) -> Settlement {
    var settlement = operation.expected
    if let id { settlement.detail.recordID = id }
    if operation.purpose == .undo { return settlement }
    if created == false { settlement.verdict = .updated }
    if let other = edit?.creation?.deviceRecordID, let id, other != id, operation.action != .update
    {
      settlement.verdict = .duplicateCreated
      settlement.detail.otherID = other
    }
    return settlement
  }
}

extension Reconciler {
  /// The fields in which a send has its device's edits.
  func edited(by send: Write) -> Set<String> {
    switch send.action {
    case .update:
      return Set(
        send.expected.detail.fields.filter {
          $0.base == nil || !FieldValue.isEqual($0.base, $0.device)
        }
        .map(\.name))
    case .create, .upsert:
      let listed = rules[send.sync].sentFields(of: .create)
      return listed.intersection(
        send.payload.filter { !FieldValue.isSame($0.value, nil) }.map(\.name))
    case .delete, .undelete: return []
    }
  }
}
