import JSON
import Ledger
import MobileSync
import Salesforce
import System

/// Requests that got no answer, were held to have done nothing, and may have arrived since.
extension Reconciler {
  /// Reads the records of such requests once more, and tells what arrived late.
  ///
  /// What is proved by it: the record holds what the request carried, or what the org's rules make of that, its sender
  /// wrote last, and it does not stand as a write of ours has left it. An edit that was not written by then is done. A newer write of ours that the request went over is sent
  /// again: the newer edit stands.
  nonisolated(nonsending) func settleLate() async throws {
    var groups: [LateKey: LateGroup] = [:]
    for operation in try state.lateOperations(since: run.now - Self.watchMilliseconds) {
      guard let found = try state.openEdit(id: operation.editID),
        let access = try await asker(of: found.snapshotID)
      else { continue }
      let asksAll = access.provesDeletions
      let key = LateKey(
        sobject: operation.sobject, snapshotID: asksAll ? "" : found.snapshotID)
      var write = LateWrite(operation: try resolved(operation), edit: found.edit)
      if operation.action == .upsert {
        write.operation.recordID = try state.doneRecordID(of: operation.editID)
      }
      groups[key, default: LateGroup(access: access)].writes.append(write)
    }
    let ordered = groups.sorted {
      ($0.key.sobject, $0.key.snapshotID) < ($1.key.sobject, $1.key.snapshotID)
    }
    for (key, group) in ordered {
      do {
        try await look(
          group.writes.filter { [.update, .upsert, .undelete].contains($0.operation.action) }, key,
          group.access)
        try await lookForDeleted(
          group.writes.filter { $0.operation.action == .delete }, key, group.access)
        let creates = group.writes.filter { $0.operation.action == .create }
        try await lookForCreated(
          creates.filter { $0.operation.externalField == nil }, key, group.access)
        for write in creates where write.operation.externalField != nil {
          try await lookForCorrelated(write, group.access)
        }
      } catch let error as OrgError {
        try await checkAlone(error, group.access)
        summary.warnings.append(
          "requests without an answer to \(key.sobject) could not be looked for")
      }
    }
  }

  private struct LateKey: Hashable {
    var sobject: String
    var snapshotID: String
  }

  private struct LateGroup {
    var access: RecordReader
    var writes: [LateWrite] = []
  }

  private struct LateWrite {
    var operation: OperationRow
    var edit: OpenEdit
  }

  // MARK: updates

  private nonisolated(nonsending) func look(
    _ writes: [LateWrite], _ key: LateKey, _ access: RecordReader
  ) async throws {
    guard !writes.isEmpty else { return }
    var writes = writes
    for index in writes.indices where writes[index].operation.recordID == nil {
      writes[index].operation.recordID = try await keyed(writes[index], access).first {
        $0["IsDeleted"]?.bool != true
      }.flatMap(UnacknowledgedCreates.id(of:))
    }
    let fields = UnacknowledgedCreates.readable(
      writes.flatMap(\.operation.payload.names), try await access.describe(key.sobject),
      and: ["CreatedById", "LastModifiedById", "LastModifiedDate"])
    let found = try await access.records(
      key.sobject, ids: writes.compactMap(\.operation.recordID), fields: fields)
    for write in writes {
      let operation = write.operation
      guard let id = operation.recordID, let record = found[id],
        Self.holds(record, operation), Self.isAfter(record, operation),
        try !isKnown(record, id, operation)
      else { continue }
      guard let later = try state.laterWrite(than: operation, recordID: id) else {
        try await arrived(write, record, access)
        continue
      }
      if try stands(later, in: record, against: operation) { continue }
      try await sendAgain(later, over: operation, record)
    }
  }

  /// Says whether a record holds what a request carried, as its sender has written it last.
  private static func holds(_ record: JSONObject, _ operation: OperationRow) -> Bool {
    guard let sender = operation.senderID,
      record["LastModifiedById"]?.string?.recordID18 == sender
    else { return false }
    return UnacknowledgedCreates.agreement(of: operation.payload, with: record) == .whole
      || ArrivedWrite.hasChanged(
        record, by: sender, from: operation.seen?.object, to: operation.payload)
  }

