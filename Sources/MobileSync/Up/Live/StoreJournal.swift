import JSON
import Salesforce
import SmartStore

/// The journal of a sync up on a live store.
///
/// Requests about to be sent are stored in `attache_sent`, and their outcomes in the elements.
final class StoreJournal: SyncUpJournal {
  typealias Change = SyncUpSend
  typealias Intention = PendingRequest?

  let context: SyncContext
  let target: SyncUpTarget
  let soupName: String
  /// The sObject type, if one applies to all elements, whatever type they name.
  let objectType: String?
  let elements: SyncUpElements
  var bodies: SyncUpBodies
  /// Whether a custom target sends; it is not queried afterwards.
  let isCustom: Bool
  /// The reader of this run, once created.
  var reader: RecordReader?
  /// The org's time at its last response to a write.
  private(set) var answered: Int64?
  /// The IDs of records that this run has created recently, with the org's time of each.
  private var made: [(id: String, known: Int64)] = []
  var mostChanges = Int.max
  /// The rows that are sent again and each have a separate request.
  var alone: Set<Int64> = []
  /// The unconfirmed requests of earlier runs.
  var unconfirmed: [PendingRequest] = []
  /// The outcomes of rows that must not be sent, because it is unknown what an earlier request did,
  /// or another user has changed the record with their external ID.
  var held: [Int64: SyncUpSettled.End] = [:]
  /// The rows of sent records whose modification dates are to be read, by sObject type, with the
  /// org's time at the response; a later modification is another user's.
  var unread: [String: [(row: Int64, id: String, answered: Int64?)]] = [:]
  /// Updates of records that the org reported as missing, if OVERWRITE can recreate them.
  private var missing: [Missing] = []

  /// An update of a record that the org reported as missing.
  struct Missing: Sendable {
    var send: SyncUpSend
    var refusal: RowRefusal
  }

  /// How long this run's records are kept apart from those of creates without a response; the
  /// clocks of an org's servers differ by less.
  private static let claimedMilliseconds: Int64 = 60_000

  /// Creates a journal of the soup in the sync's definition, or of another one.
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
    bodies = SyncUpBodies(target, context.options, objectType: objectType)
  }

  /// Returns the reader for the store's user.
  func reader() async throws(SyncError) -> RecordReader {
    if let reader { return reader }
    let made = RecordReader(try await context.session())
    reader = made
    return made
  }

  // MARK: Journal

  func prepare(_ batch: SyncUpRequest.Batch<SyncUpSend>) async throws -> [SyncUpSend] {
    try context.checkStop()
    if !isCustom { _ = try await reader() }
    return batch.changes
  }

  /// Returns the request that is about to be sent; nil if sending it twice does no harm.
  ///
  /// New records could be created twice. An update has the same effect twice, but under
  /// LEAVE_IF_CHANGED the first write would look like another user's. An upsert would overwrite later
  /// changes of its record, unless it names the record by Id and overwrites anyway. A delete finds
  /// no record.
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
    // Records created long before are not candidates, and listing them in each request would fill
    // the store.
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

  func separate(_ intention: PendingRequest?) throws -> PendingRequest?? {
    guard var request = intention else { return nil }
    request.goesAlone = true
    return request
  }

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
        var settled = SyncUpSettled(
          send.record,
          SyncUpSettled.End(answer, action: send.action, kind: target.kind, mode: mode))
        settled.isRecreated = send.isRecreated
        entered.append(settled)
      }
    }
    // The request may have waited between attempts as long as the org required; the current time is
    // the latest possible one.
    var intention = intention
    if let session = reader?.session, let sent = intention?.sent {
      intention?.sent = max(sent, session.estimatedServerDate)
    }
    try commit(entered) { try self.keep(doubtful, of: intention, isLater: true) }
  }

  /// Removes a request, except for rows that are still unconfirmed.
  func keep(_ rows: Set<Int64>, of request: PendingRequest?, isLater: Bool = false) throws {
    guard let request else { return }
    try PendingRequest.keep(rows, of: request, isLater: isLater, soupName, in: elements.store)
  }

  /// Records the org's time at its last response.
  func noteAnswered() { answered = reader?.session.serverDate ?? answered }

  /// Returns and clears the updates whose records were missing.
  func takeMissing() -> [Missing] {
    defer { missing = [] }
    return missing
  }

  // MARK: Outcomes

  /// Stores the outcomes of changes, and what belongs to them, in one transaction.
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

  /// Adds a change to the report and, if it was sent, to the records whose dates are to be read.
  private func note(_ one: SyncUpSettled) {
    let row = one.reportRow(soupName: soupName)
    context.report.records.append(row)
    guard case .sent = one.end, !isCustom, let id = row.id else { return }
    unread[objectType ?? one.record.objectType, default: []].append(
      (one.record.soupEntryID, id, answered))
  }

  /// Adds to the unconfirmed requests the records that other creates have made.
  func claim(_ settled: [SyncUpSettled]) throws {
    var ids: [String] = []
    for one in settled {
      guard case .sent(let id?) = one.end, one.record.id != id else { continue }
      ids.append(id)
    }
    guard !ids.isEmpty else { return }
    let known = answered ?? .max
    made += ids.map { ($0, known) }
    for index in unconfirmed.indices {
      unconfirmed[index].claimed += ids
      _ = try PendingRequest.put(unconfirmed[index], of: soupName, in: elements.store)
    }
  }
}
