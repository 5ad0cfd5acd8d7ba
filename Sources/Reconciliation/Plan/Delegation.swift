import JSON
import Ledger
import MobileSync
import Salesforce

/// The IDs of records that a query asks about or that were issued, by soup and overall.
package struct IssuedIDs: Sendable, Hashable {
  /// The IDs by soup.
  package var inSoup: [SoupKey: Set<String>] = [:]
  /// The IDs in any soup.
  package var anywhere: Set<String> = []

  package init() {}

  var isEmpty: Bool { inSoup.values.allSatisfy(\.isEmpty) && anywhere.isEmpty }
}

/// Returns which of some records a snapshot was issued with, in any known generation.
package typealias IssuedLookup =
  @Sendable (_ snapshotID: String, _ asked: IssuedIDs) throws -> IssuedIDs

/// Edits that are sent with another user's permissions: what `PermissionRule` allows.
struct Delegation {
  let state: LedgerDatabase
  let snapshotID: String
  let records: RecordReader
  let rules: [ReconciledSync]
  let lookup: IssuedLookup
  private var issued = IssuedIDs()

  /// The delegation for a snapshot that is sent as another user; nil if its own user sends it.
  init?(_ planner: SnapshotPlanner) {
    guard planner.records.session.identity.userID != planner.snapshotID else { return nil }
    state = planner.state
    snapshotID = planner.snapshotID
    records = planner.records
    rules = planner.rules
    lookup = planner.issued
  }

  // MARK: records

  /// The candidates whose records may be written; the others are resolved.
  mutating func admit(
    _ candidates: [Candidate], into plan: inout SnapshotPlan
  ) throws -> [Candidate] {
    try learn(candidates)
    var admitted: [Candidate] = []
    for candidate in candidates {
      if let found = try restriction(of: candidate), !found.isLifted(for: candidate.edit) {
        plan.settled.append((candidate.edit, found.settlement(of: candidate.edit)))
      } else {
        admitted.append(candidate)
      }
    }
    return admitted
  }

  private func restriction(
    of candidate: Candidate
  ) throws -> PermissionRule.Restriction? {
    guard candidate.operation != .dropLocally, candidate.operation != .none else { return nil }
    let isNew = candidate.operation == .create
    return PermissionRule.restriction(
      of: PermissionRule.Subject(
        sobject: candidate.sobject, types: rules[candidate.sync].types, isNew: isNew,
        isGiven: try isNew || isGiven(candidate.edit)))
  }

  /// Whether the edit's record was issued to the user or created by the user's edit.
  ///
  /// The ID in a device's row shows nothing. An edit of a row that became a record is of that
  /// record (`OpenEdit.recordID`), whatever ID the device has since put into the row.
  private func isGiven(_ edit: OpenEdit) throws -> Bool {
    if edit.creation?.recordID != nil { return true }
    guard let id = edit.serverID else { return false }
    return try edit.base != nil || isGiven(id, edit)
  }

  /// Looks up in one query which of the candidates' records and references were issued.
  private mutating func learn(_ candidates: [Candidate]) throws {
    var own = IssuedIDs()
    var global = IssuedIDs()
    for candidate in candidates {
      let edit = candidate.edit
      if edit.base == nil, let id = edit.serverID {
        if edit.soup.store.scope == .global {
          global.inSoup[edit.soup, default: []].insert(id)
        } else {
          own.inSoup[edit.soup, default: []].insert(id)
        }
      }
      for (name, value) in candidate.element where name != "Id" {
        if let id = value.string?.recordID18 { own.anywhere.insert(id) }
      }
    }
    global.anywhere = own.anywhere
    try add(own, global)
  }

  private mutating func add(_ own: IssuedIDs, _ global: IssuedIDs) throws {
    for (id, asked) in [(snapshotID, own), (SnapshotID.global, global)] where !asked.isEmpty {
      let found = try lookup(id, asked)
      issued.inSoup.merge(found.inSoup) { $0.union($1) }
      issued.anywhere.formUnion(found.anywhere)
    }
  }

  /// Resolves upserts that would change a record that the user may not change; `keyed` is the org's
  /// record for each external ID.
  mutating func admit(
    upserts keyed: [Int64: UpsertRule.Keyed], among candidates: inout [Candidate],
    into plan: inout SnapshotPlan
  ) throws {
    var own = IssuedIDs()
    var global = IssuedIDs()
    for candidate in candidates {
      guard case .found(let record)? = keyed[candidate.edit.id],
        let id = UnacknowledgedCreates.id(of: record)
      else { continue }
      if candidate.edit.soup.store.scope == .global {
        global.inSoup[candidate.edit.soup, default: []].insert(id)
      } else {
        own.inSoup[candidate.edit.soup, default: []].insert(id)
      }
    }
    try add(own, global)
    try candidates.removeAll { candidate in
      // If several records match, the write asks which one it means before it is sent.
      guard case .found(let record)? = keyed[candidate.edit.id] else { return false }
      let id = UnacknowledgedCreates.id(of: record)
      if let id, try isGiven(id, candidate.edit) { return false }
      let found = PermissionRule.Restriction(.externalID, recordID: id)
      if found.isLifted(for: candidate.edit) { return false }
      var settlement = found.settlement(of: candidate.edit)
      // An operator who allows it sees what it overwrites.
      settlement.detail.fields = UpsertRule.differences(
        candidate.element, candidate.listed, server: record, base: nil)
      plan.settled.append((candidate.edit, settlement))
      return true
    }
  }

