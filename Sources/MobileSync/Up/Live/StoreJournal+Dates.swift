import JSON
import Salesforce
import System

// Modification dates of sent records.
extension StoreJournal {
  /// Reads the modification dates of sent records, so that the next sync up does not mistake
  /// this client's writes for another user's.
  ///
  /// A date that is later than the org's response, or of a record that another user wrote last, is
  /// not stored: the next LEAVE_IF_CHANGED must see it.
  func readDates() async throws(SyncError) {
    let sent = unread
    unread = [:]
    guard context.settings.refreshesDates, !sent.isEmpty else { return }
    try context.checkStop()
    var dates: [(soupEntryID: Int64, id: String, date: String)] = []
    for (type, group) in sent.sorted(by: { $0.key < $1.key }) {
      let found = try await written(type, group.map(\.id))
      for one in group {
        guard let record = RecordID(one.id).flatMap({ found[$0.text18] }),
          let date = record[target.modificationDateFieldName]?.string,
          try await isOurs(record, date, answered: one.answered)
        else { continue }
        dates.append((one.row, one.id, date))
      }
    }
    if !dates.isEmpty { try elements.setDates(dates) }
  }

  private func isOurs(
    _ record: JSONObject, _ date: String, answered: Int64?
  ) async throws(SyncError) -> Bool {
    if let writer = record["LastModifiedById"]?.string {
      let user = try await reader().session.identity.userID
      guard writer.recordID18 == user else { return false }
    }
    guard let answered, let moment = Dates.milliseconds(iso8601: date) else {
      return true
    }
    // The response's date has whole seconds.
    return moment < answered + 1000
  }

  private func written(
    _ type: String, _ ids: [String]
  ) async throws(SyncError) -> [String: JSONObject] {
    let reader = try await reader()
    let fields = ["Id", target.modificationDateFieldName]
    do throws(OrgError) {
      do throws(OrgError) {
        return try await reader.records(type, ids: ids, fields: fields + ["LastModifiedById"])
      } catch {
        // Not every object has this field.
        guard error.code == ErrorCodes.unknownField else { throw error }
        return try await reader.records(type, ids: ids, fields: fields)
      }
    } catch {
      try context.giveUp(
        on: SyncError(error), "the new modification dates of \(type) could not be read")
      return [:]
    }
  }
}
