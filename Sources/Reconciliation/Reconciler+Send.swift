import JSON
import MobileSync
import Salesforce
import System

/// One batch of a plan: writes of one kind that go to the org together.
struct SendBatch {
  var sends: [PlannedSend]
  var action: OperationAction { sends[0].action }
  var sobject: String { sends[0].sobject }
}

extension Reconciler {
  /// How often a row that another writer held is tried.
  static let lockAttempts: Int64 = 5

  /// Sends a plan, level by level.
  ///
  /// The whole of it is in the ledger before the first request.
  func send(_ plan: SnapshotPlan, _ access: OrgRecords) async throws {
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
    for level in plan.levels {
      let ready = try takeParents(level.compactMap { byEdit[$0] }, plan.snapshotID)
      for batch in batches(of: ready) {
        try checkDeadline()
        try await send(batch, plan.snapshotID, access)
      }
    }
  }

  /// Puts the ids of the parents that were made meanwhile into the children; a child whose parent
  /// has none is blocked.
  private func takeParents(
    _ sends: [PlannedSend], _ snapshotID: String
  ) throws -> [PlannedSend] {
    try sends.compactMap { send in
      if send.needs.isEmpty { return send }
      var send = send
      for name in send.waiting.sorted() {
        let local = send.payload[name]?.string ?? ""
        let creation = try state.creation(
          stampID: send.edit.stampID, localID: local, lineage: send.edit.lineage)
        guard let id = creation?.recordID else {
          let words = "\(name) refers to a record that did not reach the org"
          try state.move(send.operation(sender: ""), to: "dropped")
          try settle([(send.edit, Settlement(.blocked, .because(words)))], snapshotID)
          return nil
        }
        send.payload[name] = .string(id)
      }
      return send
    }
  }

  /// Batches in the order of the sync ups, then create, update, upsert, delete as the SDK has it.
  private func batches(of sends: [PlannedSend]) -> [SendBatch] {
    var groups: [(key: BatchKey, sends: [PlannedSend])] = []
    for send in sends {
      let key = BatchKey(
        rule: send.rule, action: send.action, isConditional: send.isConditional(options),
        sobject: send.action == .upsert ? send.sobject : "")
      if let index = groups.firstIndex(where: { $0.key == key }) {
        groups[index].sends.append(send)
      } else {
        groups.append((key, [send]))
      }
    }
    groups.sort { $0.key.order < $1.key.order }
    return groups.flatMap { key, sends in
      let size = key.isConditional ? Session.compositeLimit : rules[key.rule].batchSize
      return stride(from: 0, to: sends.count, by: size).map {
        SendBatch(sends: Array(sends[$0..<min($0 + size, sends.count)]))
      }
    }
  }

  private struct BatchKey: Hashable {
    var rule: Int
    var action: OperationAction
    var isConditional: Bool
    var sobject: String

    var order: (Int, Int, Int, String) {
      let place = [OperationAction.create: 0, .update: 1, .upsert: 2, .delete: 3]
      return (rule, place[action] ?? 0, isConditional ? 1 : 0, sobject)
    }
  }

  // MARK: one batch

  private func send(
    _ batch: SendBatch, _ snapshotID: String, _ access: OrgRecords, attempt: Int64 = 1
  ) async throws {
    var batch = batch
    if batch.action == .delete { batch.sends = try await recheck(batch, access) }
    if batch.sends.isEmpty { return }
    guard let answers = try await exchange(batch, snapshotID, access, attempt) else { return }
    let locked = try record(answers, snapshotID, isLast: attempt >= Self.lockAttempts)
    try await readBack(answers, snapshotID, access)
    if locked.isEmpty { return }
    // Fewer rows at a time hold fewer locks.
    try await options.pause(min(1000 << (attempt - 1), 5000))
    for part in Self.halves(of: locked) {
      try await send(part, snapshotID, access, attempt: attempt + 1)
    }
  }

  private static func halves(of sends: [PlannedSend]) -> [SendBatch] {
    let half = sends.count / 2
    if half == 0 { return [SendBatch(sends: sends)] }
    return [SendBatch(sends: Array(sends[..<half])), SendBatch(sends: Array(sends[half...]))]
  }

