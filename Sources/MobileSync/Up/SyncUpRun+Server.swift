import JSON
import Salesforce
import System

// What a sync up asks of the org beside its writes.
extension SyncUpRun {
  /// What the org has of the records of rows, where the merge mode wants to know.
  ///
  /// Two thousand records are asked for at once, grouped by type. What cannot be asked is unknown:
  /// the record is left.
  nonisolated(nonsending) func serverStates(
    of ids: [Int64]
  ) async throws(SyncError) -> [Int64: ServerState] {
    guard context.options.mergeMode == .leaveIfChanged else { return [:] }
    var groups: [String: [(entryID: Int64, id: String)]] = [:]
    try elements.forEach(ids) { record in
      guard record.operation == .update || record.operation == .delete, let id = record.serverID,
        record.modificationDate != nil
      else { return }
      groups[record.objectType, default: []].append((record.soupEntryID, id))
    }
    var states: [Int64: ServerState] = [:]
    for (type, group) in groups.sorted(by: { $0.key < $1.key }) {
      try context.checkStop()
      for (entryID, state) in try await serverStates(of: group, type) { states[entryID] = state }
    }
    return states
  }

  private nonisolated(nonsending) func serverStates(
    of group: [(entryID: Int64, id: String)], _ type: String
  ) async throws(SyncError) -> [Int64: ServerState] {
    let field = target.modificationDateFieldName
    var states: [Int64: ServerState] = [:]
    if let custom {
      for one in group {
        try context.checkStop()
        states[one.entryID] = try await serverState(of: one.id, type, custom)
      }
      return states
    }
    let session = try await context.session()
    do throws(OrgError) {
      let found = try await session.records(type, ids: group.map(\.id), fields: ["Id", field])
      var absent: [(entryID: Int64, id: String)] = []
      for one in group {
        guard let record = RecordID(one.id).flatMap({ found[$0.text18] }) else {
          absent.append(one)
          continue
        }
        states[one.entryID] = .alive(record[field]?.string.map(ModificationDate.init))
      }
      let fates = try await session.fates(of: absent.map(\.id), type)
      for one in absent where fates[one.id] != .unproved { states[one.entryID] = .deleted }
    } catch {
      // Nothing can be sent to an org that is not there: that is no DONE.
      if error.isOutage { throw SyncError(error) }
      try giveUp(on: error, "the modification dates of \(type) could not be read")
    }
    return states
  }

  /// What became of records that the org says are not there, by row.
  nonisolated(nonsending) func fates(
    of missing: [Missing]
  ) async throws(SyncError) -> [Int64: RecordFate] {
    try context.checkStop()
    var fates: [Int64: RecordFate] = [:]
    let groups = Dictionary(grouping: missing) { $0.send.record.objectType }
    for (type, group) in groups.sorted(by: { $0.key < $1.key }) {
      if let custom {
        for one in group {
          let state = try await serverState(of: one.send.recordID ?? "", type, custom)
          if state == .deleted { fates[one.send.record.soupEntryID] = .deleted }
        }
        continue
      }
      let session = try await context.session()
      do throws(OrgError) {
        let known = try await session.fates(of: group.compactMap(\.send.recordID), type)
        for one in group {
          fates[one.send.record.soupEntryID] = one.send.recordID.flatMap { known[$0] }
        }
      } catch {
        try giveUp(on: error, "the deletion of records of \(type) could not be proved")
      }
    }
    return fates
  }

  /// Reads the modification dates that the records bear after they were sent, so that the next
  /// sync up does not take our own write for somebody else's.
  ///
  /// A date that is later than the org's answer, or of a record that somebody else wrote last, is
  /// not ours, and is not taken: the next LEAVE_IF_CHANGED has to see it.
  nonisolated(nonsending) func readDates() async throws(SyncError) {
    let sent = unread
    unread = []
    guard context.settings.refreshesDates, !sent.isEmpty else { return }
    try context.checkStop()
    var dates: [(soupEntryID: Int64, id: String, date: String)] = []
    let groups = Dictionary(grouping: sent, by: \.objectType)
    for (type, group) in groups.sorted(by: { $0.key < $1.key }) {
      let found = try await written(type, group.map(\.id))
      for one in group {
        guard let record = RecordID(one.id).flatMap({ found[$0.text18] }),
          let date = record[target.modificationDateFieldName]?.string,
          try await isOurs(record, date, one)
        else { continue }
        dates.append((one.soupEntryID, one.id, date))
      }
    }
    if !dates.isEmpty { try elements.setDates(dates) }
  }

  private nonisolated(nonsending) func isOurs(
    _ record: JSONObject, _ date: String, _ sent: SentRecord
  ) async throws(SyncError) -> Bool {
    if let writer = record["LastModifiedById"]?.string {
      let user = try await context.session().identity.userID
      guard RecordID(writer)?.text18 == user else { return false }
    }
    guard let answered = sent.answered, let moment = Dates.milliseconds(iso8601: date) else {
      return true
    }
    // The clock of the answer is told to the second.
    return moment < answered + 1000
  }

  private nonisolated(nonsending) func written(
    _ type: String, _ ids: [String]
  ) async throws(SyncError) -> [String: JSONObject] {
    let session = try await context.session()
    let fields = ["Id", target.modificationDateFieldName]
    do throws(OrgError) {
      do throws(OrgError) {
        return try await session.records(type, ids: ids, fields: fields + ["LastModifiedById"])
      } catch {
        // Not every object has it.
        guard error.code == "INVALID_FIELD" else { throw error }
        return try await session.records(type, ids: ids, fields: fields)
      }
    } catch {
      try giveUp(on: error, "the new modification dates of \(type) could not be read")
      return [:]
    }
  }

  /// Goes on without an answer, unless no other request can be answered either.
  func giveUp(on error: OrgError, _ what: String) throws(SyncError) {
    switch error.kind {
    case .authentication, .certificate, .cancelled, .configuration: throw SyncError(error)
    default: context.warn("\(what): \(error.description)")
    }
  }
}

extension OrgError {
  /// Whether another request would fare no better: the org is out of reach, or takes no more.
  var isOutage: Bool {
    switch kind {
    case .unreachable, .timeout, .certificate, .limit: true
    default: false
    }
  }
}
