import JSON
import Ledger
import MobileSync
import Salesforce

// What a late request overwrote that attache wrote after it was sent.
extension Reconciler {
  /// The values that a record had before a late request overwrote them, in the fields in which newer
  /// writes of attache had sent others than the request.
  ///
  /// Each is the last one of the record's history, which another user may have entered since.
  func replaced(
    by operation: OperationRow, in record: JSONObject, _ writes: [OperationRow]
  ) throws -> JSONObject {
    guard let id = operation.recordID else { return [:] }
    let newer = writes.filter { $0.id > operation.id }
    let last = try state.lastKnown(id, before: operation, writes, asSent: true)
    var replaced = JSONObject()
    for (name, value) in operation.payload {
      guard let held = record[name], WriteEvidence.derives(held, from: value),
        newer.contains(where: { write in
          write.payload[name].map { !FieldValue.isSame($0, value) } ?? false
        }),
        let former = last[name], !FieldValue.isSame(former, held)
      else { continue }
      replaced[name] = former
    }
    return replaced
  }

  /// Takes back a late request that overwrote newer writes, and leaves its edit for review, because
  /// the request may have overwritten other users' work as well.
  ///
  /// `replaced` are the values that stood where newer writes had sent others. What was entered since in
  /// other fields is restored with them. If the org supports conditional requests, they are sent only while the
  /// record is as it was read.
  nonisolated(nonsending) func putRight(
    _ write: Write, _ replaced: JSONObject, _ writes: [OperationRow], _ record: JSONObject
  ) async throws {
    let operation = write.operation
    let newer = writes.filter { $0.id > operation.id && $0.editID != operation.editID }
    // The values of other edits are reported with those edits.
    let own = JSONObject(
      replaced.filter { name, value in
        newer.contains { $0.payload[name].map { WriteEvidence.derives(value, from: $0) } ?? false }
      })
    let overwritten = try overwritten(by: operation, besides: own)
    var restored = replaced
    for (name, value) in overwritten {
      guard let late = operation.payload[name], WriteEvidence.derives(record[name], from: late)
      else { continue }
      restored[name] = value
    }
    var settlement = try lateSettlement(of: operation, write.edit, recordID: operation.recordID)
    settlement.verdict = .conflict
    settlement.detail.showNow(record)
    settlement.detail.otherEdits = newer.last.map { [$0.editID] } ?? []
    try state.connection.transaction {
      try state.finish(operation, .done(recordID: operation.recordID))
      try tell(overwritten, by: operation, write.edit, &settlement)
      try state.noteLeft([(operation, nil, nil)])
      try report(&settlement, of: operation.editID)
    }
    guard try await restore(restored, after: write, settlement, record) else { return }
    let others = restored.names.filter { own[$0] == nil }.sorted()
    if !others.isEmpty {
      let words = "what stood before it was restored in \(others.joined(separator: ", "))"
      try state.noteWords(words, beside: operation.editID, run: run.id)
    }
    for (edit, writes) in Dictionary(grouping: newer, by: \.editID).sorted(by: { $0.key < $1.key })
    {
      try tellRestored(edit, writes, own, over: operation, record)
    }
  }

  /// Sends the values that a late request overwrote; the result is whether the org has them again.
  ///
  /// The write undoes the request, so that they do not count as values of the edit's device.
  private nonisolated(nonsending) func restore(
    _ restored: JSONObject, after write: Write, _ settlement: Settlement,
    _ record: JSONObject
  ) async throws -> Bool {
    let (edit, operation) = (write.edit, write.operation)
    let isUnderWay = try state.operations(.unfinished).contains { $0.editID == edit.id }
    guard !isUnderWay, let id = operation.recordID,
      let sync = rules.firstIndex(where: { $0.soup == edit.soup }),
      let access = try await sender(of: write.edit.snapshotID)
    else {
      summary.warnings.append(
        "a request of an older edit of \(operation.sobject) \(operation.recordID ?? "") arrived late and overwrote a "
          + "newer one, which could not be sent again")
      return false
    }
    let field = rules[sync].target.modificationDateFieldName
    var expected = settlement
    expected.detail.showNow(restored)
    var seen = JSONObject()
    for name in restored.names { seen[name] = record[name] }
    seen[OperationRow.dateKey] = record[field]
    var plan = SnapshotPlan(snapshotID: write.edit.snapshotID)
    plan.sends = [
      Write(
        edit: edit, sync: sync,
        operation: OperationRow(
          editID: edit.id, action: .update, purpose: .undo, sobject: operation.sobject,
          recordID: id, payload: restored, expected: expected, seen: .object(seen),
          modificationField: field),
        condition: record["LastModifiedDate"]?.string, isStrict: options.conditionalUpdates)
    ]
    plan.levels = [[edit.id]]
    try await send([(plan, access)])
    let last = try state.operations(.ofEdits([edit.id])).last
    if last?.state == .done { return true }
    // Without an answer, it is looked up by the next run.
    if last?.state != .doubt, try state.verdict(of: edit.id) != .conflict {
      try settle(edit.id, settlement)
    }
    return false
  }

  /// Reports on a newer edit that a late request overwrote that its values are in the org again.
  private func tellRestored(
    _ edit: Int64, _ writes: [OperationRow], _ restored: JSONObject, over operation: OperationRow,
    _ record: JSONObject
  ) throws {
    guard let last = writes.last(where: { !$0.isRestoring }),
      try state.verdict(of: edit)?.isSettled == true
    else { return }
    let fields = restored.compactMap { name, value -> FieldDifference? in
      guard let sent = last.payload[name], WriteEvidence.derives(value, from: sent) else {
        return nil
      }
      return FieldDifference(name: name, base: nil, device: sent, server: record[name] ?? .null)
    }
    if fields.isEmpty { return }
    let detail = OutcomeDetail.because(
      "a request of an older edit arrived late and overwrote this edit, which was sent again",
      of: operation.recordID, fields: fields, otherEdits: [operation.editID])
    let verdict: Verdict = last.purpose == .undo ? last.expected.verdict : .updated
    try settle(edit, Settlement(verdict, detail))
  }
}
