import JSON
import Ledger
import MobileSync
import Salesforce
import System

extension Reconciler {
  /// Reads the dates and values of records that we wrote, so that our own writes are no conflicts
  /// later: the one place that does, 2,000 records at a time.
  nonisolated(nonsending) func recordServerState(
    after operations: [OperationRow], _ access: RecordReader
  ) async throws {
    let groups = Dictionary(grouping: operations, by: \.sobject).sorted { $0.key < $1.key }
    for (sobject, group) in groups {
      do {
        let describe = try await access.describe(sobject)
        if let label = describe.label { try state.noteLabel(label, of: describe.name) }
        let dates = try group.map { try modificationField(of: $0) }
        let names = Set(group.flatMap(\.payload.names) + dates + ["LastModifiedById"])
        let found = try await access.records(
          sobject, ids: group.compactMap(\.recordID),
          fields: ["Id"] + names.subtracting(["Id"]).filter { describe.field($0) != nil }.sorted())
        try state.connection.transaction {
          for (operation, field) in zip(group, dates) {
            let record = operation.recordID.flatMap { found[$0] } ?? [:]
            let date = record[field]?.string
            let isOurs = Self.isLeft(
              record, date, by: operation, access.session.identity.userID)
            // Somebody else wrote in between: what stands there is not ours. Who has seen that date
            // has seen our write all the same.
            try state.noteLeft(operation, date: date, fields: isOurs ? record : nil)
            if isOurs { try state.noteKept(operation, record: record, run: run.id) }
          }
        }
      } catch let error as OrgError {
        // The writes stand; a later return of the device is compared without their dates.
        guard error.isAboutTheObject else { throw error }
        summary.warnings.append("what was written to \(sobject) could not be read back")
      }
    }
  }

  /// The field whose dates the device's copy of a record bears.
  private func modificationField(of operation: OperationRow) throws -> String {
    if let known = operation.modificationField { return known }
    let soup = try state.openEdit(id: operation.editID)?.edit.soup
    let rule = rules.first { $0.soup == soup }
    return rule?.target.modificationDateFieldName ?? TargetFields().modificationDateFieldName
  }

  /// How long after its sending a write may be dated, in milliseconds of the org's time.
  private static let writeMilliseconds: Int64 = 120_000

  /// Says whether a record stands as a write of ours has left it.
  ///
  /// The sender may have changed it by hand since: it has to hold what was sent, or to bear a date of
  /// that time, where an automation has made something else of it.
  private static func isLeft(
    _ record: JSONObject, _ date: String?, by operation: OperationRow, _ userID: String
  ) -> Bool {
    let writer = record["LastModifiedById"]?.string?.recordID18
    guard writer == operation.senderID ?? userID else { return false }
    if UnacknowledgedCreates.agreement(of: operation.payload, with: record) == .whole {
      return true
    }
    guard let written = date.flatMap({ Dates.milliseconds(iso8601: $0) }),
      let sent = operation.sentMilliseconds
    else { return false }
    return written <= sent + writeMilliseconds
  }
}