  /// Reads dates once more, right before deletes under LEAVE_IF_CHANGED.
  ///
  /// A delete cannot carry a condition. What moved is decided anew.
  private func recheck(_ batch: SendBatch, _ access: OrgRecords) async throws -> [PlannedSend] {
    let watched = batch.sends.filter { $0.condition != nil }
    guard !watched.isEmpty else { return batch.sends }
    var moved: Set<Int64> = []
    for (sobject, group) in Dictionary(grouping: watched, by: \.sobject) {
      let field = rules[group[0].rule].target.modificationDateFieldName
      let found = try await access.read(
        sobject, ids: group.compactMap(\.recordID), fields: ["Id", field])
      for send in group where !redone.contains(send.edit.id) {
        let date = send.recordID.flatMap { found[$0]?[field]?.string }
        if date != send.condition { moved.insert(send.edit.id) }
      }
    }
    for send in batch.sends where moved.contains(send.edit.id) {
      redone.insert(send.edit.id)
      try state.move(send.operation(sender: ""), to: "dropped")
    }
    return batch.sends.filter { !moved.contains($0.edit.id) }
  }

  /// Sends a batch, when `sent` is on the disk; nil when its parts were sent instead.
  private func exchange(
    _ batch: SendBatch, _ snapshotID: String, _ access: OrgRecords, _ attempt: Int64
  ) async throws -> [(PlannedSend, RowAnswer)]? {
    try checkDeadline()
    let operations = batch.sends.map { $0.operation(sender: access.session.identity.username) }
    try state.markSent(operations, now: access.session.serverDate ?? run.now)
    do {
      let answers = try await BatchRequest(session: access.session, options: options).send(batch)
      return Array(zip(batch.sends, answers))
    } catch {
      if error.isAmbiguous { return batch.sends.map { ($0, .unknown(error.message)) } }
      if SnapshotPlanner.isAboutTheObject(error) {
        let canSplit = batch.sends.count > 1 && error.kind != .notFound
        guard canSplit, error.kind != .permission else {
          return batch.sends.map {
            let refusal = RowRefusal(
              code: error.code, message: error.message, fields: error.fields)
            return ($0, .refused(refusal))
          }
        }
      }
      try state.connection.transaction {
        for operation in operations { try state.finish(operation, .again) }
      }
      guard SnapshotPlanner.isAboutTheObject(error) else { throw error }
      // One row can spoil a whole request: halves are sent until it stands alone.
      for part in Self.halves(of: batch.sends) {
        try await send(part, snapshotID, access, attempt: attempt)
      }
      return nil
    }
  }

  // MARK: answers

  /// Enters what the org said of each row, in one transaction; returns the rows that were locked.
  private func record(
    _ answers: [(PlannedSend, RowAnswer)], _ snapshotID: String, isLast: Bool
  ) throws -> [PlannedSend] {
    var locked: [PlannedSend] = []
    var refused = 0
    try state.connection.transaction {
      for (send, answer) in answers {
        switch try enter(send, answer, isLast: isLast) {
        case .locked: locked.append(send)
        case .refused: refused += 1
        case .accepted: summary.writes += 1
        case .left: break
        }
      }
    }
    if let first = answers.first?.0 {
      report(
        .sent(
          snapshotID: snapshotID, soup: first.edit.row.soup, action: first.action.rawValue,
          records: answers.count, refused: refused))
    }
    return locked
  }

  private enum Entered { case accepted, refused, locked, left }

  private func enter(
    _ send: PlannedSend, _ answer: RowAnswer, isLast: Bool
  ) throws -> Entered {
    let operation = send.operation(sender: "")
    switch answer {
    case .done(let id, let created):
      try state.finish(operation, .done(recordID: id))
      try state.settle(
        send.edit.id, run: run.id, outcome(of: operation, send.edit, id: id, created: created))
      return .accepted
    case .changed:
      try state.finish(operation, .conflict)
      if redone.insert(send.edit.id).inserted { return .left }
      try state.settle(send.edit.id, run: run.id, Settlement(.conflict, send.expected.detail))
      return .refused
    case .absent(let refusal):
      try state.finish(operation, .rejected(code: refusal.code, message: refusal.message))
      if redone.insert(send.edit.id).inserted { return .left }
      try refuse(send, refusal)
      return .refused
    case .locked(let refusal):
      if !isLast {
        try state.finish(operation, .again)
        return .locked
      }
      try state.finish(operation, .rejected(code: refusal.code, message: refusal.message))
      try refuse(send, refusal)
      return .refused
    case .refused(let refusal) where Self.isRepeated(send, refusal):
      // An earlier request has made it: it is looked up by the field that says so.
      try state.finish(operation, .doubt)
      try state.settle(
        send.edit.id, run: run.id,
        Settlement(.inDoubt, .because("an earlier request has made it: \(refusal.message)")))
      return .left
    case .refused(let refusal):
      try state.finish(operation, .rejected(code: refusal.code, message: refusal.message))
      try refuse(send, refusal)
      return .refused
    case .unknown(let message):
      try state.finish(operation, .doubt)
      try state.settle(
        send.edit.id, run: run.id,
        Settlement(.inDoubt, .because("no answer came back: \(message)")))
      return .left
    }
  }

