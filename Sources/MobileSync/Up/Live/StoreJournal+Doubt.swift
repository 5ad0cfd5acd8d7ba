import JSON
import Salesforce
import SmartStore
import System

/// One unconfirmed change with its current element.
private struct Doubt {
  var request: PendingRequest
  var change: PendingRequest.Change
  var record: SyncUpRecord

  /// Whether the element has other values to send since, or is to be deleted.
  ///
  /// `sendable` are the fields that a sync up sends. A field that the element lacked when it was
  /// sent is not among the sent ones.
  func isEdited(_ sendable: [String]) -> Bool {
    if record.state.isDeleted { return true }
    let write = change.write
    if let value = write.externalValue, record.externalID?.text != value { return true }
    let sent = Set(write.fields.names).union([write.externalField].compactMap(\.self))
    let names = write.fields.names + sendable.filter { !sent.contains($0) }
    return (try? RecordBody.fields(names, of: record.bytes)) != write.fields
  }
}

// Resolves requests whose response was lost or whose program was interrupted.
extension StoreJournal {
  /// Resolves earlier requests without a response, and holds the rows that this run must not send.
  ///
  /// `body` runs in the transaction that stores the resolutions.
  func settleDoubts(
    also body: ([SyncUpSettled]) throws -> Void = { _ in }
  ) async throws(SyncError) {
    let store = elements.store
    let requests = try SyncError.inStore { try PendingRequest.all(of: self.soupName, in: store) }
    guard !requests.isEmpty else { return }
    var doubts: [Doubt] = []
    for request in requests {
      for change in request.changes {
        guard let record = try elements.read(change.soupEntryID),
          record.created == change.created, record.state.isLocal, record.id == change.id
        else { continue }
        doubts.append(Doubt(request: request, change: change, record: record))
      }
    }
    var settled: [SyncUpSettled] = []
    let groups = Dictionary(grouping: doubts, by: \.change.write.objectType)
    for (type, group) in groups.sorted(by: { $0.key < $1.key }) {
      for (doubt, finding) in zip(group, try await findings(group, type)) {
        switch finding {
        case .done(let done):
          if let words = done.made?.words {
            context.warn("\(type) \(done.id ?? ""): \(words)")
          }
          let action = doubt.change.write.action
          var one = SyncUpSettled(doubt.record, .sent(id: done.id))
          one.isRecreated = action == .create && doubt.record.serverID != nil
          one.isEdited = doubt.isEdited(sendableFields(after: action))
          settled.append(one)
        case .notDone(let standing):
          if doubt.request.goesAlone { alone.insert(doubt.record.soupEntryID) }
          if let standing, hasChanged(standing, since: doubt.change.write) {
            held[doubt.record.soupEntryID] = .left(.changedOnServer)
          }
        case .unclear(let words, _), .atWork(let words):
          held[doubt.record.soupEntryID] = .unconfirmed(words)
        }
      }
    }
    try commit(settled) {
      for request in requests { try self.keep(Set(self.held.keys), of: request) }
      try body(settled)
      self.unconfirmed = try PendingRequest.all(of: self.soupName, in: store)
      try self.claim(settled)
    }
  }

  /// Whether LEAVE_IF_CHANGED skips the record with the external ID of an upsert that was not done
  /// or was overwritten, because another user has changed the record since the upsert was sent.
  private func hasChanged(_ record: JSONObject, since write: PendingWrite) -> Bool {
    guard context.options.mergeMode == .leaveIfChanged else { return false }
    let date = record["LastModifiedDate"]?.string.flatMap { Dates.milliseconds(iso8601: $0) }
    guard let date else { return true }
    return date >= write.since / 1000 * 1000
  }

  /// Returns the fields that an element may still have to send: an update may have to send what a
  /// create did not.
  ///
  /// Fields sent only by creates are excluded.
  private func sendableFields(after action: SyncUpAction) -> [String] {
    let operations: [SyncOperation] = action == .update ? [.update] : [.create, .update]
    let lists = operations.compactMap {
      try? FieldSelection.fields(for: $0, target: target, options: context.options)
    }
    var seen: Set<String> = []
    return lists.flatMap(\.self).filter { seen.insert($0).inserted }
  }

  private func findings(
    _ group: [Doubt], _ type: String
  ) async throws(SyncError) -> [InDoubtResolver.Resolution] {
    try context.checkStop()
    let reader = try await reader()
    let creates = group.filter { $0.change.write.action == .create }
    var resolver = InDoubtResolver(
      reader: reader, unansweredWaitSeconds: Int64(context.settings.unansweredWaitSeconds)
    ) { self.isTaken($0, creates) }
    resolver.searchesEarly = true
    resolver.asksPerson = false
    do {
      let found = try await resolver.resolve(group.map(\.change.write), of: type)
      return zip(group, found).map { doubt, finding in
        // An update that another user may have made is decided by the dates like any other.
        guard case .done(let done) = finding, done.isSomebodyElses,
          doubt.change.write.action == .update
        else { return finding }
        return .notDone()
      }
    } catch let error as OrgError {
      try context.giveUp(
        on: SyncError(error), "the \(type) records sent without a response could not be looked up")
      let words = "it could not be looked up: \(error.message)"
      return group.map { _ in .unclear(words) }
    } catch {
      throw SyncError(store: error)
    }
  }

  /// Whether an element of the soup already represents a record, so that none of these creates made
  /// it.
  ///
  /// A record that a sync down fetched after they were sent may be exactly what they made.
  private func isTaken(_ id: String, _ creates: [Doubt]) -> Bool {
    let first = creates.map(\.change.soupEntryID).min() ?? 0
    do {
      return try elements.store
        .elements(in: soupName, where: target.idFieldName, is: id)
        .contains { element in
          let isLater = element[StoreField.soupEntryID]?.int.map { $0 > first } ?? false
          let wasBrought = element[LocalFields.syncID]?.int != nil
          return !isLater || !wasBrought || creates.contains { $0.request.claimed.contains(id) }
        }
    } catch {
      // Must not be assigned to another element.
      return true
    }
  }
}
