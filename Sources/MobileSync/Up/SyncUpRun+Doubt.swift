import JSON
import Salesforce
import SmartStore

/// One change without an answer, with its element as it is now.
private struct Doubt {
  var mark: SentMark
  var change: SentMark.Change
  var record: UpRecord

  /// Whether the element has other values to send, or is to be deleted, since.
  ///
  /// `sendable` are the fields that a sync up sends: one that the element has got since, and had not
  /// when it was sent, is in none that were.
  func isEdited(_ sendable: [String]) -> Bool {
    if record.state.isDeleted { return true }
    let sent = Set(change.fields.names)
    let names = change.fields.names + sendable.filter { !sent.contains($0) }
    return (try? RecordBody.fields(names, of: record.bytes)) != change.fields
  }
}

// What becomes of requests whose answer was lost, or whose program died.
extension SyncUpRun {
  /// How long records of this run are told from those that a create without an answer has made: the
  /// clocks of an org's servers differ by less.
  private static let claimedMilliseconds: Int64 = 60_000

  /// The mark of a request that is about to leave; nil where sending it again does no harm.
  ///
  /// New records could be made twice. An update is the same a second time, but under LEAVE_IF_CHANGED
  /// our own write would look like somebody else's. An upsert finds its record, a delete finds none.
  func mark(_ sends: [UpSend], _ session: Session) throws(SyncError) -> SentMark? {
    let isCareful = context.options.mergeMode == .leaveIfChanged
    let sends = sends.filter {
      $0.action == .create || ($0.action == .update && isCareful)
    }
    guard !sends.isEmpty else { return nil }
    let now = session.estimatedServerDate
    let since = session.serverDate ?? now - 600_000
    // What was made long before is no candidate; to name it in each mark would fill the store.
    made.removeAll { $0.known < since - Self.claimedMilliseconds }
    var mark = SentMark(
      userID: session.identity.userID, since: since, sent: now, changes: [],
      claimed: made.map(\.id))
    for send in sends {
      let record = send.record
      guard let fields = try? JSONValue(parsing: send.body).object else { continue }
      mark.changes.append(
        SentMark.Change(
          soupEntryID: record.soupEntryID, created: record.created,
          isCreate: send.action == .create, objectType: objectType ?? record.objectType,
          id: record.id, fields: fields))
    }
    let store = elements.store
    let soup = soupName
    mark.markID = try SyncError.inStore { () throws(StoreError) in
      try SentMark.put(mark, of: soup, in: store)
    }
    return mark
  }

  /// Takes a mark back, but for rows that are still in doubt.
  func unmark(_ mark: SentMark?, but rows: Set<Int64> = []) throws(SyncError) {
    guard let mark else { return }
    let store = elements.store
    let soup = soupName
    try SyncError.inStore { () throws(StoreError) in
      try SentMark.keep(rows, of: mark, soup, in: store)
    }
  }

  /// Finds out what earlier requests without an answer did, and answers the rows that must not be
  /// sent before that is known.
  ///
  /// `body` runs in the transaction in which what was found is entered.
  nonisolated(nonsending) func settleDoubts(
    also body: ([UpSettled]) throws -> Void = { _ in }
  ) async throws(SyncError) -> [Int64: String] {
    let store = elements.store
    let soup = soupName
    let marks = try SyncError.inStore { () throws(StoreError) in
      try SentMark.all(of: soup, in: store)
    }
    guard !marks.isEmpty else { return [:] }
    var doubts: [Doubt] = []
    for mark in marks {
      for change in mark.changes {
        guard let record = try elements.read(change.soupEntryID),
          record.created == change.created, record.state.isLocal, record.id == change.id
        else { continue }
        doubts.append(Doubt(mark: mark, change: change, record: record))
      }
    }
    var settled: [UpSettled] = []
    var held: [Int64: String] = [:]
    let sendable = sendableFields
    var groups: [String: [Doubt]] = [:]
    for doubt in doubts { groups[doubt.change.objectType, default: []].append(doubt) }
    for (type, group) in groups.sorted(by: { $0.key < $1.key }) {
      for (doubt, fate) in try await fates(of: group, type) {
        switch fate {
        case .made(let made):
          let id = made.id
          if doubt.change.isCreate, let words = made.words {
            context.warn("\(type) \(id): \(words)")
          }
          settled.append(
            UpSettled(
              record: doubt.record, operation: doubt.record.operation, end: .sent(id: id),
              isRecreated: doubt.change.isCreate && doubt.record.serverID != nil,
              isEdited: doubt.isEdited(sendable)))
        case .notMade: break
        case .unclear(let words, _): held[doubt.record.soupEntryID] = words
        }
      }
    }
    try commit(settled) {
      for mark in marks { try self.unmark(mark, but: Set(held.keys)) }
      try body(settled)
      self.heldMarks = try SentMark.all(of: soup, in: store)
      try self.claim(settled)
    }
    return held
  }