  private func isGiven(_ id: String, _ edit: OpenEdit) throws -> Bool {
    try issued.inSoup[edit.soup]?.contains(id) == true
      || state.hasMade(id, snapshotID: snapshotID)
  }

  // MARK: writes

  /// Withdraws the write of a candidate that refers to, or would become, a record that is not
  /// permitted.
  nonisolated(nonsending) mutating func check(
    _ candidate: Candidate, in plan: inout SnapshotPlan
  ) async throws {
    guard let send = plan.sends.last, send.edit.id == candidate.edit.id else { return }
    let found =
      try await restrictions(ofReferences: send, candidate)
      + (try await restrictions(ofUpsert: send))
    guard let first = found.first(where: { !$0.isLifted(for: send.edit) }) else { return }
    plan.sends.removeLast()
    plan.settled.append((send.edit, first.settlement(of: send.edit)))
  }

  private nonisolated(nonsending) mutating func restrictions(
    ofReferences send: Write, _ candidate: Candidate
  ) async throws -> [PermissionRule.Restriction] {
    var server = JSONObject()
    if case .alive(_, let fields) = candidate.server { server = fields }
    let references = PermissionRule.references(
      in: send.payload, of: try await describe(send.sobject)
    ) { name in [send.edit.base?.fields[name], server[name]].compactMap(\.self) }
    // An ID that replaced a local one was not in the element.
    var asked = IssuedIDs()
    asked.anywhere = Set(references.compactMap(\.newID)).subtracting(issued.anywhere)
    try add(asked, asked)
    var made: Set<String> = [snapshotID]
    for id in asked.anywhere where try state.hasMade(id, snapshotID: snapshotID) {
      made.insert(id)
    }
    return PermissionRule.restrictions(of: references) {
      made.contains($0) || issued.anywhere.contains($0)
    }
  }

  /// Whether an upsert would change a record that the user may not change.
  private nonisolated(nonsending) mutating func restrictions(
    ofUpsert send: Write
  ) async throws -> [PermissionRule.Restriction] {
    // The record found under the external id was checked before.
    guard send.action == .upsert, send.seen == nil, let field = send.externalField,
      let value = send.externalValue
    else { return [] }
    var found: [PermissionRule.Restriction] = []
    for id in try await recordIDs(send.sobject, field, value) {
      var asked = IssuedIDs()
      asked.inSoup[send.edit.soup] = [id]
      let isGlobal = send.edit.soup.store.scope == .global
      try isGlobal ? add(IssuedIDs(), asked) : add(asked, IssuedIDs())
      if try !isGiven(id, send.edit) {
        found.append(PermissionRule.Restriction(.externalID, recordID: id))
      }
    }
    return found
  }

  private nonisolated(nonsending) func recordIDs(
    _ sobject: String, _ field: String, _ value: String
  ) async throws -> [String] {
    do {
      let rows = try await records.records(
        records.describe(sobject), fields: ["Id"], externalID: field, among: [value])
      return (rows ?? []).compactMap { $0["Id"]?.string?.recordID18 }
    } catch {
      // The write itself will report what is wrong with the object.
      guard error.isAboutTheObject else { throw error }
      return []
    }
  }

  private nonisolated(nonsending) func describe(_ sobject: String) async throws -> Describe? {
    do {
      return try await records.describe(sobject)
    } catch {
      guard error.isAboutTheObject else { throw error }
      return nil
    }
  }

}

extension LedgerDatabase {
  /// Whether an edit of a snapshot created the record.
  ///
  /// An ID that a device's own sync put into its row is only the device's claim.
  func hasMade(_ recordID: String, snapshotID: String) throws -> Bool {
    try connection.integer(
      """
      SELECT 1 WHERE EXISTS (
          SELECT 1 FROM creation c JOIN edit e ON e.creation_id = c.id
            JOIN seen n ON n.edit_id = e.id JOIN returned r ON r.id = n.return_id
          WHERE c.record_id = \(recordID) AND r.snapshot_id = \(snapshotID))
        OR EXISTS (
          SELECT 1 FROM operation o JOIN edit e ON e.id = o.edit_id
            JOIN returned r ON r.id = e.return_id
          WHERE o.result_id = \(recordID) AND o.action = 'create' AND o.state = \(OperationState.done)
            AND r.snapshot_id = \(snapshotID))
      """) != nil
  }
}
