import JSON
import Salesforce

// The queries of a sync up.
extension SyncUpRun {
  /// Returns the org's state of the rows' records, if the merge mode requires it.
  ///
  /// Up to 2,000 records are requested at once, grouped by type. If a record cannot be queried, its
  /// state is unknown and the record is skipped.
  func serverStates(of ids: [Int64]) async throws(SyncError) -> [Int64: ServerState] {
    guard context.options.mergeMode == .leaveIfChanged else { return [:] }
    var groups: [String: [(entryID: Int64, id: String)]] = [:]
    try journal.elements.forEach(ids) { record in
      guard record.operation == .update || record.operation == .delete, let id = record.serverID,
        record.modificationDate != nil, custom != nil || APIName.isValid(record.objectType)
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

  private func serverStates(
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
    let reader = try await journal.reader()
    do throws(OrgError) {
      let found = try await reader.records(type, ids: group.map(\.id), fields: ["Id", field])
      var absent: [(entryID: Int64, id: String)] = []
      for one in group {
        guard let record = RecordID(one.id).flatMap({ found[$0.text18] }) else {
          absent.append(one)
          continue
        }
        states[one.entryID] = .alive(record[field]?.string.map(ModificationDate.init))
      }
      let fates = try await reader.fates(of: absent.map(\.id), type)
      for one in absent { states[one.entryID] = MissingRecordRule.state(fates[one.id]) }
    } catch {
      // Nothing can be sent to an unreachable org, so the sync must not end as DONE.
      if error.isOutage { throw SyncError(error) }
      try context.giveUp(
        on: SyncError(error), SyncContext.unreadDates(of: type))
    }
    return states
  }

  /// Returns the state of records that the org reported as missing, by row.
  func fates(of missing: [StoreJournal.Missing]) async throws(SyncError) -> [Int64: RecordFate] {
    try context.checkStop()
    var fates: [Int64: RecordFate] = [:]
    let groups = Dictionary(grouping: missing) { $0.send.record.objectType }
    for (type, group) in groups.sorted(by: { $0.key < $1.key }) {
      if let custom {
        for one in group {
          let state = try await serverState(of: one.send.write.recordID ?? "", type, custom)
          if state == .deleted { fates[one.send.record.soupEntryID] = .deleted }
        }
        continue
      }
      let reader = try await journal.reader()
      do throws(OrgError) {
        let known = try await reader.fates(of: group.compactMap(\.send.write.recordID), type)
        for one in group {
          fates[one.send.record.soupEntryID] = one.send.write.recordID.flatMap { known[$0] }
        }
      } catch {
        try context.giveUp(
          on: SyncError(error), SyncContext.unprovedDeletion(of: type))
      }
    }
    return fates
  }
}
