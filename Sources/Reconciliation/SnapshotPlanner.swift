import JSON
import MobileSync
import Salesforce

/// Plans what becomes of the open edits of one snapshot: reads, decides, orders; sends nothing.
struct SnapshotPlanner {
  let state: LedgerDatabase
  let options: ReconcileOptions
  let rules: [SyncUpRule]
  let snapshotID: String
  let records: OrgRecords
  let report: (ReconcileEvent) -> Void
  /// What the snapshot was issued with.
  let issued: IssuedLookup
  /// The run that plans; a dry run has none.
  var run = ""
  /// Edits that a dry run takes for sent.
  var assumedClosed: Set<Int64> = []

  /// The plan for `edits`.
  func plan(_ edits: [OpenEdit]) async throws -> SnapshotPlan {
    var plan = SnapshotPlan(snapshotID: snapshotID)
    var candidates: [Candidate] = []
    for edit in edits {
      if let settlement = try settlementWithoutOrg(edit) {
        plan.settled.append((edit, settlement))
      } else {
        do {
          candidates.append(try candidate(edit))
        } catch let error as SyncError {
          plan.settled.append((edit, Settlement(.failed, .because(error.description))))
        } catch let error as JSONError {
          plan.settled.append((edit, Settlement(.failed, .because(error.message))))
        }
      }
    }
    var delegation = Delegation(self)
    candidates = try delegation?.admit(candidates, into: &plan) ?? candidates
    try await learn(&candidates)
    let keyed = try await keyed(candidates)
    try delegation?.admit(upserts: keyed, among: &candidates, into: &plan)
    for candidate in candidates {
      let facts = try facts(candidate)
      let key = keyed[candidate.edit.id]
      switch try await upsertStep(candidate, facts, key) ?? EditRule.step(facts) {
      case .settle(let settlement):
        plan.settled.append((candidate.edit, naming(candidate.edit.recordID, settlement)))
      case .send(let action, let expected, let condition):
        try await add(
          candidate, facts, action, expected, condition, key, to: &plan)
        try await delegation?.check(candidate, in: &plan)
      }
    }
    blockOrphans(&plan)
    order(&plan)
    try hold(&plan)
    return plan
  }

  /// An edit on its way to a decision.
  struct Candidate {
    var edit: OpenEdit
    var rule: Int
    var element: JSONObject
    var sobject: String
    var operation: SyncOperation
    var listed: [String]
    var server: ServerRecord = .unknown(code: nil, message: "the record was not asked for")
  }

  // MARK: what needs no org

  private func settlementWithoutOrg(_ edit: OpenEdit) throws -> Settlement? {
    if let finding = edit.finding { return Settlement(.failed, .because(finding)) }
    if let creation = edit.creation, creation.isTwice {
      var detail = OutcomeDetail.because("the device's own sync created the record as well")
      detail.recordID = creation.recordID
      detail.otherID = creation.deviceRecordID
      return Settlement(.createdTwice, detail)
    }
    if edit.operation == .synced { return Settlement(.unchanged) }
    guard rules.contains(where: { $0.soup == edit.soup }) else {
      return Settlement(.notConfigured)
    }
    if let earlier = try state.openPredecessor(of: edit), !assumedClosed.contains(earlier.id) {
      var detail = OutcomeDetail.because("an earlier edit of the record is not settled yet")
      detail.otherEdits = [earlier.id]
      return Settlement(earlier.isInDoubt ? .inDoubt : .held, detail)
    }
    return try clash(edit)
  }

  private func clash(_ edit: OpenEdit) throws -> Settlement? {
    let claims: [RecordClaim]
    if let recordID = edit.recordID {
      claims = try state.claims(recordID: recordID, formerID: edit.serverID)
    } else if let creation = edit.creation {
      claims = try state.claims(creationID: creation.id)
    } else {
      claims = []
    }
    let ancestry = try state.ancestry(of: edit.lineage)
    var opponents = ClashRule.opponents(
      of: edit.claim, ancestry: ancestry, deviceDate: edit.modificationDate, issued: edit.issued,
      claims: try claims.filter { try !state.owns(ancestry, $0.editID) },
      policy: options.acrossSnapshots)
    if let other = edit.unorderedWith, options.acrossSnapshots != .last { opponents.append(other) }
    opponents += try contradictions(edit)
    guard !opponents.isEmpty else { return nil }
    let comparison = try editedFields(of: edit)
    var detail = OutcomeDetail()
    detail.recordID = edit.recordID
    detail.otherEdits = opponents
    detail.fields = comparison.edited
    detail.outside = comparison.outside
    detail.hasNoBase = comparison.hasNoBase
    return Settlement(.clash, detail)
  }

