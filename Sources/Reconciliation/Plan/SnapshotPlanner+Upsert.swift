import JSON
import Ledger
import MobileSync
import Salesforce
import System

extension SnapshotPlanner {
  /// The org's records with the external IDs of creates that are sent as upserts, by edit.
  nonisolated(nonsending) func keyed(_ candidates: [Candidate]) async throws -> [Int64: UpsertRule
    .Keyed]
  {
    var answers: [Int64: UpsertRule.Keyed] = [:]
    for (key, group) in keyGroups(candidates) {
      do throws(OrgError) {
        let describe = try await records.describe(key.sobject)
        for part in group.parts(of: RequestLimits.listedValues) {
          guard let (fields, _) = search(key, part, of: group, describe) else { continue }
          let values = Set(part.map(\.value)).sorted()
          let found = try await records.keyed(describe, key.field, values, fields: fields)
          for (candidate, value) in part { answers[candidate.edit.id] = found[value] }
        }
      } catch {
        // The upsert itself will report what is wrong with the object.
        guard error.isAboutTheObject else { throw error }
      }
    }
    return answers
  }

  typealias Upserted = (candidate: Candidate, value: String)

  /// The creates that are sent as upserts, by object and field.
  func keyGroups(_ candidates: [Candidate]) -> [(key: UpsertKey, value: [Upserted])] {
    var groups: [UpsertKey: [Upserted]] = [:]
    for candidate in candidates {
      guard let (field, value) = externalKey(candidate) else { continue }
      groups[UpsertKey(sobject: candidate.sobject, field: field), default: []].append(
        (candidate, value))
    }
    return groups.sorted { ($0.key.sobject, $0.key.field) < ($1.key.sobject, $1.key.field) }
  }

  /// The query for the records of a part of such a group; nil if no record can have the values.
  func search(
    _ key: UpsertKey, _ part: [Upserted], of group: [Upserted], _ describe: Describe
  ) -> (fields: [String], condition: String)? {
    // Whichever sync up sends it in the end, and whatever the decision is.
    let soups = Set(group.map(\.candidate.edit.soup))
    let dates = rules.filter { soups.contains($0.soup) }.map(\.target.modificationDateFieldName)
    let names =
      group.flatMap { rules.fields(of: $0.candidate.edit.soup, for: .create) }
      + group.flatMap { $0.candidate.listed } + [key.field] + dates
    return ExternalIDQuery.condition(
      describe, field: key.field, values: Array(Set(part.map(\.value))).sorted()
    ).map {
      (UnacknowledgedCreates.readable(names, describe, and: UnacknowledgedCreates.auditFields), $0)
    }
  }

  /// Edits about the record or external ID of another edit that identifies it differently, each
  /// with those edits.
  ///
  /// These are creates with one external ID, and a create with the edits of the record that has its
  /// external ID: others of this plan, those waiting in the ledger, and those that were sent after the
  /// create's bundle was issued. Each would overwrite the one before it.
  func rivals(
    _ candidates: [Candidate], _ keyed: [Int64: UpsertRule.Keyed]
  ) throws -> [Int64: [Int64]] {
    let groups = try Dictionary(grouping: candidates) { try key(of: $0) }
    let standing = try standing(candidates)
    let found = keyed.compactMapValues { answer -> String? in
      if case .found(let record) = answer { UnacknowledgedCreates.id(of: record) } else { nil }
    }
    let direct = try directEdits(of: Set(found.values), candidates)
    var rivals: [Int64: [Int64]] = [:]
    func oppose(_ candidate: Candidate, _ deviceDate: String?, _ claims: [RecordClaim]) {
      let others = DeviceConflictRule.opponents(
        of: candidate.edit.claim, deviceDate: deviceDate, issued: candidate.edit.issued,
        claims: claims, policy: options.deviceConflicts)
      if !others.isEmpty { rivals[candidate.edit.id] = others }
    }
    for (key, group) in groups where key != nil {
      for candidate in group where candidate.edit.decision?.decision.sends != true {
        var claims = group.map(\.edit.claim) + standing[candidate.edit.id, default: []]
        if let id = found[candidate.edit.id] {
          claims += try sentMeanwhile(candidate.edit, id) + waiting(candidate.edit, id)
          claims += direct[id, default: []].map(\.edit.claim)
        }
        oppose(candidate, nil, claims)
      }
    }
    for (id, group) in direct {
      let claims = candidates.filter { found[$0.edit.id] == id }.map(\.edit.claim)
      for candidate in group where candidate.edit.decision?.decision.sends != true {
        oppose(candidate, candidate.edit.modificationDate, claims)
      }
    }
    return rivals
  }

