import JSON
import Ledger
import MobileSync
import Salesforce
import System

/// The watch: requests that were sent without an answer and may still arrive.
///
/// A request is watched for its time whatever the outcome of its edit is: resolved, decided,
/// replaced, undone, matched to another record, or sent again. What looks like its effect resolves
/// its edit, but a user can have done the same, and the request may still arrive. If it arrives while
/// its edit still waits, the edit is done. If the edit has an outcome by then, it is open as a
/// conflict or as `duplicate created` until an operator decides: no later attempt or return closes it
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
/// - If its sender wrote the request's values at its time, it most likely arrived then. After that,
///   only a value that came back is its effect.
///
/// The last known values are those that runs and writes of attache read after the request was sent
/// (`LedgerDatabase.lastKnown`). Another user's change of other fields does not count as an arrival,
/// nor does a value that has been there since. Each effect is reported once.
///
/// A request that arrived over a newer write of attache is taken back: its fields get the values that
/// stood there last, whether attache or a user of the org had written them (`putRight`).
extension Reconciler {
  /// Reads the records of watched requests, and records the effect of those that arrived.
  nonisolated(nonsending) func settleLate() async throws {
    var (late, children): ([Write], [Write]) = ([], [])
    for operation in try state.operations(.late(since: state.watchStart(run))) {
      guard let edit = try state.openEdit(id: operation.editID) else { continue }
      var write = Write(edit: edit, operation: operation)
      if operation.action == .upsert {
        write.operation.recordID =
          try state.doneRecordID(of: operation.editID)
          ?? UnacknowledgedCreates.id(ofSeen: operation.seen)
      }
      if parents(of: operation, edit).contains(where: { $0.parent.recordID18 == nil }) {
        children.append(write)
      } else {
        late.append(write)
      }
    }
    try await settle(late: late)
    // A request that created a second parent created its children as well.
    try await settle(late: children)
  }

  private nonisolated(nonsending) func settle(late writes: [Write]) async throws {
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
    _ writes: [Write], _ key: DoubtKey, _ access: RecordReader
  ) async throws {
    let known = try await records(of: writes, key, access)
    var others: [Write] = []
    for write in writes where write.operation.action == .upsert {
      others += try await holders(of: write, known, access)
    }
    let held = try await records(of: others, key, access)
    let toRecord = Dictionary(grouping: writes, by: \.operation.recordID)
    var reported: Set<Int64> = []
    // A record that an upsert created shows more than the one that was known before.
    for (write, record) in others.map({ ($0, held[$0.operation.recordID ?? ""]) })
      + writes.map({ ($0, known[$0.operation.recordID ?? ""]) })
    {
      guard let record else { continue }
      // Of several requests of an edit, one accounts for what is seen.
      let rivals = toRecord[write.operation.recordID, default: []].filter {
        $0.edit.id != write.edit.id
      }
      guard !reported.contains(write.edit.id),
        try await hasArrived(write, record, besides: rivals, access)
      else { continue }
      reported.insert(write.edit.id)
    }
    try state.connection.transaction {
      for write in writes + others {
        guard let id = write.operation.recordID else { continue }
        if let record = known[id] ?? held[id] {
          try noteSight(of: record, for: write.operation)
        } else if write.operation.action == .undelete {
          try state.noteSight(of: [:], id, at: nil, for: write.operation)
        }
      }
    }
  }

