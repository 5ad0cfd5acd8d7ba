import JSON
import Ledger
import MobileSync
import Salesforce

// The payload of an edit.
extension SnapshotPlanner {
  nonisolated(nonsending) func add(
    _ candidate: Candidate, _ action: SyncUpAction, _ expected: Settlement,
    _ condition: String?, _ keyed: UpsertRule.Keyed?, to plan: inout SnapshotPlan
  ) async throws {
    let edit = candidate.edit
    let rule = rules[candidate.sync]
    var send = Write(
      edit: edit, sync: candidate.sync,
      operation: OperationRow(
        editID: edit.id, action: action, sobject: candidate.sobject,
        recordID: action == .create || action == .upsert ? nil : edit.recordID,
        expected: naming(candidate, expected),
        modificationField: rule.target.modificationDateFieldName),
      condition: condition, isStrict: options.conditionalUpdates)
    if action == .create, let old = edit.recordID {
      send.expected.detail.recordID = nil
      send.expected.detail.otherID = old
    }
    if action == .update, case .merged(let master) = candidate.server {
      send.expected.detail.otherID = edit.recordID
      send.recordID = master
    }
    if action != .delete {
      var names = try fields(of: candidate, for: action == .update ? .update : .create)
      if action != .create, let sent = ThreeWayRule.sentFields(candidate) {
        names.removeAll { !sent.contains($0) }
      }
      let element = JSONValue.object(candidate.element)
      for name in names { send.payload[name] = JSONProjection.project(name, from: element) }
      if action == .create, edit.recordID != nil, try state.isOfCarriedRow(edit.id) {
        // A redelivered edit has only the edited fields from the bundle; the rest is as the device
        // had it before.
        for name in names where candidate.element[name] == nil {
          send.payload[name] = edit.base?.fields[name]
        }
      }
      if case .set(let values, _)? = edit.decision?.decision {
        for (name, value) in values { send.payload[name] = value }
        if send.expected.verdict == .created {
          send.expected.detail.enter(values, beside: send.payload)
        }
      }
    }
    if action == .create, let field = options.correlationField(candidate.sobject),
      let identity = try state.identity(of: edit)
    {
      send.externalField = field.name
      send.externalValue = CorrelationField.value(of: identity)
      send.payload[field.name] = nil
    }
    if action == .upsert, let field = rule.target.externalIdFieldName {
      send.externalField = field
      send.externalValue = candidate.element[field].flatMap(Self.text)
      send.payload[field] = nil
      switch keyed {
      case .absent?: send.seen = .null
      case .found(let record)?: send.seen = .object(record)
      case .unknown?, nil: break
      }
    }
    if let missing = try await resolveReferences(&send) {
      plan.settled.append((edit, send.blocked(because: missing)))
      return
    }
    if action == .create || action == .upsert { try await setOwner(&send) }
    if action == .update { compare(&send, candidate) }
    if action == .delete { send.parents = Self.references(candidate.element) }
    plan.sends.append(send)
  }

  /// Compares an update with the values read from the org.
  ///
  /// If the org refused it before, it is sent again without unchanged references, because the org
  /// refuses the whole update if one of them is to a deleted record.
  private func compare(_ send: inout Write, _ candidate: Candidate) {
    send.seen = Self.former(send.payload.names, candidate)
    if redone.contains(send.edit.id) { send.leaveOutHeldReferences() }
  }

  /// The org's values in the fields that an update sends, with which it can be undone.
  private static func former(_ names: [String], _ candidate: Candidate) -> JSONValue? {
    let read: JSONObject
    var date: String?
    switch candidate.server {
    case .alive(let alive, let fields): (date, read) = (alive, fields)
    case .merged:
      (date, read) = (candidate.remaining?.date, candidate.remaining?.fields ?? [:])
    case .deleted, .hidden, .unknown: return nil
    }
    let former = names.reduce(into: JSONObject()) { former, name in
      if let value = read[name] { former[name] = value }
    }
    return .object(dated(former, date))
  }

  /// The values of a record as read, with its date.
  static func dated(_ values: JSONObject, _ date: String?) -> JSONObject {
    var values = values
    values[OperationRow.dateKey] = date.map(JSONValue.string)
    return values
  }

  /// A record that the integration user creates is owned by the snapshot's user.
  private nonisolated(nonsending) func setOwner(_ send: inout Write) async throws {
    guard options.sendAs == .integration, snapshotID != SnapshotID.global,
      send.payload["OwnerId"] == nil
    else { return }
    do {
      let owner = try await records.describe(send.sobject).field("OwnerId")
      if owner?.isCreateable == true { send.payload["OwnerId"] = .string(snapshotID) }
    } catch {
      // The create itself will report what is wrong with the object.
      guard error.isAboutTheObject else { throw error }
    }
  }

  /// Blocks sends that need a record which this plan does not create, and the sends that need
  /// those.
  func blockOrphans(_ plan: inout SnapshotPlan) {
    while true {
      let made = Set(plan.sends.compactMap { Self.makes($0) })
      let orphans = plan.sends.filter { !$0.needs.isSubset(of: made) }
      if orphans.isEmpty { return }
      for orphan in orphans {
        let field = orphan.waiting.filter { !made.contains($0.value) }.keys.min()
        plan.settled.append((orphan.edit, orphan.blocked(by: field ?? orphan.tree?.field ?? "it")))
      }
      let blocked = Set(orphans.map(\.edit.id))
      plan.sends.removeAll { blocked.contains($0.edit.id) }
    }
  }
}

extension OutcomeDetail {
  /// Reports an operator's values of a new record with the values that they replace; values that
  /// are not sent are not reported.
  fileprivate mutating func enter(_ values: JSONObject, beside payload: JSONObject) {
    fields.removeAll { payload[$0.name] == nil }
    for (name, value) in values {
      if let place = fields.firstIndex(where: { $0.name == name }) {
        fields[place] = fields[place].entering(value)
      } else if !FieldValue.isSame(value, nil) {
        fields.append(
          FieldDifference(name: name, base: nil, device: nil, server: nil).entering(value))
      }
    }
  }
}