  /// The edits of a plan that identify some records by ID and have something to send, by record.
  private func directEdits(
    of records: Set<String>, _ candidates: [Candidate]
  ) throws -> [String: [Candidate]] {
    var edits: [String: [Candidate]] = [:]
    for candidate in candidates where candidate.isOfRecord {
      guard let id = candidate.remainingID ?? candidate.edit.recordID, records.contains(id),
        candidate.edit.decision?.decision != .server,
        try !changesNothing(candidate.edit, editedFields(of: candidate.edit))
      else { continue }
      edits[id, default: []].append(candidate)
    }
    return edits
  }

  /// The claims of other edits of a record that wait in the ledger, of any device.
  private func waiting(_ edit: OpenEdit, _ recordID: String) throws -> [RecordClaim] {
    try histories.history(ofRecord: recordID).claims.filter { claim in
      guard claim.isUndecided, claim.writtenDate == nil, claim.editID != edit.id,
        let other = try state.openEdit(id: claim.editID),
        other.creation == nil || other.creation?.id != edit.creation?.id
      else { return false }
      switch other.decision?.decision {
      case .server?, .discard?: return false
      case .device?, .set?, .record?, .retry?, .undo?, nil:
        return try !changesNothing(other, editedFields(of: other))
      }
    }
  }

  /// The claims of waiting creates with the same external ID, from this run's other users and from
  /// earlier runs, by create.
  private func standing(_ candidates: [Candidate]) throws -> [Int64: [RecordClaim]] {
    let keyed = candidates.filter { externalKey($0) != nil }
    let known = Set(candidates.map(\.edit.id))
    var claims: [Int64: [RecordClaim]] = [:]
    for (sobject, group) in Dictionary(grouping: keyed, by: \.sobject) {
      for other in try state.waitingCreates(sobject) where !known.contains(other.claim.editID) {
        let element = (try? JSONValue(parsing: other.element))?.object ?? [:]
        for candidate in group where candidate.edit.creation?.id != other.creation {
          guard let (field, value) = externalKey(candidate),
            element[field].flatMap(Self.text)?.lowercased() == value.lowercased()
          else { continue }
          claims[candidate.edit.id, default: []].append(other.claim)
        }
      }
    }
    return claims
  }

  /// The external ID of the record that an edit creates, or recreates.
  private func key(of candidate: Candidate) throws -> String? {
    let operation = try recreates(candidate) ? .create : candidate.operation
    guard
      let (field, value) = rules[candidate.sync].externalKey(of: candidate.element, operation)
    else { return nil }
    return [candidate.sobject, field, value].map { $0.lowercased() }.joined(separator: "\n")
  }

  /// Whether an edit's record is gone and is recreated if the edit is sent.
  private func recreates(_ candidate: Candidate) throws -> Bool {
    guard candidate.operation == .update, candidate.server == .deleted else { return false }
    let mode = mode(of: candidate.edit, candidate.sync)
    return try MissingRecordRule.step(.update, .deleted, mode, options.recreateDeleted) == .recreate
      && !changesNothing(candidate.edit, editedFields(of: candidate.edit))
  }

  /// The claims of a record's edits that were sent after a create's bundle was issued, except those of
  /// the create's own row: the row has nothing of what they sent.
  private func sentMeanwhile(_ edit: OpenEdit, _ recordID: String) throws -> [RecordClaim] {
    let history = try histories.history(ofRecord: recordID)
    return history.claims.filter { claim in
      let creation = history.entry(claim.editID)?.creationID
      return claim.writtenDate != nil && claim.isNews(toBundleOf: edit.issued)
        && (creation == nil || creation != edit.creation?.id)
    }
  }

  /// The verdict of an edit if others identify its record differently.
  func sameRecord(
    _ candidate: Candidate, _ others: [Int64], _ keyed: UpsertRule.Keyed?
  ) throws -> Settlement {
    let isKeyed = externalKey(candidate) != nil
    let areNew = try others.allSatisfy { try state.openEdit(id: $0)?.syncOperation == .create }
    var detail = OutcomeDetail.because(
      !isKeyed
        ? "a new record has the same external ID as this one"
        : areNew
          ? "another new record has the same external ID"
          : "other edits are about the record with its external ID",
      fields: try editedFields(of: candidate.edit).edited, otherEdits: others)
    if case .found(let record)? = keyed { detail.showServer(record) }
    if case .alive(_, let record) = candidate.server { detail.showServer(record) }
    return isKeyed
      ? Settlement(.deviceConflict, detail) : naming(candidate, Settlement(.deviceConflict, detail))
  }

