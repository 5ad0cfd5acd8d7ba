import JSON
import Ledger
import MobileSync
import Salesforce
import System

// Decisions about unconfirmed writes, and about duplicates.
extension Reconciler {
  // MARK: duplicates

  /// An edit with the record that an operator chose of two; the ledger stores it with the edit's
  /// verdict.
  static func withChosenRecord(_ edit: OpenEdit) -> OpenEdit {
    guard case .record(let id)? = edit.decision?.decision,
      edit.decision?.verdict == .duplicateCreated, edit.creation != nil
    else { return edit }
    return edit.choosing(id)
  }

  // MARK: refused creates

  /// Resolves new records that the org refused and for which an operator named an existing one;
  /// returns the other edits.
  nonisolated(nonsending) func settleRefused(
    _ edits: [OpenEdit], _ planner: SnapshotPlanner
  ) async throws -> [OpenEdit] {
    var rest: [OpenEdit] = []
    for edit in edits {
      guard let pending = edit.decision, case .record(let id) = pending.decision,
        pending.verdict == .failed, let creation = edit.creation, creation.recordID == nil
      else {
        rest.append(edit)
        continue
      }
      // The record's values and the verdict are stored together, so that an interrupted run leaves
      // both or neither.
      if let (record, element, fields, date) = try await held(id, edit, planner) {
        let left = fields.reduce(into: JSONObject()) { $0[$1] = record[$1] }
        let comparison = FieldComparison(
          device: element, base: nil, server: record, listed: fields)
        let words = "\(pending.by) said that this is the record; the org's values stay"
        try state.connection.transaction {
          try state.note(
            .named(id, by: pending, left: left, date: date), of: creation.id)
          try settle(
            edit.id, Settlement(.alreadyInOrg, .because(words, of: id, fields: comparison.edited)))
        }
      } else {
        var detail = try state.decidable(edit.id)?.detail ?? OutcomeDetail()
        detail.message =
          "the org has no \(edit.sobject ?? "such record") \(id) that the user can see: decide again"
        try state.connection.transaction {
          detail.decision = try state.refuseDecision(pending, run: run.id)
          try settle(edit.id, Settlement(.failed, detail))
        }
      }
      tellProgress()
    }
    return rest
  }

  /// The named record and the edit's element, with those fields that the edit would have sent, and
  /// the record's date; nil if there is none.
  private nonisolated(nonsending) func held(
    _ id: String, _ edit: OpenEdit, _ planner: SnapshotPlanner
  ) async throws -> (
    record: JSONObject, element: JSONObject, fields: [String], date: String?
  )? {
    guard let candidate = try? planner.candidate(edit) else { return nil }
    do {
      let describe = try await planner.records.describe(candidate.sobject)
      let fields = candidate.listed.filter { $0 != "Id" && describe.field($0)?.name == $0 }
      let dateField = planner.rules[candidate.sync].target.modificationDateFieldName
      let found = try await planner.records.records(
        candidate.sobject, ids: [id], fields: ["Id"] + Set(fields + [dateField]).sorted())
      return found[id].map { ($0, candidate.element, fields, $0[dateField]?.string) }
    } catch {
      guard error.isAboutTheObject else { throw error }
      return nil
    }
  }

  // MARK: unconfirmed writes

  /// Leaves edits unconfirmed that cannot be looked up; those that an operator discarded are
  /// resolved.
  func leaveInDoubt(_ edits: [OpenEdit]) throws {
    let dropped = Set(edits.filter { $0.decision?.decision == .discard }.map(\.id))
    for operation in try state.operations(.unfinished) where dropped.contains(operation.editID) {
      try state.finish(operation, .dropped)
    }
    let words = "it was sent, and the org could not be queried about it"
    try settle(
      edits.map { edit in
        dropped.contains(edit.id)
          ? (edit, Settlement(.discarded)) : (edit, Settlement(.unconfirmed, .because(words)))
      })
  }

  /// Resolves creates whose record an operator named; returns the writes that are still unconfirmed.
  nonisolated(nonsending) func settleNamed(
    _ doubtful: [Write]
  ) async throws -> [Write] {
    var rest: [Write] = []
    for write in doubtful {
      guard let pending = write.edit.decision, case .record(let id) = pending.decision,
        write.operation.action == .create || write.operation.action == .upsert,
        let access = try await asker(of: write.edit.snapshotID)
      else {
        rest.append(write)
        continue
      }
      do {
        try await settle(write, pending, id, access)
      } catch let error as OrgError {
        // It is looked up with the other unconfirmed writes and reported.
        try await checkAlone(error, access)
        rest.append(write)
      }
    }
    return rest
  }

  private nonisolated(nonsending) func settle(
    _ write: Write, _ pending: PendingDecision, _ id: String, _ access: RecordReader
  ) async throws {
    var operation = write.operation
    guard try !state.isClaimed(recordID: id) else {
      return try refuse(write, pending, "another edit created \(id)")
    }
    guard let made = try await named(id, operation, access) else {
      return try refuse(write, pending, "the org has no \(operation.sobject) \(id)")
    }
    try state.connection.transaction {
      try state.finish(operation, .done(recordID: made.id))
      var settlement = outcome(of: operation, write.edit, id: made.id, created: true)
      Self.tell(made, operation, &settlement.detail)
      settlement.detail.message = "\(pending.by) said that this is the record"
      try settle(operation.editID, settlement)
    }
    summary.writes += 1
    operation.recordID = made.id
    try await recordServerState(after: [([operation], access)])
  }

  /// The named record, compared with what was sent.
  private nonisolated(nonsending) func named(
    _ id: String, _ operation: OperationRow, _ access: RecordReader
  ) async throws -> UnacknowledgedCreates.Made? {
    let sent = try resolved(operation).payload
    do {
      let fields = UnacknowledgedCreates.readable(
        operation.payload.names, try await access.describe(operation.sobject),
        and: UnacknowledgedCreates.auditFields)
      let found = try await access.records(operation.sobject, ids: [id], fields: fields)
      return found[id].flatMap { UnacknowledgedCreates.Made($0, sent: sent) }
    } catch {
      guard error.isAboutTheObject else { throw error }
      return nil
    }
  }

  private func refuse(
    _ write: Write, _ pending: PendingDecision, _ words: String
  ) throws {
    try state.connection.transaction {
      var detail = write.operation.expected.detail
      detail.message = "\(words); it stays unconfirmed: decide again"
      detail.decision = try state.refuseDecision(pending, run: run.id)
      try settle(write.edit.id, Settlement(.unconfirmed, detail))
    }
  }

  /// The decision about a write whose outcome the org does not show; nil if there is none.
  ///
  /// As long as the request may still arrive, no other is sent. A decision to retry is about the
  /// write that the operator knew of; it does not repeat what the decision itself has sent.
  func decidedInDoubt(_ write: Write, isOver: Bool) -> Decision? {
    guard let pending = write.edit.decision else { return nil }
    let decision = pending.decision
    switch decision {
    case .device, .set:
      let isAbout = pending.lastOperation.map { write.operation.id <= $0 } ?? false
      return isOver && pending.verdict == .unconfirmed && isAbout ? decision : nil
    case .discard: return decision
    case .server, .record, .retry, .undo: return nil
    }
  }
}
