import JSON
import Ledger
import MobileSync
import Salesforce

// What requests overwrite that work after the run that sent them: bulk jobs, and late requests.
extension Reconciler {
  /// Reads the records of writes whose bulk job may still work on them, because it overwrites what
  /// others enter until then.
  ///
  /// A value that the job itself may have written does not replace what was known before.
  nonisolated(nonsending) func noteBefore(
    _ writes: [Write], _ sobject: String, _ access: RecordReader
  ) async throws {
    let known = writes.compactMap { write -> Write? in
      guard let id = Self.knownID(of: write.operation) else { return nil }
      var known = write
      known.operation.recordID = id
      return known
    }
    if known.isEmpty { return }
    do {
      let found = try await records(
        of: known, DoubtKey(sobject: sobject, snapshotID: ""), access)
      try state.connection.transaction {
        for operation in known.map(\.operation) {
          guard let id = operation.recordID, var record = found[id],
            Self.evidence(of: operation, in: record) != .applied
          else { continue }
          let before = try lastKnown(id, before: operation)
          for (name, value) in operation.payload
          where WriteEvidence.derives(record[name], from: value) {
            record[name] = before[name]
          }
          try noteSight(of: record, for: operation)
        }
      }
    } catch let error as OrgError {
      try await checkAlone(error, access)
      summary.warnings.append("records that a bulk job may change could not be read")
    }
  }

  /// The record that a write changes; nil for one that creates or deletes a record.
  private static func knownID(of operation: OperationRow) -> String? {
    switch operation.action {
    case .update: operation.recordID
    case .upsert: UnacknowledgedCreates.id(ofSeen: operation.seen)
    case .create, .delete, .undelete: nil
    }
  }

  private func lastKnown(_ id: String, before operation: OperationRow) throws -> JSONObject {
    try state.lastKnown(id, before: operation, state.operations(.to(recordID: id)).map(resolved))
  }

  /// The values that runs read after a request was sent, and that it overwrote, besides those that a
  /// newer write is to restore.
  func overwritten(
    by operation: OperationRow, besides restored: JSONObject = [:]
  ) throws -> JSONObject {
    guard let id = Self.knownID(of: operation), let seen = operation.seen?.object else {
      return [:]
    }
    let known = try lastKnown(id, before: operation)
    var overwritten = JSONObject()
    for (name, value) in operation.payload where restored[name] == nil {
      guard let last = known[name], let first = seen[name], !FieldValue.isSame(first, last),
        !WriteEvidence.derives(last, from: value)
      else { continue }
      overwritten[name] = last
    }
    if !overwritten.isEmpty { overwritten[OperationRow.dateKey] = known[OperationRow.dateKey] }
    return overwritten
  }

  /// Lists the values that a request overwrote, which an undo restores.
  ///
  /// Under LEAVE_IF_CHANGED the edit is open, as if the values had been found before.
  func tell(
    _ overwritten: JSONObject, by operation: OperationRow, _ edit: OpenEdit,
    _ settlement: inout Settlement
  ) throws {
    if overwritten.isEmpty { return }
    var seen = operation.seen?.object ?? [:]
    for (name, value) in overwritten { seen[name] = value }
    try state.note(.seen(seen), of: [operation])
    let mode = rules.first { $0.soup == edit.soup }?.mode
    if operation.purpose == .undo || mode == .leaveIfChanged { settlement.verdict = .conflict }
    let names = overwritten.names.filter { $0 != OperationRow.dateKey }.sorted()
    for name in names {
      var field =
        settlement.detail.fields.first { $0.name == name }
        ?? FieldDifference(name: name, base: nil, device: operation.payload[name], server: nil)
      if settlement.verdict == .conflict {
        (field.base, field.server) = (overwritten[name], operation.payload[name])
      } else {
        field.server = overwritten[name]
      }
      settlement.detail.fields.removeAll { $0.name == name }
      settlement.detail.fields.append(field)
    }
    let subject = operation.job == nil ? "the request" : "the bulk job"
    settlement.detail.add(
      "\(subject) overwrote what was entered after it was sent, in "
        + names.joined(separator: ", "))
  }
}