  /// Says whether a record holds a newer write, and not an older one that arrived late.
  ///
  /// What the newer one has left may be read after the older one had arrived: where the record holds just what that
  /// carried, it is no witness.
  private func stands(
    _ later: OperationRow, in record: JSONObject, against older: OperationRow
  ) throws -> Bool {
    if UnacknowledgedCreates.agreement(of: later.payload, with: record) == .whole { return true }
    guard UnacknowledgedCreates.agreement(of: older.payload, with: record) != .whole,
      let left = try state.left(by: later)
    else { return false }
    return UnacknowledgedCreates.agreement(of: left, with: record) == .whole
  }

  /// Says whether another request of the same edit accounts for what the record holds.
  ///
  /// Of one edit several requests may have been lost. Where the edit is settled, that one of them arrives after the
  /// record was changed once more is seen by its date.
  private func isKnown(
    _ record: JSONObject, _ recordID: String, _ operation: OperationRow
  ) throws -> Bool {
    let isSettled = try state.verdict(of: operation.editID)?.isSettled == true
    let date = record["LastModifiedDate"]?.string ?? ""
    return try state.writes(of: operation.editID, to: recordID).contains { done in
      guard let left = try state.left(by: done),
        UnacknowledgedCreates.agreement(of: left, with: record) == .whole,
        try state.laterWrite(than: done, recordID: recordID) == nil
      else { return false }
      return try !isSettled
        || state.dateLeft(by: done).map { ServerDate.isSame($0, date) } ?? false
    }
  }

  /// The records that bear the external id of a write.
  private nonisolated(nonsending) func keyed(
    _ write: LateWrite, _ access: RecordReader
  ) async throws -> [JSONObject] {
    try await resolver(access).keyedRecords(
      of: pending(write.operation, access), write.operation.sobject) ?? []
  }

  /// Says whether a record was written when the request had left, or later.
  private static func isAfter(_ record: JSONObject, _ operation: OperationRow) -> Bool {
    let date = record["LastModifiedDate"]?.string.flatMap { Dates.milliseconds(iso8601: $0) }
    guard let date, let sent = operation.sentMilliseconds else { return false }
    return date >= sent - UnacknowledgedCreates.slackMilliseconds
  }

  /// Enters that a request has arrived that nothing was written after.
  private nonisolated(nonsending) func arrived(
    _ write: LateWrite, _ record: JSONObject, _ access: RecordReader
  ) async throws {
    let verdict = try state.verdict(of: write.edit.id)
    var operation = write.operation
    // The upsert found what somebody else had made meanwhile.
    if operation.expected.verdict == .created,
      record["CreatedById"]?.string?.recordID18 != operation.senderID
    {
      operation.expected.verdict = .updated
    }
    try state.connection.transaction {
      try state.finish(operation, .done(recordID: operation.recordID))
      guard
        var settlement = Self.lateSettlement(of: operation, verdict, recordID: operation.recordID)
      else { return }
      // What a person has to decide about is what the org holds now.
      if settlement.verdict == .conflict {
        for index in settlement.detail.fields.indices {
          let name = settlement.detail.fields[index].name
          settlement.detail.fields[index].server = record[name]
        }
      }
      try state.settle(write.edit.id, run: run.id, settlement)
    }
    try await recordServerState(after: [([operation], access)])
  }

  /// What an edit comes to whose request has arrived late; nil for one that is settled so already.
  ///
  /// Where the device itself, or a person, has given the edit up meanwhile, a person has to look: the org holds what
  /// nobody wants any more, or has lost what somebody does.
  private static func lateSettlement(
    of operation: OperationRow, _ verdict: Verdict?, recordID: String?
  ) -> Settlement? {
    var settlement = operation.expected
    if verdict == .superseded || verdict == .dropped {
      settlement.verdict = .conflict
    } else if verdict?.isSettled == true, !settlement.verdict.isUndone || verdict?.isUndone == true
    {
      return nil
    }
    settlement.detail.recordID = recordID
    settlement.detail.message = lateWords(verdict)
    return settlement
  }

  private static func lateWords(_ verdict: Verdict?) -> String {
    let words = "the request that got no answer arrived late"
    guard let verdict, verdict != .inDoubt else { return words }
    return words + "; the edit was reported as \(verdict.rawValue) before"
  }

