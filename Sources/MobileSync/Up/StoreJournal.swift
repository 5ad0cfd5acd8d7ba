import JSON
import Salesforce
import SmartStore

/// The journal of a sync up on a live store: requests that are about to leave stand in
/// `attache_sent`, and what became of them in the elements.
final class StoreJournal: SyncUpJournal {
  typealias Change = SyncUpSend
  typealias Intention = PendingRequest?

  let context: SyncContext
  let target: SyncUpTarget
  let soupName: String
  /// The sObject type where it is the same for all, whatever the elements say.
  let objectType: String?
  let elements: SyncUpElements
  /// Whether a program's own code sends; it is asked about nothing afterwards.
  let isCustom: Bool
  /// Who reads in this run, once that is known.
  var reader: RecordReader?
  /// The org's clock at its last answer to a write.
  private(set) var answered: Int64?
  /// The ids of records that this run has made lately, and the org's clock when it was known.
  private var made: [(id: String, known: Int64)] = []
  /// The requests of earlier runs of which it is still not known what they did.
  private var held: [PendingRequest] = []
  /// Records that were sent, and whose dates are to be read.
  var unread: [SentRecord] = []
  /// Updates of records that the org said are not there, where OVERWRITE can make them anew.
  private var missing: [Missing] = []

  struct SentRecord: Sendable {
    var soupEntryID: Int64
    var objectType: String
    var id: String
    /// The org's clock when the answer was there: a later modification is somebody else's.
    var answered: Int64?
  }

  /// An update of a record that the org says is not there.
  struct Missing: Sendable {
    var send: SyncUpSend
    var refusal: RowRefusal
  }

  /// How long records of this run are told from those that a create without an answer has made: the
  /// clocks of an org's servers differ by less.
  private static let claimedMilliseconds: Int64 = 60_000

  /// A journal of the soup of the sync's definition, or of another one.
  init(
    _ target: SyncUpTarget, _ context: SyncContext, soupName: String? = nil,
    objectType: String? = nil, isCustom: Bool = false
  ) {
    self.target = target
    self.context = context
    self.soupName = soupName ?? context.soupName
    self.objectType = objectType
    self.isCustom = isCustom
    elements = SyncUpElements(store: context.store, soupName: self.soupName, target: target)
  }

  /// Who reads, as the store's user.
  func reader() async throws(SyncError) -> RecordReader {
    if let reader { return reader }
    let made = RecordReader(try await context.session())
    reader = made
    return made
  }

  // MARK: the engine's journal

  func prepare(_ batch: SyncUpRequest.Batch<SyncUpSend>) async throws -> [SyncUpSend] {
    try context.checkStop()
    if !isCustom { _ = try await reader() }
    return batch.changes
  }

  /// The request that is about to leave; nil where sending it again does no harm.
  ///
  /// New records could be made twice. An update is the same a second time, but under LEAVE_IF_CHANGED
  /// our own write would look like somebody else's. An upsert would go over what somebody made of its
  /// record, unless it names it by its Id and overwrites anyway. A delete finds no record.
  func intend(_ batch: [SyncUpSend], job: String?) throws -> PendingRequest? {
    guard let session = reader?.session, !isCustom else { return nil }
    let isCareful = context.options.mergeMode == .leaveIfChanged
    let sends = batch.filter { send in
      switch send.action {
      case .create: true
      case .update: isCareful
      case .upsert: isCareful || send.write.externalKey?.field != "Id"
      case .delete, .undelete: false
      }
    }
    guard !sends.isEmpty else { return nil }
    let now = session.estimatedServerDate
    let since = session.serverDate ?? now - 600_000
    // What was made long before is no candidate; to name it in each request would fill the store.
    made.removeAll { $0.known < since - Self.claimedMilliseconds }
    var request = PendingRequest(
      userID: session.identity.userID, since: since, sent: now, changes: [],
      claimed: made.map(\.id))
    for send in sends {
      guard let fields = try? JSONValue(parsing: send.write.body).object else { continue }
      let (record, key) = (send.record, send.write.externalKey)
      request.changes.append(
        PendingRequest.Change(
          soupEntryID: record.soupEntryID, created: record.created, id: record.id,
          write: PendingWrite(
            send.action, send.write.objectType, userID: request.userID,
            recordID: send.write.recordID, externalField: key?.field, externalValue: key?.text,
            fields: fields, since: since, sent: now)))
    }
    request.rowID = try PendingRequest.put(request, of: soupName, in: elements.store)
    return request
  }

  func withdraw(_ intention: PendingRequest?) throws { try keep([], of: intention) }

  func settle(
    _ answers: [(change: SyncUpSend, answer: RowAnswer)], of intention: PendingRequest?,
    read: CompositeResult?, isLast: Bool
  ) async throws {
    noteAnswered()
    var doubtful: Set<Int64> = []
    var entered: [SyncUpSettled] = []
    for (send, answer) in answers {
      if case .unknown = answer { doubtful.insert(send.record.soupEntryID) }
      let mode = context.options.mergeMode
      if let refusal = MissingRecordRule.suspect(answer, send.action, mode) {
        missing.append(Missing(send: send, refusal: refusal))
      } else {
        entered.append(
          SyncUpSettled(
            record: send.record, operation: send.record.operation,
            end: SyncUpSettled.End(
              answer, action: send.action, kind: target.kind, mode: mode),
            isRecreated: send.isRecreated))
      }
    }
    // It may have waited between attempts, as long as the org asked for: it was sent just now at the latest.
    var intention = intention
    if let session = reader?.session {
      let noted = intention?.sent ?? 0
      intention?.sent = max(noted, session.estimatedServerDate)
    }
    try commit(entered) { try self.keep(doubtful, of: intention, isLater: true) }
  }

  /// Takes a request back, but for rows that are still in doubt.
  func keep(_ rows: Set<Int64>, of request: PendingRequest?, isLater: Bool = false) throws {
    guard let request else { return }
    try PendingRequest.keep(rows, of: request, isLater: isLater, soupName, in: elements.store)
  }

  /// Notes the org's clock at its last answer.
  func noteAnswered() { answered = reader?.session.serverDate ?? answered }

  /// The updates whose records were not there, once.
  func takeMissing() -> [Missing] {
    defer { missing = [] }
    return missing
  }

  // MARK: entering

  /// Enters what became of changes, and whatever belongs to it, in one transaction.
  func commit(_ settled: [SyncUpSettled], also body: () throws -> Void = {}) throws(SyncError) {
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
  private func note(_ one: SyncUpSettled) {
    let row = one.reportRow(soupName: soupName)
    context.report.records.append(row)
    guard case .sent = one.end, !isCustom, let id = row.id else { return }
    unread.append(
      SentRecord(
        soupEntryID: one.record.soupEntryID, objectType: objectType ?? one.record.objectType,
        id: id, answered: answered))
  }

  /// Notes, in the requests that are still in doubt, the records that other creates have made.
  func claim(_ settled: [SyncUpSettled]) throws {
    var ids: [String] = []
    for one in settled {
      guard case .sent(let id?) = one.end, one.record.id != id else { continue }
      ids.append(id)
    }
    guard !ids.isEmpty else { return }
    let known = answered ?? .max
    made += ids.map { ($0, known) }
    for index in held.indices {
      held[index].claimed += ids
      _ = try PendingRequest.put(held[index], of: soupName, in: elements.store)
    }
  }

  /// Reads anew which requests are in doubt.
  func refreshHeld() throws {
    held = try PendingRequest.all(of: soupName, in: elements.store)
  }

}