  /// The field and value of a create that is upserted; nil for other edits.
  func externalKey(_ candidate: Candidate) -> (field: String, value: String)? {
    rules[candidate.sync].externalKey(of: candidate.element, candidate.operation)
  }

  /// The step of a create that is sent as an upsert; nil for other edits.
  nonisolated(nonsending) func upsertStep(
    _ candidate: Candidate, _ keyed: UpsertRule.Keyed?
  ) async throws -> ThreeWayRule.Step? {
    guard candidate.upserts, let keyed,
      case .send(_, let expected, _) = ThreeWayRule.create(candidate)
    else { return nil }
    var attempt = try state.lostUpsert(of: candidate.edit.id)
    if attempt == nil, candidate.edit.mayHaveBeenSent {
      attempt = UpsertRule.Attempt(isPresumed: true)
    }
    if case .absent = keyed, attempt?.isPresumed == true {
      attempt?.seen = try await deletedUpsert(candidate)
    }
    if case .absent = keyed, let id = UnacknowledgedCreates.id(ofSeen: attempt?.seen) {
      attempt?.fate = try await records.prove(candidate.sobject, absent: [id])[id]
    }
    return UpsertRule.step(
      candidate, keyed, dateField: rules[candidate.sync].target.modificationDateFieldName,
      after: attempt, expected: expected)
  }
}

extension SnapshotPlanner {
  /// The deleted record with the external ID of an edit that may have been sent: it was created,
  /// and has been deleted since.
  private nonisolated(nonsending) func deletedUpsert(
    _ candidate: Candidate
  ) async throws -> JSONValue? {
    guard let field = rules[candidate.sync].target.externalIdFieldName,
      let value = candidate.element[field].flatMap(Self.text)
    else { return nil }
    let resolver = InDoubtResolver(reader: records, unansweredWaitSeconds: 0) { _ in false }
    let write = PendingWrite(
      .upsert, candidate.sobject, userID: nil, externalField: field, externalValue: value,
      fields: [:], since: 0, sent: 0)
    let rows = try await resolver.keyedRecords(of: write, candidate.sobject) ?? []
    return rows.first { $0["IsDeleted"]?.bool == true }.map { .object($0) }
  }
}

extension LedgerDatabase {
  /// The last upsert of an edit that got no answer and is not known to be done.
  ///
  /// The org did nothing with upserts that it refused since.
  func lostUpsert(of edit: Int64) throws -> UpsertRule.Attempt? {
    let row = try connection.first(
      """
      SELECT state, seen, is_doubted FROM operation
      WHERE edit_id = \(edit) AND action = 'upsert' AND sent_ms IS NOT NULL
        AND state NOT IN (\(OperationState.conflict), \(OperationState.rejected))
      ORDER BY id DESC LIMIT 1
      """)
    guard let row, row[0].text == "dropped", row[2].integer == 1 else { return nil }
    return UpsertRule.Attempt(seen: try row[1].text.map { try parse($0, "an operation") })
  }
}

extension Candidate {
  /// The surviving record if the edit's record was merged.
  fileprivate var remainingID: String? { server.masterID }
}

extension SnapshotPlan {
  /// Leaves edits open that write to the target of another edit of the plan; they are planned again
  /// when the ledger has the other write.
  ///
  /// Only now is it known which record an upsert means, or an edit of a merged record.
  mutating func leaveOutRepeated() {
    let keys = Set(sends.compactMap(\.upsertKey))
    var written: Set<String> = []
    var left: Set<Int64> = []
    for send in sends {
      let targets = send.targets(keys)
      if written.isDisjoint(with: targets) {
        written.formUnion(targets)
      } else {
        left.insert(send.edit.id)
      }
    }
    if left.isEmpty { return }
    // Sends that need a record that is not created yet wait with it.
    while true {
      let gone = Set(
        sends.filter { left.contains($0.edit.id) }.compactMap { SnapshotPlanner.makes($0) })
      let more = sends.filter { !left.contains($0.edit.id) && !$0.needs.isDisjoint(with: gone) }
      if more.isEmpty { break }
      left.formUnion(more.map(\.edit.id))
    }
    sends.removeAll { left.contains($0.edit.id) }
  }
}
