import JSON
import Ledger
import MobileSync
import Salesforce
import System

// What people have decided about writes in doubt, and about records that were made twice.
extension Reconciler {
  // MARK: created twice

  /// An edit with the record that a person has chosen of two; the ledger keeps it with the edit's verdict.
  static func withChosenRecord(_ edit: OpenEdit) -> OpenEdit {
    guard case .record(let id)? = edit.decision?.decision,
      edit.decision?.verdict == .duplicateCreated, edit.creation != nil
    else { return edit }
    return edit.choosing(id)
  }

  // MARK: refused

  /// Settles new records that the org refused and for which a person has named one that it has, and answers
  /// the other edits.
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
      // What is noted of the record and the verdict are one: a run that dies has left both or neither.
      if let (record, fields, date) = try await held(id, edit, planner) {
        let left = fields.reduce(into: JSONObject()) { $0[$1] = record[$1] }
        let element = (try? JSONValue(parsing: edit.element))?.object ?? [:]
        let comparison = FieldComparison(
          device: element, base: nil, server: record, listed: fields)
        var detail = OutcomeDetail.because(
          "\(pending.by) said that this is the record; what the org holds stands")
        detail.recordID = id
        detail.fields = comparison.edited
        try state.connection.transaction {
          try state.noteNamed(id, of: creation.id, by: pending, left: left, date: date)
          try state.settle(edit.id, run: run.id, Settlement(.alreadyInOrg, detail))
        }
      } else {
        var detail = try state.decidable(edit.id)?.detail ?? OutcomeDetail()
        detail.message =
          "the org has no \(edit.sobject ?? "such record") \(id) that the user sees: decide again"
        try state.connection.transaction {
          detail.decision = try state.refuseDecision(pending, run: run.id)
          try state.settle(edit.id, run: run.id, Settlement(.failed, detail))
        }
      }
      tellProgress()
    }
    return rest
  }

  /// The record that was named, with those of the fields that the edit would have sent, and its date; nil where
  /// there is none.
  private nonisolated(nonsending) func held(
    _ id: String, _ edit: OpenEdit, _ planner: SnapshotPlanner
  ) async throws -> (record: JSONObject, fields: [String], date: String?)? {
    guard let candidate = try? planner.candidate(edit) else { return nil }
    do {
      let describe = try await planner.records.describe(candidate.sobject)
      let fields = candidate.listed.filter { $0 != "Id" && describe.field($0)?.name == $0 }
      let dateField = planner.rules[candidate.sync].target.modificationDateFieldName
      let found = try await planner.records.records(
        candidate.sobject, ids: [id], fields: ["Id"] + Set(fields + [dateField]).sorted())
      return found[id].map { ($0, fields, $0[dateField]?.string) }
    } catch {
      guard error.isAboutTheObject else { throw error }
      return nil
    }
  }

  // MARK: in doubt

  /// Leaves edits in doubt of which nobody could ask; those that a person gave up are settled.
  func leaveInDoubt(_ edits: [OpenEdit]) throws {
    let dropped = Set(edits.filter { $0.decision?.decision == .discard }.map(\.id))
    for operation in try state.unfinishedOperations() where dropped.contains(operation.editID) {
      try state.move(operation, to: .dropped)
    }
    let words = "it was sent, and the org could not be asked about it"
    try settle(
      edits.map { edit in
        dropped.contains(edit.id)
          ? (edit, Settlement(.discarded)) : (edit, Settlement(.unconfirmed, .because(words)))
      })
  }

  /// Settles creates whose record a person has named; returns the writes that are in doubt still.
  nonisolated(nonsending) func settleNamed(
    _ doubtful: [(String, DoubtfulWrite)]
  ) async throws -> [(String, DoubtfulWrite)] {
    var rest: [(String, DoubtfulWrite)] = []
    for (snapshotID, write) in doubtful {
      guard let pending = write.edit.decision, case .record(let id) = pending.decision,
        write.operation.action == .create || write.operation.action == .upsert,
        let access = try await asker(of: snapshotID)
      else {
        rest.append((snapshotID, write))
        continue
      }
      do {
        try await settle(write, pending, id, access)
      } catch let error as OrgError {
        // It is asked about with the others in doubt, and told.
        try await checkAlone(error, access)
        rest.append((snapshotID, write))
      }
    }
    return rest
  }

  private nonisolated(nonsending) func settle(
    _ write: DoubtfulWrite, _ pending: PendingDecision, _ id: String, _ access: RecordReader
  ) async throws {
    var operation = write.operation
    guard try !state.isClaimed(recordID: id) else {
      return try refuse(write, pending, "another edit has made \(id)")
    }
    guard let made = try await named(id, operation, access) else {
      return try refuse(write, pending, "the org has no \(operation.sobject) \(id)")
    }
    try state.connection.transaction {
      try state.finish(operation, .done(recordID: made.id))
      var settlement = outcome(of: operation, write.edit, id: made.id, created: true)
      Self.tell(made, operation, &settlement.detail)
      settlement.detail.message = "\(pending.by) said that this is the record"
      try state.settle(operation.editID, run: run.id, settlement)
    }
    summary.writes += 1
    operation.recordID = made.id
    try await recordServerState(after: [([operation], access)])
  }

  /// The record that was named, beside what was sent.
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
    _ write: DoubtfulWrite, _ pending: PendingDecision, _ words: String
  ) throws {
    try state.connection.transaction {
      var detail = write.operation.expected.detail
      detail.message = "\(words); it stays unconfirmed: decide again"
      detail.decision = try state.refuseDecision(pending, run: run.id)
      try state.settle(write.edit.id, run: run.id, Settlement(.unconfirmed, detail))
    }
  }

  /// What a person has decided about a write of which the org does not tell what became; nil for nothing.
  ///
  /// While a request may be on its way still, none is sent beside it. To send once more was decided of the
  /// write that the person knew of: what the decision itself has sent is not sent again by it.
  func decidedInDoubt(_ write: DoubtfulWrite, isOver: Bool) throws -> Decision? {
    guard let pending = write.edit.decision else { return nil }
    let decision = pending.decision
    switch decision {
    case .device, .set:
      let isAbout =
        if let last = pending.lastOperation { write.operation.id <= last } else {
          try state.wasPlanned(write.operation, before: pending.time)
        }
      return isOver && pending.verdict == .unconfirmed && isAbout ? decision : nil
    case .discard: return decision
    case .server, .record, .retry, .undo: return nil
    }
  }
}

extension LedgerDatabase {
  /// Says whether a write is of a run that had begun at a time, in ms of the wall clock: all that a decision
  /// tells which a ledger of an earlier version has taken in.
  fileprivate func wasPlanned(_ operation: OperationRow, before time: Int64) throws -> Bool {
    try connection.integer(
      """
      SELECT 1 FROM operation o JOIN run r ON r.id = o.run_id
      WHERE o.id = \(operation.id) AND r.started_ms <= \(time)
      """) != nil
  }
}