  /// The edits of the same record in other soups or stores of the device that contradict one: they
  /// set a field that both send to something else, or one deletes what the other edits.
  ///
  /// Nothing says which of two rows of one device its user meant, so `acrossSnapshots` does not
  /// either. What does not contradict is merged: each sends the fields that were edited in it.
  private func contradictions(_ edit: OpenEdit) throws -> [Int64] {
    let siblings = try state.siblings(of: edit).filter(\.isUnseen).map(\.edit).filter { other in
      rules.contains { $0.soup == other.soup }
    }
    if siblings.isEmpty { return [] }
    let mine = try editedFields(of: edit).edited
    return try siblings.filter { other in
      let deletes = [edit, other].count { $0.syncOperation == .delete }
      if deletes > 0 { return deletes == 1 }
      let theirs = try editedFields(of: other).edited
      return mine.contains { field in
        theirs.contains { $0.name == field.name && !FieldValue.isSame($0.device, field.device) }
      }
    }.map(\.id)
  }

  /// What a device edited, as far as that is known without the org.
  private func editedFields(of edit: OpenEdit) throws -> FieldComparison {
    let element = (try? JSONValue(parsing: edit.element))?.object ?? [:]
    let listed = rules.first { $0.soup == edit.soup }.flatMap { try? $0.fields(for: .update) }
    let choice = MergeBaseRule.choose(
      device: element, deviceDate: edit.modificationDate, issued: edit.base,
      ownWrite: try edit.recordID.flatMap { try state.ownWrite(of: edit, recordID: $0) },
      serverDate: nil, serverFields: nil)
    return FieldComparison(
      device: element, base: choice.base, server: nil, listed: listed ?? [])
  }

  // MARK: what the org knows

  private func candidate(_ edit: OpenEdit) throws -> Candidate {
    guard let rule = rules.firstIndex(where: { $0.soup == edit.soup }),
      let element = try JSONValue(parsing: edit.element).object
    else { throw SyncError(.badResponse, "the element is not an object") }
    let operation = edit.syncOperation
    guard operation == .dropLocally || edit.sobject.map(Self.isName) == true else {
      throw SyncError(
        .badResponse, "attributes.type of the element is no name of an sObject",
        fix: "the app has to set attributes.type")
    }
    return Candidate(
      edit: edit, rule: rule, element: element, sobject: edit.sobject ?? "",
      operation: operation,
      // What a deletion destroys is what an update would send.
      listed: operation == .delete
        ? (try? rules[rule].fields(for: .update)) ?? [] : try rules[rule].fields(for: operation))
  }

