import JSON
import Salesforce
import System

/// One run of a sync up.
///
/// Changes are read one by one in row order, decided, and collected into batches. Each response of
/// the org is stored before the next request is sent.
final class SyncUpRun {
  let target: SyncUpTarget
  let custom: (any CustomSyncUpTarget)?
  let context: SyncContext
  let journal: StoreJournal
  private var batch: [SyncUpSend] = []
  private var idsOfBatch: Set<String> = []
  /// The records with a write since the run started, whose states are read again for a later row.
  private var written: Set<String> = []
  /// Outcomes since the last commit that needed no request.
  private var settled: [SyncUpSettled] = []
  /// The number of records processed and not yet counted.
  private var steps = 0
  private var done = 0

  init(_ target: SyncUpTarget, custom: (any CustomSyncUpTarget)? = nil, _ context: SyncContext) {
    self.target = target
    self.custom = custom
    self.context = context
    journal = StoreJournal(target, context, isCustom: custom != nil)
  }

  func run() async throws(SyncError) {
    try await journal.settleDoubts()
    var ids = try journal.elements.dirtyIDs()
    let damaged = try journal.elements.damaged(among: ids, context)
    ids.removeAll { damaged.contains($0) }
    try context.update { $0.totalSize = ids.count }
    // Only LEAVE_IF_CHANGED has to query the org before sending.
    let isCareful = context.options.mergeMode == .leaveIfChanged
    let window = isCareful ? RequestLimits.retrieve : ids.count
    for part in ids.parts(of: window) {
      let server = try await serverStates(of: part)
      for id in part {
        try context.checkStop()
        steps += 1
        try await take(id, server)
      }
    }
    try await flush()
    try await journal.readDates()
  }

  // MARK: Record

  private func take(_ id: Int64, _ server: [Int64: ServerState]) async throws(SyncError) {
    // The app has removed it since the run started.
    guard var record = try journal.elements.read(id) else { return }
    var server = server
    if context.options.mergeMode == .leaveIfChanged, let known = record.serverID,
      written.contains(known.recordID18 ?? known)
    {
      try await flush()
      server = try await serverStates(of: [id])
      guard let now = try journal.elements.read(id) else { return }
      record = now
    }
    let operation = record.operation
    if operation == .none, try journal.elements.dirtyIDs().contains(id) {
      settle(record, .update, .failed(code: "", message: SyncUpElements.unclear, error: nil))
      return
    }
    if needsType(operation), !APIName.isValid(record.objectType) {
      settle(record, operation, SyncUpSettled.End.noType(target.kind))
      return
    }
    if let end = journal.held[id] {
      settle(record, operation, end)
      return
    }
    let decision = MergeDecision.decide(
      operation, local: record.modificationDate, server: server[id] ?? .unknown,
      mode: context.options.mergeMode)
    switch decision {
    case .nothing: break
    case .dropLocally, .alreadyDeleted: settle(record, operation, .removed)
    case .leave(let reason): settle(record, operation, .left(reason))
    case .recreate: try await add(record, .create, isRecreated: true)
    case .send:
      if operation != .create, record.serverID == nil {
        settle(record, operation, SyncUpSettled.End.noID(target.kind))
        break
      }
      try await add(record, operation, unmodifiedSince: condition(operation, server[id]))
    }
    if settled.count >= RequestLimits.collection { try await flush() }
  }

  /// Whether the write names the sObject type: a collection deletes by Ids alone, and a custom
  /// target sends in its own way.
  private func needsType(_ operation: SyncOperation) -> Bool {
    switch operation {
    case .create, .update: custom == nil
    case .delete: custom == nil && target.kind != .collection
    case .none, .dropLocally: false
    }
  }

  /// Returns the time that closes the gap between check and write, if the request supports it.
  ///
  /// Under OVERWRITE, the org's record was not read, so there is none.
  private func condition(_ operation: SyncOperation, _ server: ServerState?) -> Int64? {
    guard target.kind == .batch || target.kind == .single else { return nil }
    return target.condition(of: operation, server)
  }

  private func settle(_ record: SyncUpRecord, _ operation: SyncOperation, _ end: SyncUpSettled.End)
  {
    settled.append(SyncUpSettled(record, as: operation, end))
  }

  /// Adds a record to the batch; one whose operation the sync up names no fields for fails alone.
  private func add(
    _ record: SyncUpRecord, _ operation: SyncOperation, isRecreated: Bool = false,
    unmodifiedSince: Int64? = nil
  ) async throws(SyncError) {
    var send: SyncUpSend
    do throws(SyncError) {
      send = try journal.bodies.send(
        record, operation, isRecreated: isRecreated, unmodifiedSince: unmodifiedSince)
    } catch {
      guard let end = journal.bodies.end(error, target.kind) else { throw error }
      settle(record, record.operation, end)
      return
    }
    // An org refuses two changes of one record in a request. Of a create without a response and an
    // edit of its record, the edit is later.
    let ids = [send.record.serverID, send.record.externalID?.text].compactMap(\.self)
      .map { $0.recordID18 ?? $0 }
    if !idsOfBatch.isDisjoint(with: ids) { try await flush() }
    send.write.goesAlone = journal.alone.contains(send.record.soupEntryID)
    batch.append(send)
    idsOfBatch.formUnion(ids)
    written.formUnion(ids)
    if batch.count >= max(1, target.maxBatchSize) { try await flush() }
  }

  // MARK: Batch

  private func flush() async throws(SyncError) {
    let sends = batch
    batch = []
    idsOfBatch = []
    if !settled.isEmpty {
      try journal.commit(settled)
      settled = []
    }
    try await send(sends)
    try await settle(journal.takeMissing())
    try advance()
    let unread = journal.unread.values.reduce(0) { $0 + $1.count }
    if unread >= RequestLimits.retrieve { try await journal.readDates() }
  }

  /// Reports progress for each processed record; the end of the run reports the last one.
  private func advance() throws(SyncError) {
    while steps > 0 {
      steps -= 1
      done += 1
      if done < context.state.totalSize {
        try context.update { $0.progress = 100 * self.done / $0.totalSize }
      }
    }
  }

  private func send(_ sends: [SyncUpSend]) async throws(SyncError) {
    if sends.isEmpty { return }
    let carrier: SyncUpEngine<StoreJournal>.Carrier =
      if let custom {
        .custom { try await self.carry($0, custom) }
      } else {
        .org(try await context.session())
      }
    try await SyncUpEngine(target, carrier, journal).sendAll(sends)
  }

  /// Recreates records that are verified as deleted; the others keep the org's error.
  private func settle(_ missing: [StoreJournal.Missing]) async throws(SyncError) {
    guard !missing.isEmpty else { return }
    let fates = try await fates(of: missing)
    var again: [SyncUpSend] = []
    var refused: [SyncUpSettled] = []
    for one in missing {
      let record = one.send.record
      let fate = fates[record.soupEntryID] ?? .unproved
      if MissingRecordRule.step(.update, fate, context.options.mergeMode) == .recreate {
        do throws(SyncError) {
          again.append(try journal.bodies.send(record, .create, isRecreated: true))
        } catch {
          guard let end = journal.bodies.end(error, target.kind) else { throw error }
          refused.append(SyncUpSettled(record, as: .update, end))
        }
      } else {
        let end = MissingRecordRule.end(one.refusal, fate)
        refused.append(SyncUpSettled(record, as: .update, end))
      }
    }
    if !refused.isEmpty { try journal.commit(refused) }
    try await send(again)
  }
}
