import JSON
import Salesforce
import System

/// Runs a sync up on a live store.
package enum SyncUpTask {
  /// Sends the local changes of a soup: in collections, composites, or one by one.
  package nonisolated(nonsending) static func run(
    _ target: SyncUpTarget, _ context: SyncContext
  ) async throws(SyncError) {
    try await SyncUpRun(target, custom: nil, context).run()
  }
}

/// One run of a sync up.
///
/// Changes are read one by one in the order of their rows, decided, and gathered into batches. Each
/// answer of the org is in the store before the next request is made.
final class SyncUpRun {
  let target: SyncUpTarget
  let custom: (any CustomSyncUpTarget)?
  let context: SyncContext
  /// The soup of the records.
  let soupName: String
  /// The sObject type where it is the same for all, whatever the elements say.
  let objectType: String?
  let elements: UpElements
  var bodies: UpBodies
  /// What is to go with the next request.
  private var batch: [UpSend] = []
  private var idsOfBatch: Set<String> = []
  /// What was settled without a request since the last commit.
  private var settled: [UpSettled] = []
  /// Rows that wait until it is known what an earlier request did, and why.
  private var held: [Int64: String] = [:]
  /// Records that were dealt with and not counted yet.
  private var steps = 0
  private var done = 0
  /// Records that were sent, and whose dates are to be read.
  var unread: [SentRecord] = []

  /// The org's clock at its last answer to a write.
  var answered: Int64?
  /// The ids of records that this run has made lately, and the org's clock when it was known.
  var made: [(id: String, known: Int64)] = []
  /// The requests of earlier runs of which it is still not known what they did.
  var heldMarks: [SentMark] = []

  /// A record that was sent.
  struct SentRecord: Sendable {
    var soupEntryID: Int64
    var objectType: String
    var id: String
    /// The org's clock when the answer was there: a later modification is somebody else's.
    var answered: Int64?
  }

  /// A run over the soup of the sync's definition, or over another one.
  init(
    _ target: SyncUpTarget, custom: (any CustomSyncUpTarget)?, _ context: SyncContext,
    soupName: String? = nil, objectType: String? = nil
  ) {
    self.target = target
    self.custom = custom
    self.context = context
    self.soupName = soupName ?? context.soupName
    self.objectType = objectType
    elements = UpElements(store: context.store, soupName: self.soupName, target: target)
    bodies = UpBodies(target, context.options)
  }

  nonisolated(nonsending) func run() async throws(SyncError) {
    held = try await settleDoubts()
    let ids = try elements.dirtyIDs()
    try context.update { $0.totalSize = ids.count }
    // Only what leaves changed records alone has to ask the org before it sends.
    let isCareful = context.options.mergeMode == .leaveIfChanged
    let window = isCareful ? Session.retrieveLimit : max(1, ids.count)
    for start in stride(from: 0, to: ids.count, by: window) {
      let part = Array(ids[start..<min(start + window, ids.count)])
      let server = try await serverStates(of: part)
      for id in part {
        try context.checkStop()
        try await take(id, server)
      }
    }
    try await flush()
    try await readDates()
  }

  // MARK: one record

  private nonisolated(nonsending) func take(
    _ id: Int64, _ server: [Int64: ServerState]
  ) async throws(SyncError) {
    steps += 1
    // Removed by the app since the run began.
    guard let record = try elements.read(id) else { return }
    let operation = record.operation
    if operation == .none, try elements.isFoundDirty(id) {
      settle(record, .update, .failed(code: "", message: UpElements.unclear, error: nil))
      return
    }
    if let words = held[id] {
      settle(record, operation, .inDoubt(words))
      return
    }
    let decision = MergeDecision.decide(
      operation, local: record.modificationDate, server: server[id] ?? .unknown,
      mode: context.options.mergeMode)
    switch decision {
    case .nothing: break
    case .dropLocally, .alreadyDeleted: settle(record, operation, .removed)
    case .leave(let reason): settle(record, operation, .left(reason))
    case .recreate: try await add(bodies.send(record, .create, isRecreated: true))
    case .send:
      if operation != .create, record.serverID == nil {
        settle(record, operation, UpSettled.End.noID(target.kind))
        break
      }
      var send = try bodies.send(record, operation)
      send.unmodifiedSince = condition(operation, server[id])
      try await add(send)
    }
    if settled.count >= Session.collectionLimit { try await flush() }
  }

  /// The moment that closes the window between check and write, where the request can bear it.
  private func condition(_ operation: SyncOperation, _ server: ServerState?) -> Int64? {
    guard target.kind == .batch || target.kind == .single, operation == .update,
      context.options.mergeMode == .leaveIfChanged,
      target.modificationDateFieldName == "LastModifiedDate", case .alive(let date?)? = server
    else { return nil }
    return date.milliseconds
  }

  private func settle(_ record: UpRecord, _ operation: SyncOperation, _ end: UpSettled.End) {
    settled.append(UpSettled(record: record, operation: operation, end: end))
  }