  /// The records that requests were sent to, with the fields that they and other writes of attache
  /// sent.
  nonisolated(nonsending) func records(
    of writes: [Write], _ key: DoubtKey, _ access: RecordReader
  ) async throws -> [String: JSONObject] {
    let ids = writes.compactMap(\.operation.recordID)
    if ids.isEmpty { return [:] }
    // Whether another write of attache accounts for the record's state.
    let others = try Set(ids).flatMap {
      try state.operations(.to(recordID: $0)).flatMap(\.payload.names)
    }
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
    of write: Write, _ known: [String: JSONObject], _ access: RecordReader
  ) async throws -> [Write] {
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
  ///
  /// `rivals` are the watched requests of other edits to the record.
  private nonisolated(nonsending) func hasArrived(
    _ write: Write, _ record: JSONObject, besides rivals: [Write], _ access: RecordReader
  ) async throws -> Bool {
    let operation = write.operation
    guard let id = operation.recordID else { return false }
    let writes = try state.operations(.to(recordID: id)).map(resolved)
    let known = try state.lastKnown(id, before: operation, writes)
    if try isAsFound(operation, record, known) { return false }
    let evidence = Self.evidence(of: operation, in: record, since: known)
    let isSenders = evidence == .applied
    var taken: [String] = []
    if case .overwritten(let fields) = evidence {
      let noticed = try rivals.map(\.operation).filter { try isNoticed($0, record) }
      taken = fields.filter { field in
        !noticed.contains { FieldValue.isSame($0.payload[field], record[field]) }
      }
    }
    let isCreated = try isCreated(record, by: write, access)
    guard try isSenders || ((isCreated || !taken.isEmpty) && isResolved(write)),
      try isCreated
        || (isAfter(record, operation, known) && !isExplained(record, writes, write, known))
    else { return false }
    let replaced = isSenders ? try replaced(by: operation, in: record, writes) : [:]
    if !replaced.isEmpty {
      try await putRight(write, replaced, writes, record)
    } else {
      let isCertain = isSenders || isCreated
      try await arrived(write, record, access, perhapsIn: isCertain ? [] : taken)
    }
    return true
  }

  /// Whether a request's effect was found at its time, and the record shows no other one since.
  private func isAsFound(
    _ operation: OperationRow, _ record: JSONObject, _ known: JSONObject
  ) throws -> Bool {
    guard operation.state == .done, let id = operation.recordID else { return false }
    if operation.action == .undelete {
      return try state.sight(of: id, for: operation)?.isEmpty != true
    }
    if let written = operation.serverDate.flatMap({ Dates.milliseconds(iso8601: $0) }) {
      let first = operation.sentMilliseconds ?? 0
      let last = max(first, operation.lastSentMilliseconds ?? first)
      guard operation.left != nil, written >= first - UnacknowledgedCreates.slackMilliseconds,
        written <= last + OperationRow.writeMilliseconds
      else { return false }
    }
    return WriteEvidence.taken(by: record, since: known, of: operation.payload).isEmpty
  }

  /// Records what this run saw of a record of a request.
  func noteSight(of record: JSONObject, for operation: OperationRow) throws {
    guard let id = operation.recordID else { return }
    let date = record[try modificationField(of: operation)]?.string
    try state.noteSight(of: record, id, at: date, for: operation)
  }

  /// Whether an edit no longer waits to be compared with the org and sent.
  private func isResolved(_ write: Write) throws -> Bool {
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

  /// Whether something other than a late request accounts for a record's state.
  ///
  /// This can be another write of attache, by its values and its date, or the edit's own outcome if
  /// it was based on what the record already had. A request whose condition no longer holds cannot
  /// arrive, either.
  private func isExplained(
    _ record: JSONObject, _ writes: [OperationRow], _ write: Write, _ known: JSONObject
  ) throws -> Bool {
    let operation = write.operation
    let date = record[try modificationField(of: operation)]?.string
    if isDead(write, since: known) { return true }
    if try isNoticed(operation, record) { return true }
    let sight = try operation.recordID.flatMap { try state.sight(of: $0, for: operation) }
    let isUnchanged = Self.isSame(sight?[OperationRow.dateKey]?.string, date)
    let isWhole = { (sent: JSONObject) in WriteEvidence.isWhole(sent, in: record) }
    return writes.contains { done in
      let left = done.leftOfSent
      // The values after a write may have been read after the request had arrived. If the record
      // has exactly the values of the request, a write of other values does not account for it.
      if isWhole(operation.payload), !isWhole(done.payload) { return false }
      guard let leftDate = done.serverDate else {
        // The values after it were not read.
        return done.id == writes.last?.id && done.id >= operation.id
          && isWhole(left ?? done.payload) && (done.id > operation.id || isUnchanged)
      }
      return Self.isSame(leftDate, date) && isWhole(left ?? done.payload)
    }
  }

  /// Whether a run noticed that the org has the values of a request, and the record has not changed
  /// since.
  private func isNoticed(_ operation: OperationRow, _ record: JSONObject) throws -> Bool {
    let noticed = try state.noticed(
      operation.editID,
      as: operation.purpose == .undo ? [.undone, .partlyUndone] : [.alreadyInOrg])
    guard let noticed, let written = Self.written(record), written <= noticed.time else {
      return false
    }
    if noticed.run == run.id { return true }
    // What an earlier run noticed has the date that it saw at its end.
    let sight = try operation.recordID.flatMap { try state.sight(of: $0, for: operation) }
    let date = record[try modificationField(of: operation)]?.string
    return Self.isSame(sight?[OperationRow.dateKey]?.string, date)
  }

  /// Whether the date on which a request is conditional had passed in its last known state, so that
  /// it can no longer take effect.
  private func isDead(_ write: Write, since known: JSONObject) -> Bool {
    let operation = write.operation
    let mode = rules.first { $0.soup == write.edit.soup }?.mode
    guard operation.action == .update, operation.job == nil,
      operation.purpose == .undo || (options.conditionalUpdates && mode == .leaveIfChanged),
      let seen = operation.dateBefore,
      let date = known[OperationRow.dateKey]?.string
    else { return false }
    return ServerDate.isBefore(seen, date)
  }

  /// The records with the external ID of a write.
  nonisolated(nonsending) func keyed(
    _ write: Write, _ access: RecordReader
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

  /// Whether two dates of a record are the same, as far as both are known.
  private static func isSame(_ one: String?, _ other: String?) -> Bool {
    guard let one, let other else { return true }
    return ServerDate.isSame(one, other)
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
    _ write: Write, _ record: JSONObject, _ access: RecordReader,
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
      if fields.isEmpty, let written = Self.written(record) {
        try state.note(.lastAttempt(written), of: [operation])
      }
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
    if !settlement.verdict.isSettled, let pending = try state.openEdit(id: edit)?.decision {
      settlement.detail.decision = try state.refuseDecision(pending, run: run.id)
    }
    try settle(edit, settlement)
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