  /// A name comes from a device and becomes part of addresses and queries.
  private static func isName(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard (1...80).contains(bytes.count), !(48...57).contains(bytes[0]) else { return false }
    return bytes.allSatisfy { byte in
      (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
        || byte == 95
    }
  }

  /// Learns the org's records of all updates and deletes: one retrieve for 2,000 of them.
  private func learn(_ candidates: inout [Candidate]) async throws {
    let asked = candidates.indices.filter { index in
      let operation = candidates[index].operation
      return operation == .update || operation == .delete
    }
    let groups = Dictionary(grouping: asked) { candidates[$0].sobject }
    for sobject in groups.keys.sorted() {
      guard let indices = groups[sobject] else { continue }
      do {
        let states = try await states(sobject, indices.map { candidates[$0] })
        for index in indices {
          if let id = candidates[index].edit.recordID, let server = states[id] {
            candidates[index].server = server
          }
        }
        report(.learned(snapshotID: snapshotID, soup: sobject, records: indices.count))
      } catch let error as OrgError {
        guard Self.isAboutTheObject(error) else { throw error }
        for index in indices {
          candidates[index].server = .unknown(code: error.code, message: error.message)
        }
      }
    }
  }

  static func isAboutTheObject(_ error: OrgError) -> Bool {
    switch error.kind {
    case .refused, .notFound, .permission, .tooLarge: true
    default: false
    }
  }

  private func states(
    _ sobject: String, _ group: [Candidate]
  ) async throws -> [String: ServerRecord] {
    let describe = try await records.describe(sobject)
    var names: Set<String> = []
    for candidate in group {
      names.formUnion(candidate.listed)
      for (name, value) in candidate.element where FieldComparison.isField(name, value) {
        names.insert(name)
      }
    }
    let modified = group.map { rules[$0.rule].target.modificationDateFieldName }
    names.formUnion(modified)
    let readable = names.filter { describe.field($0) != nil }.sorted()
    let ids = Array(Set(group.compactMap(\.edit.recordID))).sorted()
    let found = try await records.read(sobject, ids: ids, fields: ["Id"] + readable)
    var states: [String: ServerRecord] = [:]
    for candidate in group {
      guard let id = candidate.edit.recordID, var record = found[id] else { continue }
      for name in names where record[name] == nil {
        // What was asked for and did not come has no value; what could not be asked for is unknown.
        if let field = describe.field(name) { record[name] = record[field.name] ?? .null }
      }
      let date = record[rules[candidate.rule].target.modificationDateFieldName]?.string
      states[id] = .alive(date: date, fields: record)
    }
    let absent = ids.filter { states[$0] == nil }
    for (id, proof) in try await records.prove(sobject, absent: absent) { states[id] = proof }
    return states
  }

  private func facts(_ candidate: Candidate) throws -> EditFacts {
    let edit = candidate.edit
    let target = rules[candidate.rule].target
    let externalID = target.externalIdFieldName.flatMap { candidate.element[$0] }
    let own = try edit.recordID.flatMap { try state.ownWrite(of: edit, recordID: $0) }
    return EditFacts(
      operation: candidate.operation, mode: rules[candidate.rule].mode,
      device: candidate.element, deviceDate: edit.modificationDate, issued: edit.base,
      ownWrite: own, server: candidate.server, listed: candidate.listed,
      isShared: try candidate.operation == .update && !state.siblings(of: edit).isEmpty,
      upserts: FieldSelection.upserts(
        candidate.operation, externalID: externalID.flatMap(Self.text)),
      recreate: options.recreateDeleted)
  }

  static func text(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): text
    case .number(let literal): literal
    default: nil
    }
  }

  private func naming(_ recordID: String?, _ settlement: Settlement) -> Settlement {
    var settlement = settlement
    if settlement.detail.recordID == nil { settlement.detail.recordID = recordID }
    return settlement
  }

  // MARK: what is sent

  private func add(
    _ candidate: Candidate, _ facts: EditFacts, _ action: OperationAction,
    _ expected: Settlement, _ condition: String?, _ keyed: UpsertRule.Keyed?,
    to plan: inout SnapshotPlan
  ) async throws {
    let edit = candidate.edit
    let rule = rules[candidate.rule]
    var send = PlannedSend(
      edit: edit, rule: candidate.rule, sobject: candidate.sobject, action: action,
      expected: naming(edit.recordID, expected), condition: condition, payload: [:],
      recordID: action == .create || action == .upsert ? nil : edit.recordID)
    if action == .create, let old = edit.recordID {
      send.expected.detail.recordID = nil
      send.expected.detail.otherID = old
    }
    if action != .delete {
      var names = try rule.fields(for: action == .update ? .update : .create)
      if action == .update, facts.isShared {
        let edited = EditRule.editedFields(facts)
        names.removeAll { !edited.contains($0) }
      }
      send.payload = try RecordBody.fields(names, of: edit.element)
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
      plan.settled.append((edit, Settlement(.blocked, .because(missing))))
      return
    }
    if action == .create || action == .upsert { try await setOwner(&send) }
    plan.sends.append(send)
  }

  /// Replaces local ids by the ids that their records got, and notes those that have none yet.
  private func resolveReferences(_ send: inout PlannedSend) async throws -> String? {
    for (name, value) in send.payload {
      guard let local = value.string, LocalFields.isLocalID(local),
        try await mayRefer(name, of: send.sobject)
      else { continue }
      guard
        let creation = try state.creation(
          stampID: send.edit.stampID, localID: local, lineage: send.edit.lineage)
      else { return "\(name) refers to a record that is not among the edits of this bundle" }
      if let id = creation.recordID ?? creation.deviceRecordID {
        send.payload[name] = .string(id)
        if let level = try state.level(creationID: creation.id, run: run) {
          send.floor = max(send.floor, level + 1)
        }
      } else if options.orderParentsFirst {
        send.needs.insert(creation.id)
        send.waiting.insert(name)
      }
    }
    return nil
  }

  /// Says whether a field may hold an Id: a text that begins like a local id is a text.
  private func mayRefer(_ name: String, of sobject: String) async throws -> Bool {
    do {
      guard let field = try await records.describe(sobject).field(name) else { return true }
      return field.type == "reference" || field.type == "id"
    } catch {
      guard Self.isAboutTheObject(error) else { throw error }
      return true
    }
  }

  /// What the integration user creates belongs to the snapshot's user.
  private func setOwner(_ send: inout PlannedSend) async throws {
    guard options.sendAs == .integration, snapshotID != "global", send.payload["OwnerId"] == nil
    else { return }
    do {
      let owner = try await records.describe(send.sobject).field("OwnerId")
      if owner?.isCreateable == true { send.payload["OwnerId"] = .string(snapshotID) }
    } catch {
      // The create itself will say what is wrong with the object.
      guard Self.isAboutTheObject(error) else { throw error }
    }
  }

  /// Blocks what needs a record that this plan does not make, and what needs that.
  private func blockOrphans(_ plan: inout SnapshotPlan) {
    while true {
      let made = Set(plan.sends.compactMap { Self.makes($0) })
      let orphans = plan.sends.filter { !$0.needs.isSubset(of: made) }
      if orphans.isEmpty { return }
      for orphan in orphans {
        plan.settled.append(
          (orphan.edit, Settlement(.blocked, .because("it refers to a record without an Id"))))
      }
      let blocked = Set(orphans.map(\.edit.id))
      plan.sends.removeAll { blocked.contains($0.edit.id) }
    }
  }

  static func makes(_ send: PlannedSend) -> Int64? {
    send.action == .create || send.action == .upsert ? send.edit.creation?.id : nil
  }

  private func order(_ plan: inout SnapshotPlan) {
    let nodes = plan.sends.map { send in
      DependencyOrder.Node(
        editID: send.edit.id, creates: Self.makes(send), needs: send.needs,
        deletes: send.action == .delete ? send.recordID : nil,
        refersTo: send.action == .delete ? Self.references(send.edit) : [], floor: send.floor)
    }
    let order = DependencyOrder(nodes)
    plan.levels = order.levels
    let places = Dictionary(
      order.levels.enumerated().flatMap { level, edits in edits.map { ($0, level) } },
      uniquingKeysWith: { first, _ in first })
    for index in plan.sends.indices {
      plan.sends[index].level = places[plan.sends[index].edit.id] ?? 0
    }
    for send in plan.sends where order.cyclic.contains(send.edit.id) {
      plan.settled.append(
        (
          send.edit,
          Settlement(.blocked, .because("it and the records it refers to need each other's Id"))
        ))
    }
    plan.sends.removeAll { order.cyclic.contains($0.edit.id) }
  }

  /// The Ids in an element's members: lookups, for all we know.
  private static func references(_ edit: OpenEdit) -> Set<String> {
    guard let element = (try? JSONValue(parsing: edit.element))?.object else { return [] }
    var ids: Set<String> = []
    for (name, value) in element where name != "Id" {
      if let id = value.string.flatMap({ RecordID($0)?.text18 }) { ids.insert(id) }
    }
    return ids
  }

  // MARK: the guard

  /// Holds what is out of all proportion until a person confirms it.
  private func hold(_ plan: inout SnapshotPlan) throws {
    guard !plan.sends.isEmpty, !options.confirmed.contains(plan.digest) else { return }
    let guardLimits = options.maxChanges
    if plan.sends.count > guardLimits.perSnapshot {
      plan.isHeld = true
      return
    }
    let deletes = plan.sends.filter { $0.action == .delete }
    let groups = Dictionary(grouping: deletes) {
      ReturnedSoup(returnID: $0.edit.returnID, soup: $0.edit.soup)
    }
    for (key, group) in groups {
      let total = try state.soupTotal(returnID: key.returnID, key.soup)
      let share = Int(Double(total) * guardLimits.deletesPercent / 100)
      if group.count > max(guardLimits.deletesAtLeast, share) {
        plan.isHeld = true
        return
      }
    }
  }

  private struct ReturnedSoup: Hashable {
    var returnID: Int64
    var soup: SoupKey
  }
}