  /// The fields of either list: what a create did not send, an update may have to.
  private var sendableFields: [String] {
    let lists = [SyncOperation.create, .update].compactMap {
      try? FieldSelection.fields(for: $0, target: target, options: context.options)
    }
    var seen: Set<String> = []
    return lists.flatMap(\.self).filter { seen.insert($0).inserted }
  }

  private nonisolated(nonsending) func fates(
    of group: [Doubt], _ type: String
  ) async throws(SyncError) -> [(Doubt, LostCreates.Fate)] {
    try context.checkStop()
    let session = try await context.session()
    do throws(OrgError) {
      let describe = try await session.describe(type)
      var fates: [(Doubt, LostCreates.Fate)] = []
      var byUser: [String: [Doubt]] = [:]
      for doubt in group where doubt.change.isCreate {
        byUser[doubt.mark.userID, default: []].append(doubt)
      }
      for (userID, creates) in byUser.sorted(by: { $0.key < $1.key }) {
        fates += try await self.fates(ofCreates: creates, describe, userID, session)
      }
      let updates = group.filter { !$0.change.isCreate }
      return fates + (try await self.fates(ofUpdates: updates, describe, session))
    } catch {
      try giveUp(on: error, "what was sent of \(type) without an answer could not be looked for")
      let words = "it could not be looked for: \(error.message)"
      return group.map { ($0, .unclear(words, ids: [])) }
    }
  }

  private nonisolated(nonsending) func fates(
    ofCreates creates: [Doubt], _ describe: Describe, _ userID: String, _ session: Session
  ) async throws(OrgError) -> [(Doubt, LostCreates.Fate)] {
    let window = Int64(context.settings.quietWindowSeconds) * 1000
    let now = session.serverDate ?? session.estimatedServerDate
    // What an org refuses in any case has made nothing, and is told so when it is sent again.
    let refused = creates.filter { LostCreates.isRefused($0.change.fields, describe) }
    let rest = creates.filter { !LostCreates.isRefused($0.change.fields, describe) }
    let answers = refused.map { ($0, LostCreates.Fate.notMade) }
    guard !rest.isEmpty else { return answers }
    let lost = rest.map { doubt in
      // It may still be under way, and arrive after it was looked for.
      LostCreates.Lost(
        doubt.change.fields, sent: doubt.mark.since, until: doubt.mark.sent + window,
        isOver: window <= 0 || now - doubt.mark.sent >= window)
    }
    let found = try await LostCreates.candidates(session, describe, of: lost, userID: userID)
    let free = found.filter { !isTaken(LostCreates.id(of: $0), rest) }
    return answers + Array(zip(rest, LostCreates.match(lost, free, asksPerson: false)))
  }

  /// An update is done if the record holds what was sent, and its sender wrote last.
  private nonisolated(nonsending) func fates(
    ofUpdates updates: [Doubt], _ describe: Describe, _ session: Session
  ) async throws(OrgError) -> [(Doubt, LostCreates.Fate)] {
    guard !updates.isEmpty else { return [] }
    let fields = LostCreates.readable(
      updates.flatMap(\.change.fields.names), describe, and: ["LastModifiedById"])
    let found = try await session.records(
      describe.name, ids: updates.compactMap(\.change.id), fields: fields)
    return updates.map { doubt in
      guard let record = doubt.change.id.flatMap({ RecordID($0)?.text18 }).flatMap({ found[$0] }),
        record["LastModifiedById"]?.string.flatMap({ RecordID($0)?.text18 }) == doubt.mark.userID,
        LostCreates.agreement(of: doubt.change.fields, with: record) == .whole,
        let made = LostCreates.Made(record, sent: doubt.change.fields)
      else { return (doubt, .notMade) }
      return (doubt, .made(made))
    }
  }

  /// Whether an element of the soup stands for a record already, so that none of these creates made
  /// it.
  ///
  /// What a sync down brought since they were sent may be just what they made.
  private func isTaken(_ id: String?, _ creates: [Doubt]) -> Bool {
    guard let id else { return true }
    let first = creates.map(\.change.soupEntryID).min() ?? 0
    do {
      return try elements.store
        .elements(in: soupName, where: target.idFieldName, is: id)
        .contains { element in
          let isLater = element[StoreField.soupEntryID]?.int.map { $0 > first } ?? false
          let wasBrought = element[LocalFields.syncID]?.int != nil
          return !isLater || !wasBrought || creates.contains { $0.mark.claimed.contains(id) }
        }
    } catch {
      // Not to be taken for another's.
      return true
    }
  }

  /// Notes, in the marks that are still in doubt, the records that other creates have made.
  func claim(_ settled: [UpSettled]) throws {
    var ids: [String] = []
    for one in settled {
      guard case .sent(let id?) = one.end, one.record.id != id else { continue }
      ids.append(id)
    }
    guard !ids.isEmpty else { return }
    let known = answered ?? .max
    made += ids.map { ($0, known) }
    for index in heldMarks.indices {
      heldMarks[index].claimed += ids
      _ = try SentMark.put(heldMarks[index], of: soupName, in: elements.store)
    }
  }
}