  /// Says whether the org refuses a create because the record of its identity is there.
  private static func isRepeated(_ send: PlannedSend, _ refusal: RowRefusal) -> Bool {
    guard send.action == .create, refusal.code == "DUPLICATE_VALUE",
      let field = send.externalField?.lowercased()
    else { return false }
    return refusal.fields.contains { $0.lowercased() == field }
      || refusal.message.lowercased().contains(field)
  }

  private func refuse(_ send: PlannedSend, _ refusal: RowRefusal) throws {
    var detail = send.expected.detail
    detail.code = refusal.code
    detail.message = refusal.message
    detail.errorFields = refusal.fields
    try state.settle(send.edit.id, run: run.id, Settlement(.failed, detail))
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

  // MARK: after the writes

  /// Reads once what a batch left, so that our own writes are no conflicts later; then finds out
  /// what is in doubt.
  private func readBack(
    _ answers: [(PlannedSend, RowAnswer)], _ snapshotID: String, _ access: OrgRecords
  ) async throws {
    var written: [OperationRow] = []
    var isDoubtful = false
    for (send, answer) in answers {
      if case .done(let id, _) = answer, send.action != .delete {
        var operation = send.operation(sender: access.session.identity.username)
        operation.senderID = access.session.identity.userID
        operation.recordID = id ?? send.recordID
        written.append(operation)
      }
      if case .unknown = answer { isDoubtful = true }
      if case .refused(let refusal) = answer, Self.isRepeated(send, refusal) { isDoubtful = true }
    }
    try await noteLeft(written, access)
    if isDoubtful { try await settleDoubts(of: snapshotID) }
  }

  /// Notes the dates and values of records that we wrote; `isLate` says that others may have written
  /// since.
  func noteLeft(
    _ operations: [OperationRow], _ access: OrgRecords, isLate: Bool = false
  ) async throws {
    for (sobject, group) in Dictionary(grouping: operations, by: \.sobject).sorted(by: {
      $0.key < $1.key
    }) {
      do {
        let describe = try await access.describe(sobject)
        let names = Set(group.flatMap(\.payload.names)).filter { describe.field($0) != nil }
        let dates = ["LastModifiedDate", "LastModifiedById"].filter { describe.field($0) != nil }
        let fields = Set(["Id"] + names + dates).sorted()
        let found = try await access.read(
          sobject, ids: group.compactMap(\.recordID), fields: fields)
        try state.connection.transaction {
          for operation in group {
            let record = operation.recordID.flatMap { found[$0] } ?? [:]
            let isOurs = Self.isLeft(
              record, by: operation, access.session.identity.userID, isLate: isLate)
            // Somebody else wrote in between: what stands there is not ours. Who has seen that date
            // has seen our write all the same.
            try state.noteLeft(
              operation, date: record["LastModifiedDate"]?.string,
              fields: isOurs ? record : nil)
            if isOurs { try state.noteKept(operation, record: record, run: run.id) }
          }
        }
      } catch let error as OrgError {
        // The writes stand; a later return of the device is compared without their dates.
        guard SnapshotPlanner.isAboutTheObject(error) else { throw error }
        summary.warnings.append("what was written to \(sobject) could not be read back")
      }
    }
  }

  /// How long after its sending a write may be dated, in milliseconds of the org's time.
  static let writeMilliseconds: Int64 = 120_000

  /// Says whether a record stands as a write of ours has left it.
  ///
  /// Long after, the sender may have changed it by hand: it has to hold what was sent, or to bear a
  /// date of that time, where an automation has made something else of it.
  private static func isLeft(
    _ record: JSONObject, by operation: OperationRow, _ userID: String, isLate: Bool
  ) -> Bool {
    let sender = operation.senderID ?? userID
    guard DoubtSearch.id(record["LastModifiedById"]) == sender else { return false }
    if !isLate || LostCreates.agreement(of: operation.payload, with: record) == .whole {
      return true
    }
    let date = record["LastModifiedDate"]?.string.flatMap { Dates.milliseconds(iso8601: $0) }
    guard let date, let sent = operation.sentMilliseconds else { return false }
    return date <= sent + writeMilliseconds
  }
}
