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
      let found = try await self.states(of: group.map(\.id), type)
      for one in group { states[one.entryID] = found[one.id] }
    }
    return states
  }

  private func states(
    of ids: [String], _ type: String
  ) async throws(SyncError) -> [String: ServerState] {
    guard let custom else { return try await journal.states(of: ids, type) }
    var states: [String: ServerState] = [:]
    for id in ids {
      try context.checkStop()
      states[id] = try await serverState(of: id, type, custom)
    }
    return states
  }

  /// Returns the state of records that the org reported as missing, by row.
  func fates(of missing: [StoreJournal.Missing]) async throws(SyncError) -> [Int64: RecordFate] {
    try context.checkStop()
    var fates: [Int64: RecordFate] = [:]
    let groups = Dictionary(grouping: missing) { $0.send.record.objectType }
    for (type, group) in groups.sorted(by: { $0.key < $1.key }) {
      let ids = group.compactMap(\.send.write.recordID)
      var found: [String: RecordFate] = [:]
      if custom == nil {
        found = try await journal.fates(of: ids, type)
      } else {
        for (id, state) in try await states(of: ids, type) where state == .deleted {
          found[id] = .deleted
        }
      }
      for one in group {
        fates[one.send.record.soupEntryID] = one.send.write.recordID.flatMap { found[$0] }
      }
    }
    return fates
  }
}
