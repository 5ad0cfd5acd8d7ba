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
///
/// One rule decides whether a request arrived:
/// - It is looked for at the address that it was sent to: its record; for an upsert, its known
///   record and every record that has its key now, even if another user created that; for a create,
///   the records that its sender created in its time.
/// - It arrived if the org shows its effect there and nothing else accounts for it: no write of
///   attache, no earlier verdict, and no condition that no longer holds. The effect is a record with
///   its values that its sender wrote last, a sent field that changed to the request's value since
///   its value was last known, or a new record of its sender.
/// - Others' later changes hide nothing: an effect counts field by field. But if another user wrote
///   last, that user may have entered the same values. Then the request *may* have arrived, and its
///   edit is open, but nothing is sent again. An edit that is still to be sent is compared with the
///   org anyway.
///
/// The last known values are those that runs and writes of attache read after the request was sent
/// (`LedgerDatabase.lastKnown`). Another user's change of other fields does not count as an arrival,
/// nor does a value that has been there since. Each request is reported once.
extension Reconciler {
  /// Reads the records of watched requests, and records the effect of those that arrived.
  ///
  /// A newer write that a request overwrote is sent again, so that the newer edit stands.
  nonisolated(nonsending) func settleLate() async throws {
    var (late, children): ([DoubtfulWrite], [DoubtfulWrite]) = ([], [])
    for operation in try state.lateOperations(since: state.watchStart(run)) {
      guard let found = try state.openEdit(id: operation.editID) else { continue }
      var write = DoubtfulWrite(
        operation: operation, edit: found.edit, snapshotID: found.snapshotID)
      if operation.action == .upsert {
        write.operation.recordID =
          try state.doneRecordID(of: operation.editID)
          ?? UnacknowledgedCreates.id(ofSeen: operation.seen)
      }
      if parents(of: operation, found.edit).contains(where: { $0.parent.recordID18 == nil }) {
        children.append(write)
      } else {
        late.append(write)
      }
    }
    try await settle(late: late)
    // A request that created a second parent created its children as well.
    try await settle(late: children)
  }

