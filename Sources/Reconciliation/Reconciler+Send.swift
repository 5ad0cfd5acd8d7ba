import JSON
import Ledger
import MobileSync
import Salesforce
import System

extension Reconciler {
  /// How often a row that another writer held is tried.
  static let lockAttempts = 5

  /// Sends a plan, level by level, and within a level in the order of the sync ups.
  ///
  /// The whole of it is in the ledger before the first request.
  nonisolated(nonsending) func send(_ plan: SnapshotPlan, _ access: RecordReader) async throws {
    guard !plan.sends.isEmpty else { return }
    let sender = access.session.identity.username
    let rows = try state.plan(
      plan.sends.map { $0.operation(sender: sender) }, run: run.id,
      senderID: access.session.identity.userID)
    var byEdit: [Int64: PlannedSend] = [:]
    for (send, row) in zip(plan.sends, rows) {
      byEdit[send.edit.id] = send
      byEdit[send.edit.id]?.operationID = row.id
    }
    let journal = LedgerJournal(self, plan.snapshotID, access)
    let carrier = try await carrier(of: plan, access)
    for level in plan.levels {
      for (sync, sends) in groups(of: level.compactMap { byEdit[$0] }) {
        let engine = SyncUpEngine(
          rules[sync].carrier, carrier, journal,
          patience: .init(
            lockAttempts: Self.lockAttempts, halvesRefused: true, survivesDoubt: true,
            pause: options.pause))
        try await engine.send(sends)
      }
    }
    try await journal.readBack()
  }

  /// Where writes go: into the org, or in a dry run into what is presumed of it.
  private nonisolated(nonsending) func carrier(
    of plan: SnapshotPlan, _ access: RecordReader
  ) async throws -> SyncUpEngine<LedgerJournal>.Carrier {
    guard let presumed else { return .org(access.session) }
    var ids = plan.sends.compactMap(\.recordID)
    for send in plan.sends {
      guard let field = send.externalField, let value = send.externalValue,
        let id = send.seen?.object.flatMap({ UnacknowledgedCreates.id(of: $0) })
      else { continue }
      presumed.know(id, under: value, in: field, of: send.sobject)
      ids.append(id)
    }
    try await presumed.learn(accessTo: ids, of: access)
    let now = access.session.serverDate ?? run.now
    return .custom { try await presumed.answer($0, as: access, now: now) }
  }

  /// The changes of each sync up, in their order; a tree goes by itself.
  private func groups(of sends: [PlannedSend]) -> [(sync: Int, sends: [PlannedSend])] {
    var places: [GroupKey: Int] = [:]
    var groups: [(sync: Int, sends: [PlannedSend])] = []
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
    if created == false { settlement.verdict = .updated }
    if let other = edit?.creation?.deviceRecordID, let id, other != id, operation.action != .update
    {
      settlement.verdict = .createdTwice
      settlement.detail.otherID = other
    }
    return settlement
  }
}