  /// Sends a newer write once more, after an older one has arrived over it.
  ///
  /// Only what the older one has put back is sent, and in an org that can close that window only while
  /// the record stands as it was read.
  private nonisolated(nonsending) func sendAgain(
    _ later: OperationRow, over operation: OperationRow, _ record: JSONObject
  ) async throws {
    guard let found = try state.openEdit(id: later.editID), let id = operation.recordID,
      let sync = rules.firstIndex(where: { $0.soup == found.edit.soup }),
      let access = try await sender(of: found.snapshotID)
    else {
      summary.warnings.append(
        "an older edit arrived late in \(operation.sobject) \(operation.recordID ?? ""), over a "
          + "newer one, which could not be sent again")
      return
    }
    var payload = JSONObject()
    var fields: [FieldDifference] = []
    for (name, value) in later.payload where operation.payload[name] != nil {
      if FieldValue.isSame(value, record[name]) { continue }
      payload[name] = value
      fields.append(
        FieldDifference(name: name, base: nil, device: value, server: record[name] ?? .null))
    }
    guard !payload.names.isEmpty else { return }
    var detail = OutcomeDetail.because(
      "a request of an older edit arrived late and put back what it carried; this edit was sent again"
    )
    detail.fields = fields
    detail.recordID = id
    detail.otherEdits = operation.editID == later.editID ? [] : [operation.editID]
    var plan = SnapshotPlan(snapshotID: found.snapshotID)
    plan.sends = [
      PlannedSend(
        edit: found.edit, sync: sync,
        modificationField: rules[sync].target.modificationDateFieldName, sobject: later.sobject,
        action: .update,
        expected: Settlement(
          later.expected.verdict.isUndone ? later.expected.verdict : .updated, detail),
        condition: record["LastModifiedDate"]?.string, isStrict: options.strict, payload: payload,
        recordID: id)
    ]
    plan.levels = [[found.edit.id]]
    try await send([(plan, access)])
  }

  private nonisolated(nonsending) func sender(of snapshotID: String) async throws -> RecordReader? {
    do {
      return try await access(to: snapshotID)
    } catch let error as OrgError where error.kind == .authentication || error.kind == .permission {
      return nil
    }
  }

  // MARK: deletes and creates

  private nonisolated(nonsending) func lookForDeleted(
    _ writes: [LateWrite], _ key: LateKey, _ access: RecordReader
  ) async throws {
    guard !writes.isEmpty else { return }
    let ids = writes.compactMap(\.operation.recordID)
    let found = try await access.records(key.sobject, ids: ids, fields: ["Id"])
    let proofs = try await access.prove(key.sobject, absent: ids.filter { found[$0] == nil })
    for write in writes {
      guard let id = write.operation.recordID, proofs[id] == .deleted,
        try !state.wasDeleted(recordID: id, after: write.operation)
      else { continue }
      let newer = try state.laterWrite(than: write.operation, recordID: id)
      let verdict = try state.verdict(of: write.edit.id)
      try state.connection.transaction {
        try state.finish(write.operation, .done(recordID: id))
        try state.noteGone(write.operation, by: access.session.serverDate ?? run.now)
        if let newer, newer.editID != write.edit.id {
          var detail = newer.expected.detail
          detail.recordID = id
          detail.otherEdits = [write.edit.id]
          detail.message = "the deletion of an older edit arrived late, after this edit was written"
          try state.settle(newer.editID, run: run.id, Settlement(.deletedOnServer, detail))
        } else if var settlement = Self.lateSettlement(of: write.operation, verdict, recordID: id) {
          let words = "it is deleted; the request that got no answer may have arrived late"
          if settlement.verdict != .conflict { settlement.detail.message = words }
          try state.settle(write.edit.id, run: run.id, settlement)
        }
      }
    }
  }

  /// A create that was taken for not made: a record that holds all of it and that nothing accounts for
  /// is what it made after all.
  private nonisolated(nonsending) func lookForCreated(
    _ writes: [LateWrite], _ key: LateKey, _ access: RecordReader
  ) async throws {
    guard !writes.isEmpty else { return }
    var resolver = resolver(access)
    // What a create that nobody knows of yet may have made is its.
    resolver.rivals = try state.unfinishedOperations().filter {
      $0.action == .create && $0.sobject == key.sobject
    }.map { try pending($0, access) }
    let arrived = try await resolver.arrived(
      writes.map { try pending($0.operation, access) }, of: key.sobject
    ) { try state.doneRecordID(of: writes[$0].edit.id) != nil }
    for case (let write, let made?) in zip(writes, arrived) { try enter(made, of: write) }
  }