  private nonisolated(nonsending) func settle(late writes: [DoubtfulWrite]) async throws {
    let late = try writes.map { write in
      var write = write
      write.operation = try resolved(write.operation, isWatched: true)
      return write
    }
    for (key, group) in try await askable(late) {
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

  // MARK: updates

  private nonisolated(nonsending) func look(
    _ writes: [DoubtfulWrite], _ key: DoubtKey, _ access: RecordReader
  ) async throws {
    let known = try await records(of: writes, key, access)
    var others: [DoubtfulWrite] = []
    for write in writes where write.operation.action == .upsert {
      others += try await holders(of: write, known, access)
    }
    let held = try await records(of: others, key, access)
    var reported: Set<Int64> = []
    var unchanged: [(record: JSONObject, operation: OperationRow)] = []
    // A record that an upsert created shows more than the one that was known before.
    for (write, record) in others.map({ ($0, held[$0.operation.recordID ?? ""]) })
      + writes.map({ ($0, known[$0.operation.recordID ?? ""]) })
    {
      guard let record else { continue }
      // Of several requests of an edit, one accounts for what is seen.
      var isNew = !reported.contains(write.edit.id)
      if isNew { isNew = try await hasArrived(write, record, access) }
      if isNew {
        reported.insert(write.edit.id)
      } else {
        unchanged.append((record, write.operation))
      }
    }
    try state.connection.transaction {
      for (record, operation) in unchanged { try noteSight(of: record, for: operation) }
    }
  }

  /// The records that requests were sent to, with the fields that they and other writes of attache
  /// sent.
  nonisolated(nonsending) func records(
    of writes: [DoubtfulWrite], _ key: DoubtKey, _ access: RecordReader
  ) async throws -> [String: JSONObject] {
    let ids = writes.compactMap(\.operation.recordID)
    if ids.isEmpty { return [:] }
    // Whether another write of attache accounts for the record's state.
    let others = try Set(ids).flatMap { try state.writes(to: $0).flatMap(\.payload.names) }
    var audit = try writes.map { try modificationField(of: $0.operation) }
    audit += ["CreatedById", "CreatedDate", "LastModifiedById", "LastModifiedDate"]
    audit += writes.compactMap(\.operation.externalField)
    let fields = UnacknowledgedCreates.readable(
      writes.flatMap(\.operation.payload.names) + others,
      try await access.describe(key.sobject), and: audit)
    return try await access.records(key.sobject, ids: ids, fields: fields)
  }

  /// The upsert for each record, other than its known one, that has its key now.
  private nonisolated(nonsending) func holders(
    of write: DoubtfulWrite, _ known: [String: JSONObject], _ access: RecordReader
  ) async throws -> [DoubtfulWrite] {
    if let id = write.operation.recordID, let field = write.operation.externalField,
      let held = known[id]?[field]?.string, held == write.operation.externalValue
    {
      return []
    }
    return try await keyed(write, access).filter { $0["IsDeleted"]?.bool != true }
      .compactMap(UnacknowledgedCreates.id(of:))
      .filter { $0 != write.operation.recordID }
      .map { id in
        var other = write
        other.operation.recordID = id
        return other
      }
  }

  /// Whether a request has arrived at a record; its effect is then recorded.
  private nonisolated(nonsending) func hasArrived(
    _ write: DoubtfulWrite, _ record: JSONObject, _ access: RecordReader
  ) async throws -> Bool {
    let operation = write.operation
    guard let id = operation.recordID else { return false }
    let writes = try state.writes(to: id).map(resolved)
    let known = try state.lastKnown(id, before: operation, writes)
    let evidence = Self.evidence(of: operation, in: record, since: known)
    let isSenders = evidence == .applied
    var taken: [String] = []
    if case .overwritten(let fields) = evidence { taken = fields }
    let isCreated = try isCreated(record, by: write, access)
    guard try isSenders || ((isCreated || !taken.isEmpty) && isResolved(write)),
      try isCreated
        || (isAfter(record, operation, known) && !isExplained(record, writes, write, known))
    else { return false }
    if isSenders, let later = writes.last, later.id > operation.id,
      !Self.stands(later, in: record, against: operation)
    {
      try await putRight(write, later, record)
    } else {
      let isCertain = isSenders || isCreated
      try await arrived(write, record, access, perhapsIn: isCertain ? [] : taken)
    }
    return true
  }

  /// Records what this run saw of a record that a request has not changed.
  func noteSight(of record: JSONObject, for operation: OperationRow) throws {
    guard let id = operation.recordID else { return }
    let date = record[try modificationField(of: operation)]?.string
    try state.noteSight(of: record, id, at: date, for: operation)
  }

  /// Whether an edit no longer waits to be compared with the org and sent.
  private func isResolved(_ write: DoubtfulWrite) throws -> Bool {
    let verdict = try state.verdict(of: write.edit.id)
    return verdict?.isWaiting == false && !redone.contains(write.edit.id)
  }

  /// What a record shows about a request.
  static func evidence(
    of operation: OperationRow, in record: JSONObject, since known: JSONObject? = nil
  ) -> WriteEvidence {
    WriteEvidence(
      of: operation.payload, by: operation.senderID, before: operation.seen?.object, in: record,
      since: known)
  }

  /// Whether a record has the values of a newer write, and not those of an older one that arrived
  /// late.
  ///
  /// The values after the newer write may have been read after the older one had arrived. If the
  /// record has exactly the older one's values, such a reading shows nothing.
  private static func stands(
    _ later: OperationRow, in record: JSONObject, against older: OperationRow
  ) -> Bool {
    if WriteEvidence.isWhole(later.payload, in: record) { return true }
    guard !WriteEvidence.isWhole(older.payload, in: record), let left = later.leftOfSent else {
      return false
    }
    return WriteEvidence.isWhole(left, in: record)
  }

  /// Whether something other than a late request accounts for a record's state.
  ///
  /// This can be another write of attache, by its values and its date, or the edit's own outcome if
  /// it was based on what the record already had. A request whose condition no longer holds cannot
  /// arrive, either.
  private func isExplained(
    _ record: JSONObject, _ writes: [OperationRow], _ write: DoubtfulWrite, _ known: JSONObject
  ) throws -> Bool {
    let operation = write.operation
    let date = record[try modificationField(of: operation)]?.string
    if isDead(write, since: known) { return true }
    let noticed = try state.noticed(
      operation.editID,
      as: operation.purpose == .undo ? [.undone, .partlyUndone] : [.alreadyInOrg])
    if let noticed, let written = Self.written(record), written <= noticed { return true }
    let isWhole = { (sent: JSONObject) in WriteEvidence.isWhole(sent, in: record) }
    return writes.contains { done in
      let left = done.leftOfSent
      // The values after a write may have been read after the request had arrived. If the record
      // has exactly the values of the request, a write of other values does not account for it.
      if isWhole(operation.payload), !isWhole(done.payload) { return false }
      guard let leftDate = done.serverDate else {
        // The values after it were not read.
        return done.id == writes.last?.id && done.id > operation.id && isWhole(left ?? done.payload)
      }
      return date.map { ServerDate.isSame(leftDate, $0) } ?? true && isWhole(left ?? done.payload)
    }
  }

  /// Whether the date on which a request is conditional had passed in its last known state, so that
  /// it can no longer take effect.
  private func isDead(_ write: DoubtfulWrite, since known: JSONObject) -> Bool {
    let operation = write.operation
    let mode = rules.first { $0.soup == write.edit.soup }?.mode
    guard operation.action == .update, operation.job == nil,
      operation.purpose == .undo || (options.conditionalUpdates && mode == .leaveIfChanged),
      let seen = operation.seen?[OperationRow.dateKey]?.string,
      let date = known[OperationRow.dateKey]?.string
    else { return false }
    return ServerDate.isBefore(seen, date)
  }

  /// The records with the external ID of a write.
  nonisolated(nonsending) func keyed(
    _ write: DoubtfulWrite, _ access: RecordReader
  ) async throws -> [JSONObject] {
    try await resolver(access).keyedRecords(
      of: pending(write.operation, access), write.operation.sobject) ?? []
  }

  /// Whether a record was last written when the request was sent, or later: by its date or, if the
  /// org's clock was set back, because it has another date than when it was last known.
  private func isAfter(
    _ record: JSONObject, _ operation: OperationRow, _ known: JSONObject
  ) throws -> Bool {
    guard let date = Self.written(record), let sent = operation.sentMilliseconds else {
      return false
    }
    if date >= sent - UnacknowledgedCreates.slackMilliseconds { return true }
    guard let last = known[OperationRow.dateKey]?.string,
      let current = record[try modificationField(of: operation)]?.string
    else { return false }
    return !ServerDate.isSame(last, current)
  }

  /// When a record was last written, in ms of the org's time.
  private static func written(_ record: JSONObject) -> Int64? {
    record["LastModifiedDate"]?.string.flatMap { Dates.milliseconds(iso8601: $0) }
  }

  /// Records that a request arrived, or that it may have arrived in some fields.
  ///
  /// A record next to the one that the edit has is its duplicate, also if the request only changed
  /// it.
  private nonisolated(nonsending) func arrived(
    _ write: DoubtfulWrite, _ record: JSONObject, _ access: RecordReader,
    perhapsIn fields: [String] = []
  ) async throws {
    var operation = write.operation
    let words = try Self.lateWords(state.verdict(of: write.edit.id), perhapsIn: fields)
    if let made = UnacknowledgedCreates.Made(record, sent: operation.payload),
      let existing = try existing(write), existing != made.id,
      try !state.isClaimed(recordID: made.id)
    {
      try enter(made, of: write, words)
      return try await recordServerState(after: [([operation], access)])
    }
    // The upsert found a record that another user had created in the meantime.
    if operation.expected.verdict == .created,
      record["CreatedById"]?.string?.recordID18 != operation.senderID
    {
      operation.expected.verdict = .updated
    }
    let overwritten = try overwritten(by: operation)
    try state.connection.transaction {
      try state.finish(operation, .done(recordID: operation.recordID))
      var settlement = try lateSettlement(of: operation, write.edit, recordID: operation.recordID)
      settlement.detail.message = words
      if settlement.verdict == .conflict { settlement.detail.showNow(record) }
      try tell(overwritten, by: operation, write.edit, &settlement)
      try report(&settlement, of: write.edit.id)
    }
    try await recordServerState(after: [([operation], access)])
  }

  /// Records what a late request did to an edit.
  ///
  /// If it needs review, a decision that this run would apply was made without knowing of it, and
  /// is asked again.
  func report(_ settlement: inout Settlement, of edit: Int64) throws {
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
  func lateSettlement(
    of operation: OperationRow, _ edit: OpenEdit, recordID: String?
  ) throws -> Settlement {
    let verdict = try state.verdict(of: edit.id)
    var settlement = operation.expected
    let isBeforeUndo = edit.isToBeUndone && operation.purpose == .send
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

  static func lateWords(_ verdict: Verdict?, perhapsIn fields: [String] = []) -> String {
    var words = "the request without an answer arrived late"
    if !fields.isEmpty {
      words =
        "the request without an answer may have arrived late, or another user entered its values: "
        + "since the record was last read, they came back in \(fields.joined(separator: ", "))"
    }
    guard let verdict, verdict != .unconfirmed else { return words }
    return words + "; the edit had been reported as \(verdict.rawValue)"
  }

  /// Sends a newer write again that a late request overwrote, and leaves the late request's edit
  /// for review, because the request may have overwritten other users' work as well.
  private nonisolated(nonsending) func putRight(
    _ write: DoubtfulWrite, _ later: OperationRow, _ record: JSONObject
  ) async throws {
    let operation = write.operation
    var settlement = try lateSettlement(of: operation, write.edit, recordID: operation.recordID)
    settlement.verdict = .conflict
    settlement.detail.showNow(later.payload)
    settlement.detail.otherEdits = operation.editID == later.editID ? [] : [later.editID]
    let overwritten = try overwritten(by: operation, besides: later.payload)
    try state.connection.transaction {
      try state.finish(operation, .done(recordID: operation.recordID))
      try tell(overwritten, by: operation, write.edit, &settlement)
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
        operation: OperationRow(
          editID: later.editID, action: .update, purpose: later.purpose, sobject: later.sobject,
          recordID: id, payload: payload,
          expected: Settlement(
            later.purpose == .undo ? later.expected.verdict : .updated, detail),
          modificationField: rules[sync].target.modificationDateFieldName),
        condition: record["LastModifiedDate"]?.string, isStrict: options.conditionalUpdates)
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
