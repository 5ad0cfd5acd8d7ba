import JSON
import Ledger
import MobileSync
import Salesforce
import System

/// The watch: requests that were sent without an answer and may still arrive.
///
/// A request is watched for its time whatever the outcome of its edit is: resolved, decided,
/// replaced, undone, matched to another record, or sent again. If it arrives while its edit still
/// waits, the edit is done. If the edit has an outcome by then, it is open as a conflict or as
/// `duplicate created` until an operator decides: no later attempt or return closes it
/// (`LedgerDatabase.hasArrivedLate`), and no decision that was made before it was reported
/// (`report`).
extension Reconciler {
  /// Reads the records of watched requests, and records the effect of those that arrived.
  ///
  /// A request has arrived if its record has the values that it sent, or what the org's rules make
  /// of them, its sender wrote last, and no other write accounts for the record's state. A newer
  /// write that the request overwrote is sent again, so that the newer edit stands.
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
        for write in creates
        where write.operation.externalField != nil && write.operation.state == .dropped {
          try await lookForKeyed(write, group.access)
        }
      } catch let error as OrgError {
        try await checkAlone(error, group.access)
        summary.warnings.append(
          "requests to \(key.sobject) without an answer could not be looked up")
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
    let ids = writes.compactMap(\.operation.recordID)
    // Whether another write of attache accounts for the record's state.
    let others = try Set(ids).flatMap { try state.writes(to: $0).flatMap(\.payload.names) }
    let fields = UnacknowledgedCreates.readable(
      writes.flatMap(\.operation.payload.names) + others,
      try await access.describe(key.sobject),
      and: ["CreatedById", "LastModifiedById", "LastModifiedDate"])
    let found = try await access.records(key.sobject, ids: ids, fields: fields)
    for write in writes {
      let operation = write.operation
      guard let id = operation.recordID, let record = found[id] else {
        if operation.action == .upsert { try await lookForKeyed(write, access) }
        continue
      }
      guard Self.holds(record, operation), Self.isAfter(record, operation),
        try !isExplained(record, id, write)
      else { continue }
      guard let later = try state.laterWrite(than: operation, recordID: id),
        try !stands(later, in: record, against: operation)
      else {
        try await arrived(write, record, access)
        continue
      }
      try await putRight(write, later, record)
    }
  }

  /// Whether a record has the values of a request, and the sender of the request wrote it last.
  private static func holds(_ record: JSONObject, _ operation: OperationRow) -> Bool {
    guard let sender = operation.senderID,
      record["LastModifiedById"]?.string?.recordID18 == sender
    else { return false }
    return UnacknowledgedCreates.agreement(of: operation.payload, with: record) == .whole
      || ArrivedWrite.hasChanged(
        record, by: sender, from: operation.seen?.object, to: operation.payload)
  }

  /// Whether a record has the values of a newer write, and not those of an older one that arrived
  /// late.
  ///
  /// The values after the newer write may have been read after the older one had arrived. If the
  /// record has exactly the older one's values, such a reading shows nothing.
  private func stands(
    _ later: OperationRow, in record: JSONObject, against older: OperationRow
  ) throws -> Bool {
    if UnacknowledgedCreates.agreement(of: later.payload, with: record) == .whole { return true }
    guard UnacknowledgedCreates.agreement(of: older.payload, with: record) != .whole,
      let left = try state.left(by: later)
    else { return false }
    return UnacknowledgedCreates.agreement(of: left, with: record) == .whole
  }

  /// Whether something other than a late request accounts for a record's state.
  ///
  /// This can be another write of attache, by its values and its date, or the edit's own outcome if
  /// it was based on what the record already had. A request whose condition no longer holds cannot
  /// arrive, either.
  private func isExplained(
    _ record: JSONObject, _ recordID: String, _ write: LateWrite
  ) throws -> Bool {
    let (operation, writes) = (write.operation, try state.writes(to: recordID))
    let date = record[try modificationField(of: operation)]?.string
    if let last = writes.last, last.id > operation.id, try isDead(write, after: last) {
      return true
    }
    let noticed = try state.noticed(
      operation.editID,
      as: operation.expected.verdict.isUndone ? [.undone, .partlyUndone] : [.alreadyInOrg])
    if let noticed, let written = Self.written(record), written <= noticed { return true }
    let isWhole = { (sent: JSONObject) in
      UnacknowledgedCreates.agreement(of: sent, with: record) == .whole
    }
    return try writes.contains { done in
      let left = try state.left(by: done)
      // The values after a write may have been read after the request had arrived. If the record
      // has exactly the values of the request, a write of other values does not account for it.
      if isWhole(operation.payload), !isWhole(done.payload) { return false }
      guard let leftDate = try state.dateLeft(by: done) else {
        // The values after it were not read.
        return done.id == writes.last?.id && done.id > operation.id && isWhole(left ?? done.payload)
      }
      return date.map { ServerDate.isSame(leftDate, $0) } ?? true && isWhole(left ?? done.payload)
    }
  }

  /// Whether a later write changed the date on which the request is conditional, so that it can no
  /// longer take effect.
  private func isDead(_ write: LateWrite, after last: OperationRow) throws -> Bool {
    let operation = write.operation
    let isUndo = operation.expected.verdict.isUndone
    let mode = rules.first { $0.soup == write.edit.soup }?.mode
    guard operation.action == .update, operation.job == nil,
      isUndo || (options.conditionalUpdates && mode == .leaveIfChanged),
      let seen = operation.seen?[OperationRow.dateKey]?.string,
      let left = try state.dateLeft(by: last)
    else { return false }
    return ServerDate.isBefore(seen, left)
  }

  /// The records with the external ID of a write.
  private nonisolated(nonsending) func keyed(
    _ write: LateWrite, _ access: RecordReader
  ) async throws -> [JSONObject] {
    try await resolver(access).keyedRecords(
      of: pending(write.operation, access), write.operation.sobject) ?? []
  }

  /// Whether a record was last written when the request was sent, or later.
  private static func isAfter(_ record: JSONObject, _ operation: OperationRow) -> Bool {
    guard let date = written(record), let sent = operation.sentMilliseconds else { return false }
    return date >= sent - UnacknowledgedCreates.slackMilliseconds
  }

  /// When a record was last written, in ms of the org's time.
  private static func written(_ record: JSONObject) -> Int64? {
    record["LastModifiedDate"]?.string.flatMap { Dates.milliseconds(iso8601: $0) }
  }

  /// Records that a request arrived after which nothing else was written.
  private nonisolated(nonsending) func arrived(
    _ write: LateWrite, _ record: JSONObject, _ access: RecordReader
  ) async throws {
    var operation = write.operation
    // The upsert found a record that another user had created in the meantime.
    if operation.expected.verdict == .created,
      record["CreatedById"]?.string?.recordID18 != operation.senderID
    {
      operation.expected.verdict = .updated
    }
    try state.connection.transaction {
      try state.finish(operation, .done(recordID: operation.recordID))
      var settlement = try lateSettlement(of: operation, write.edit, recordID: operation.recordID)
      if settlement.verdict == .conflict { settlement.detail.showNow(record) }
      try report(&settlement, of: write.edit.id)
    }
    try await recordServerState(after: [([operation], access)])
  }

  /// Records what a late request did to an edit.
  ///
  /// If it needs review, a decision that this run would apply was made without knowing of it, and
  /// is asked again.
  private func report(_ settlement: inout Settlement, of edit: Int64) throws {
    if !settlement.verdict.isSettled, let pending = try state.pendingDecision(of: edit) {
      settlement.detail.decision = try state.refuseDecision(pending, run: run.id)
    }
    try state.settle(edit, run: run.id, settlement)
  }

  /// The outcome of an edit whose request arrived late.
  ///
  /// An edit that is still waiting for it is done. Any other edit needs review, because its request
  /// overwrote the org's values of that time, which may be other users' work or the values of a
  /// decision. An edit that is to be undone waits only for its undo.
  private func lateSettlement(
    of operation: OperationRow, _ edit: OpenEdit, recordID: String?
  ) throws -> Settlement {
    let verdict = try state.verdict(of: edit.id)
    var settlement = operation.expected
    let isBeforeUndo = edit.isToBeUndone && !operation.expected.verdict.isUndone
    if try verdict?.isWaiting == false || isBeforeUndo || isGivenUp(edit) {
      settlement.verdict = .conflict
    }
    settlement.detail.recordID = recordID
    settlement.detail.message = Self.lateWords(verdict)
    return settlement
  }

  /// Whether an operator or its own device has discarded an edit that is still unresolved.
  func isGivenUp(_ edit: OpenEdit) throws -> Bool {
    switch edit.decision?.decision {
    case .discard?, .server?: true
    case .undo?: false
    case .device?, .set?, .record?, .retry?, nil: try state.isTakenBack(edit.id)
    }
  }

  private static func lateWords(_ verdict: Verdict?) -> String {
    let words = "the request without an answer arrived late"
    guard let verdict, verdict != .unconfirmed else { return words }
    return words + "; the edit had been reported as \(verdict.rawValue)"
  }

  /// Sends a newer write again that a late request overwrote, and leaves the late request's edit
  /// for review, because the request may have overwritten other users' work as well.
  private nonisolated(nonsending) func putRight(
    _ write: LateWrite, _ later: OperationRow, _ record: JSONObject
  ) async throws {
    let operation = write.operation
    var settlement = try lateSettlement(of: operation, write.edit, recordID: operation.recordID)
    settlement.verdict = .conflict
    settlement.detail.showNow(later.payload)
    settlement.detail.otherEdits = operation.editID == later.editID ? [] : [later.editID]
    try state.connection.transaction {
      try state.finish(operation, .done(recordID: operation.recordID))
      try state.noteLeft([(operation, nil, nil)])
      try report(&settlement, of: operation.editID)
    }
    try await sendAgain(later, over: operation, record)
    // The second write of the same edit has given it an outcome.
    if try state.verdict(of: operation.editID)?.isSettled == true {
      try state.settle(operation.editID, run: run.id, settlement)
    }
  }

  /// Sends a newer write again after an older one arrived and overwrote it.
  ///
  /// Only values that the older one can have reverted are sent: if both had the same value, another
  /// write came since. If the org supports conditional requests, the write is sent only while the
  /// record is as it was read.
  private nonisolated(nonsending) func sendAgain(
    _ later: OperationRow, over operation: OperationRow, _ record: JSONObject
  ) async throws {
    guard let found = try state.openEdit(id: later.editID), let id = operation.recordID,
      let sync = rules.firstIndex(where: { $0.soup == found.edit.soup }),
      let access = try await sender(of: found.snapshotID)
    else {
      summary.warnings.append(
        "a request of an older edit of \(operation.sobject) \(operation.recordID ?? "") arrived late and overwrote a "
          + "newer one, which could not be sent again")
      return
    }
    var payload = JSONObject()
    var fields: [FieldDifference] = []
    for (name, value) in later.payload {
      guard let older = operation.payload[name], !FieldValue.isSame(older, value),
        !FieldValue.isSame(value, record[name])
      else { continue }
      payload[name] = value
      fields.append(
        FieldDifference(name: name, base: nil, device: value, server: record[name] ?? .null))
    }
    guard !payload.names.isEmpty else { return }
    var detail = OutcomeDetail.because(
      "a request of an older edit arrived late and overwrote this edit, which was sent again"
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
        condition: record["LastModifiedDate"]?.string, isStrict: options.conditionalUpdates,
        payload: payload,
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
    let absent = ids.filter { found[$0] == nil }
    if absent.isEmpty { return }
    let proofs = try await access.prove(key.sobject, absent: absent)
    let bin = try await access.withBin(
      key.sobject, ids: absent, fields: UndoRule.binDates + ["MasterRecordId"])
    for write in writes {
      guard let id = write.operation.recordID,
        proofs[id] == .deleted || bin[id].map(Self.isDeleted) == true
      else { continue }
      if let until = try deletedBefore(write.operation) {
        // attache deleted it once; only a later date shows that it was restored and deleted again.
        let dates = UndoRule.binDates.compactMap { bin[id]?[$0]?.string }
        guard let last = dates.compactMap({ Dates.milliseconds(iso8601: $0) }).max(), last > until
        else { continue }
      }
      try enterDeleted(write, id, by: access.session.serverDate ?? run.now)
    }
  }

  /// Whether a row of the recycle bin was deleted rather than merged.
  private static func isDeleted(_ row: JSONObject) -> Bool {
    row["IsDeleted"]?.bool == true && row["MasterRecordId"]?.string == nil
  }

  /// The latest time, in ms of the org's time, at which the record of a deletion was known to be
  /// deleted; nil if it was not.
  private func deletedBefore(_ operation: OperationRow) throws -> Int64? {
    guard let id = operation.recordID else { return nil }
    if let last = try state.lastDeletion(of: id) { return last }
    return try state.noticed(
      operation.editID,
      as: operation.expected.verdict.isUndone ? [.undone] : [.alreadyInOrg, .deleted])
  }

  private func enterDeleted(_ write: LateWrite, _ id: String, by time: Int64) throws {
    let newer = try state.laterWrite(than: write.operation, recordID: id)
    try state.connection.transaction {
      var settlement = try lateSettlement(of: write.operation, write.edit, recordID: id)
      try state.finish(write.operation, .done(recordID: id))
      try state.noteGone(write.operation, by: time)
      if let newer, newer.editID != write.edit.id {
        var detail = newer.expected.detail
        detail.recordID = id
        detail.otherEdits = [write.edit.id]
        detail.message = "the deletion of an older edit arrived late, after this edit was written"
        settlement = Settlement(.deletedOnServer, detail)
        return try report(&settlement, of: newer.editID)
      }
      if settlement.verdict != .conflict {
        settlement.detail.message =
          "it is deleted; the request without an answer may have arrived late"
      }
      try report(&settlement, of: write.edit.id)
    }
  }

  /// Looks for the record of a create that was considered lost, or was matched to another record: a
  /// record that has all of its values and that nothing else accounts for.
  private nonisolated(nonsending) func lookForCreated(
    _ writes: [LateWrite], _ key: LateKey, _ access: RecordReader
  ) async throws {
    guard !writes.isEmpty else { return }
    var resolver = resolver(access)
    // A record that a create with an unknown outcome may have created is left to that create.
    resolver.rivals = try state.unfinishedOperations().filter {
      $0.action == .create && $0.sobject == key.sobject
    }.map { try pending($0, access) }
    let arrived = try await resolver.arrived(
      writes.map { try pending($0.operation, access) }, of: key.sobject
    ) { try state.doneRecordID(of: writes[$0].edit.id) != nil }
    for case (let write, let made?) in zip(writes, arrived) { try enter(made, of: write) }
  }

  /// Looks for the record of a write with a unique value: the record with this value, if nothing
  /// else accounts for it.
  private nonisolated(nonsending) func lookForKeyed(
    _ write: LateWrite, _ access: RecordReader
  ) async throws {
    let records = try await keyed(write, access)
    guard let record = records.first(where: { $0["IsDeleted"]?.bool != true }),
      let made = UnacknowledgedCreates.Made(record, sent: write.operation.payload),
      // A record created since by another edit of the row has the same identity.
      try !state.isClaimed(recordID: made.id)
    else { return }
    if write.operation.action == .upsert {
      // Other users can also create a record with an external ID.
      let times = resolver(access).unacknowledged(try pending(write.operation, access))
      guard made.creatorID == write.operation.senderID,
        UnacknowledgedCreates.isInTime(of: times, record)
      else { return }
    }
    try enter(made, of: write)
  }

  private func enter(_ made: UnacknowledgedCreates.Made, of write: LateWrite) throws {
    let verdict = try state.verdict(of: write.edit.id)
    let existing = try state.doneRecordID(of: write.edit.id) ?? write.edit.creation?.recordID
    // A request creates one record, so another match does not replace the duplicate that was
    // reported.
    if write.operation.state == .done, let creation = write.edit.creation, creation.isTwice,
      creation.deviceRecordID != made.id
    {
      return
    }
    // It already existed when an operator named another one.
    if let existing, existing != made.id,
      try state.hasShown(made.id, asCandidateOf: write.edit.id)
    {
      return
    }
    try state.connection.transaction {
      var settlement = try lateSettlement(of: write.operation, write.edit, recordID: made.id)
      // An existing match is kept.
      if write.operation.state == .dropped {
        try state.finish(write.operation, .done(recordID: made.id))
      }
      if let existing, existing != made.id {
        var detail = write.operation.expected.detail
        detail.recordID = existing
        detail.otherID = made.id
        detail.message = Self.lateWords(verdict)
        settlement = Settlement(.duplicateCreated, detail)
        // Later edits of its device also report both records, until one of them is chosen.
        if let creation = write.edit.creation {
          try state.noteSecond(made.id, beside: existing, of: creation.id)
        }
      } else if settlement.verdict == .conflict {
        settlement.detail.showNow(made.record)
      }
      try report(&settlement, of: write.edit.id)
    }
  }
}

extension OutcomeDetail {
  /// Adds the org's current values to the fields, for the operator's decision.
  mutating func showNow(_ record: JSONObject) {
    for index in fields.indices {
      guard let value = record[fields[index].name] else { continue }
      fields[index].server = value
    }
  }
}