  /// A create that bore its edit's identity made the record that bears it.
  private nonisolated(nonsending) func lookForCorrelated(
    _ write: LateWrite, _ access: RecordReader
  ) async throws {
    let records = try await keyed(write, access)
    guard let record = records.first(where: { $0["IsDeleted"]?.bool != true }),
      let made = UnacknowledgedCreates.Made(record, sent: write.operation.payload),
      // What another edit of the row has made since bears the same identity.
      try !state.isClaimed(recordID: made.id)
    else { return }
    try enter(made, of: write)
  }

  private func enter(_ made: UnacknowledgedCreates.Made, of write: LateWrite) throws {
    let verdict = try state.verdict(of: write.edit.id)
    let existing = try state.doneRecordID(of: write.edit.id) ?? write.edit.creation?.recordID
    try state.connection.transaction {
      try state.finish(write.operation, .done(recordID: made.id))
      if let existing, existing != made.id {
        var detail = write.operation.expected.detail
        detail.recordID = existing
        detail.otherID = made.id
        detail.message = Self.lateWords(verdict)
        try state.settle(write.edit.id, run: run.id, Settlement(.createdTwice, detail))
        // What its device enters later is told of both as well, until somebody says which one counts.
        if let creation = write.edit.creation {
          try state.noteSecond(made.id, beside: existing, of: creation.id)
        }
      } else if let settlement = Self.lateSettlement(
        of: write.operation, verdict, recordID: made.id)
      {
        try state.settle(write.edit.id, run: run.id, settlement)
      }
    }
  }
}

extension LedgerDatabase {
  /// Writes that got no answer and were held to have done nothing, sent since a moment.
  func lateOperations(since: Int64) throws -> [OperationRow] {
    try operations(
      "is_doubted = 1 AND state = \(OperationState.dropped) AND sent_ms >= \(since) ORDER BY +id")
  }

  /// The last write that was done to a record after another one was sent.
  func laterWrite(than operation: OperationRow, recordID: String) throws -> OperationRow? {
    try operations(
      """
      state = \(OperationState.done) AND action <> 'delete' AND result_id = \(recordID) AND id > \(operation.id)
        ORDER BY id DESC LIMIT 1
      """
    ).first
  }

  /// The writes of an edit that were done to a record.
  func writes(of edit: Int64, to recordID: String) throws -> [OperationRow] {
    try operations(
      """
      edit_id = \(edit) AND state = \(OperationState.done) AND action <> 'delete' AND result_id = \(recordID)
        ORDER BY id
      """)
  }

  /// What a write has left in the fields that it sent; nil where that was not read, or was not its own.
  func left(by operation: OperationRow) throws -> JSONObject? {
    guard
      let text = try connection.text(
        "SELECT left_values FROM operation WHERE id = \(operation.id)"),
      let left = try JSONValue(parsing: text).object
    else { return nil }
    var own = JSONObject()
    for name in operation.payload.names { own[name] = left[name] }
    return own.isEmpty ? nil : own
  }

  /// The date that a record bore when what a write has left was read.
  func dateLeft(by operation: OperationRow) throws -> String? {
    try connection.text("SELECT server_date FROM operation WHERE id = \(operation.id)")
  }

  /// Says whether a later request of ours deleted a record: then its absence does not show that an
  /// earlier one arrived.
  func wasDeleted(recordID: String, after operation: OperationRow) throws -> Bool {
    try connection.integer(
      """
      SELECT 1 FROM operation WHERE state = \(OperationState.done) AND action = 'delete' AND result_id = \(recordID)
        AND id > \(operation.id) LIMIT 1
      """) != nil
  }

  /// The record that an edit was found or said to have made.
  func doneRecordID(of edit: Int64) throws -> String? {
    try connection.text(
      """
      SELECT result_id FROM operation WHERE edit_id = \(edit) AND state = \(OperationState.done)
        AND action IN ('create', 'upsert') ORDER BY id DESC LIMIT 1
      """)
  }

  /// The verdict that an edit has; nil for one that nobody has decided about.
  func verdict(of edit: Int64) throws -> Verdict? {
    try connection.text("SELECT verdict FROM edit WHERE id = \(edit)")
      .flatMap(Verdict.init(rawValue:))
  }
}
