import JSON
import Salesforce

// The queries before a change is sent, and after the org has not found its record.
extension StoreJournal {
  /// Returns the org's state of records of a type, by ID; records of an unknown state are missing.
  func states(
    of ids: [String], _ type: String
  ) async throws(SyncError) -> [String: ServerState] {
    let reader = try await reader()
    let field = target.modificationDateFieldName
    var states: [String: ServerState] = [:]
    do throws(OrgError) {
      let found = try await reader.records(type, ids: ids, fields: ["Id", field])
      for id in ids {
        guard let record = id.recordID18.flatMap({ found[$0] }) else { continue }
        states[id] = .alive(record[field]?.string.map(ModificationDate.init))
      }
      for (id, fate) in try await reader.fates(of: ids.filter { states[$0] == nil }, type) {
        states[id] = MissingRecordRule.state(fate)
      }
    } catch {
      // Nothing can be sent to an unreachable org, so the sync must not end as DONE.
      if error.isOutage { throw SyncError(error) }
      try context.giveUp(on: SyncError(error), SyncContext.unreadDates(of: type))
    }
    return states
  }

  /// Returns the state of records that the org reports as missing, by ID.
  func fates(of ids: [String], _ type: String) async throws(SyncError) -> [String: RecordFate] {
    let reader = try await reader()
    do throws(OrgError) {
      return try await reader.fates(of: ids, type)
    } catch {
      try context.giveUp(on: SyncError(error), SyncContext.unprovedDeletion(of: type))
      return [:]
    }
  }
}