  private nonisolated(nonsending) func add(_ send: UpSend) async throws(SyncError) {
    // An org refuses two changes of one record in one request; and of a create without an answer and
    // an edit of what it made, the edit is the later.
    let ids = [send.record.serverID, send.record.externalID?.text].compactMap(\.self)
    if !idsOfBatch.isDisjoint(with: ids) { try await flush() }
    batch.append(send)
    idsOfBatch.formUnion(ids)
    if batch.count >= max(1, target.maxBatchSize) { try await flush() }
  }

  // MARK: one batch

  private nonisolated(nonsending) func flush() async throws(SyncError) {
    let sends = batch
    batch = []
    idsOfBatch = []
    if !settled.isEmpty {
      try commit(settled)
      settled = []
    }
    var missing: [Missing] = []
    for request in UpRequest.requests(sends, target) {
      missing += try await exchange(request)
    }
    try await settle(missing)
    try advance()
    if unread.count >= Session.collectionLimit { try await readDates() }
  }

  /// Tells of each record that was dealt with; the end of the run tells of the last one.
  private func advance() throws(SyncError) {
    while steps > 0 {
      steps -= 1
      done += 1
      if done < context.state.totalSize {
        try context.update { $0.progress = 100 * self.done / $0.totalSize }
      }
    }
  }

  /// An update of a record that the org says is not there.
  struct Missing: Sendable {
    var send: UpSend
    var refusal: RowRefusal
  }

  /// Sends a request and enters what the org said; answers the updates whose records are not there.
  private nonisolated(nonsending) func exchange(
    _ request: UpRequest
  ) async throws(SyncError) -> [Missing] {
    try context.checkStop()
    let (answers, mark) = try await carry(request)
    let doubtful = Set(
      zip(request.sends, answers).compactMap { send, answer -> Int64? in
        if case .unknown = answer { send.record.soupEntryID } else { nil }
      })
    var missing: [Missing] = []
    var entered: [UpSettled] = []
    for (send, answer) in zip(request.sends, answers) {
      if case .absent(let refusal) = answer, send.action == .update, !send.isRecreated,
        context.options.mergeMode == .overwrite
      {
        missing.append(Missing(send: send, refusal: refusal))
      } else {
        entered.append(
          UpSettled(
            record: send.record, operation: send.record.operation,
            end: UpSettled.End(answer, action: send.action, kind: target.kind),
            isRecreated: send.isRecreated))
      }
    }
    try commit(entered) { try self.unmark(mark, but: doubtful) }
    return missing
  }

  /// Sends a request, once its mark is in the store; the mark stays where no answer came.
  private nonisolated(nonsending) func carry(
    _ request: UpRequest
  ) async throws(SyncError) -> ([RowAnswer], SentMark?) {
    if let custom { return ([try await carry(request.sends[0], custom)], nil) }
    let session = try await context.session()
    let mark = try mark(request.sends, session)
    do throws(OrgError) {
      let answers = try await request.send(session)
      answered = session.serverDate
      return (answers, mark)
    } catch {
      if error.isAmbiguous {
        for send in request.sends {
          note(
            UpSettled(
              record: send.record, operation: send.record.operation,
              end: .inDoubt("no answer came: \(error.message)")))
        }
      } else {
        try unmark(mark)
      }
      throw SyncError(error, isWrite: true)
    }
  }

  /// Makes records anew that are proved to be deleted; the others keep the org's answer.
  private nonisolated(nonsending) func settle(_ missing: [Missing]) async throws(SyncError) {
    guard !missing.isEmpty else { return }
    let fates = try await fates(of: missing)
    var again: [UpSend] = []
    var refused: [UpSettled] = []
    for one in missing {
      let record = one.send.record
      if fates[record.soupEntryID] == .deleted {
        again.append(try bodies.send(record, .create, isRecreated: true))
        continue
      }
      var message = one.refusal.message
      if case .merged(let id)? = fates[record.soupEntryID] {
        message += "; the record was merged into \(id)"
      }
      refused.append(
        UpSettled(
          record: record, operation: .update,
          end: .failed(code: one.refusal.code ?? "", message: message, error: one.refusal.raw)))
    }
    if !refused.isEmpty { try commit(refused) }
    for request in UpRequest.requests(again, target) { _ = try await exchange(request) }
  }

  // MARK: entering

  /// Enters what became of changes, and whatever belongs to it, in one transaction.
  func commit(
    _ settled: [UpSettled], also body: () throws -> Void = {}
  ) throws(SyncError) {
    let overwritten = try elements.commit(settled) {
      try self.claim(settled)
      try body()
    }
    if !overwritten.isEmpty {
      context.report.overwritten[soupName, default: []] += overwritten
    }
    for one in settled { note(one) }
  }

  /// Puts a change into the report, and a sent one among those whose dates are to be read.
  private func note(_ one: UpSettled) {
    let row = one.reportRow(soupName: soupName)
    context.report.records.append(row)
    guard case .sent = one.end, custom == nil, let id = row.id else { return }
    unread.append(
      SentRecord(
        soupEntryID: one.record.soupEntryID, objectType: objectType ?? one.record.objectType,
        id: id,
        answered: answered))
  }
}
