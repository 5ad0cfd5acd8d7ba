import JSON
import Ledger
import MobileSync
import Salesforce
import System

/// Plans the open edits of one snapshot: it reads, decides and orders, but sends nothing.
struct SnapshotPlanner {
  let state: LedgerDatabase
  /// What the ledger knows of the edits' records.
  let histories: RecordHistories
  let options: ReconcileOptions
  let rules: [ReconciledSync]
  /// By edit: the first of the sync ups that may still send it; the org refused it for the earlier
  /// ones.
  var firstSync: [Int64: Int] = [:]
  /// Edits that this run sent before and the org refused.
  var redone: Set<Int64> = []
  /// What deletions mean for edits below their records (`Reconciler.findCascades`).
  var cascades = Cascades()
  let snapshotID: String
  let records: RecordReader
  /// The records that the snapshot was issued with.
  let issued: IssuedLookup
  /// The references to records that are to be deleted.
  let referring: ReferringRecords
  /// The current records for the IDs of deleted ones.
  let remade: RemadeRecords
  var run = ""

  /// An unfinished plan: what is known without the org.
  struct Draft {
    var plan: SnapshotPlan
    fileprivate(set) var candidates: [Candidate] = []
    /// Edits with device conflicts, to be shown with the org's values.
    fileprivate(set) var deviceConflicts: [(candidate: Candidate, settlement: Settlement)] = []
    fileprivate var delegation: Delegation?

    /// The candidates whose records are read from the org.
    var all: [Candidate] { candidates + deviceConflicts.map(\.candidate) }
  }

  /// Decides what does not depend on the org.
  nonisolated(nonsending) func begin(_ edits: [OpenEdit]) async throws -> Draft {
    var draft = Draft(plan: SnapshotPlan(snapshotID: snapshotID))
    let edits = try await planUndos(of: edits, into: &draft.plan)
    let single = try await followingMended(edits, into: &draft.plan)
    let following = try await followingUndeleted(single)
    try state.connection.reading {
      try histories.read(following)
      for edit in following { try sort(edit, into: &draft) }
    }
    draft.delegation = Delegation(self)
    if let admitted = try draft.delegation?.admit(draft.candidates, into: &draft.plan) {
      draft.candidates = admitted
    }
    return draft
  }

  /// Resolves an edit without the org if possible, or makes it a candidate.
  private func sort(_ edit: OpenEdit, into draft: inout Draft) throws {
    if let settlement = try settlementWithoutOrg(edit) {
      if settlement.verdict == .deviceConflict, let candidate = try? candidate(edit) {
        draft.deviceConflicts.append((candidate, settlement))
      } else {
        draft.plan.settled.append((edit, settlement))
      }
      return
    }
    do {
      draft.candidates.append(try candidate(edit))
    } catch let error as SyncError {
      draft.plan.settled.append((edit, .notSendable(error)))
    } catch let error as JSONError {
      draft.plan.settled.append((edit, Settlement(.failed, .because(error.message))))
    }
  }

  /// Decides the remaining edits with the org's state.
  nonisolated(nonsending) func finish(_ draft: Draft) async throws -> SnapshotPlan {
    var (plan, candidates, deviceConflicts) = (draft.plan, draft.candidates, draft.deviceConflicts)
    var delegation = draft.delegation
    try histories.read(candidates.map(\.edit))
    try await learn(&candidates, &deviceConflicts)
    try await remade.learn(Set(candidates.flatMap { Self.references($0.element) }))
    plan.settled += deviceConflicts.map { ($0.candidate.edit, $0.settlement) }
    try await settleDeleted(&candidates, &plan)
    let keyed = try await keyed(candidates)
    try delegation?.admit(upserts: keyed, among: &candidates, into: &plan)
    let rivals = try rivals(candidates, keyed)
    var decided: [Candidate] = []
    for candidate in candidates {
      if let others = rivals[candidate.edit.id] {
        plan.settled.append(
          (candidate.edit, try sameRecord(candidate, others, keyed[candidate.edit.id])))
        decided.append(candidate)
        continue
      }
      let key = keyed[candidate.edit.id]
      do {
        let (candidate, step) = try await decide(candidate, key)
        decided.append(candidate)
        switch step {
        case .settle(let settlement):
          plan.settled.append((candidate.edit, naming(candidate, settlement)))
        case .send(let action, let expected, let condition):
          try await add(candidate, action, expected, condition, key, to: &plan)
          try await delegation?.check(candidate, in: &plan)
        }
      } catch let error as OrgError {
        guard error.isAboutTheObject else { throw error.asked(about: candidate.sobject) }
        decided.append(candidate)
        plan.settled.append((candidate.edit, .failed(error)))
      } catch let error as SyncError where error.code == .definition {
        // A record that is recreated is sent with the fields of creates.
        plan.settled.append((candidate.edit, .notSendable(error)))
      }
    }
    plan.leaveOutRepeated()
    try await followRemade(&plan)
    try followDeletions(&plan)
    try await growTrees(decided, &plan)
    blockOrphans(&plan)
    order(&plan)
    try hold(&plan)
    return plan
  }

  // MARK: without the org

  private func settlementWithoutOrg(_ edit: OpenEdit) throws -> Settlement? {
    if let settlement = try state.decidedWithoutOrg(edit, rules) { return settlement }
    if let finding = edit.finding {
      return Settlement(.failed, .because(finding, fields: try editedFields(of: edit).edited))
    }
    if let twins = try openTwins(of: edit) {
      return try madeTwice(twins.first, twins.second, twins.others)
    }
    if edit.operation == .synced { return Settlement(.unchanged) }
    guard rules.contains(where: { $0.soup == edit.soup }) else {
      return Settlement(.notConfigured)
    }
    let history = try histories.history(of: edit)
    let isOnlyEdit = history.isOnlyEdit(edit.id)
    if !isOnlyEdit, let settlement = try state.settledByUndo(edit, rules, history) {
      return settlement
    }
    if let settlement = try cascade(edit) { return settlement }
    if isOnlyEdit, edit.unorderedWith == nil { return nil }
    if let earlier = history.openPredecessor(of: edit) {
      return Settlement(
        earlier.isInDoubt ? .unconfirmed : .notAttempted,
        .because("an earlier edit of the record is not resolved yet", otherEdits: [earlier.id]))
    }
    return isAboveDeviceConflict(edit) ? nil : try deviceConflict(edit)
  }

  /// The fields that a device edited, as far as that is known without the org.
  func editedFields(of edit: OpenEdit) throws -> FieldComparison {
    try histories.history(of: edit).editedFields(of: edit, rules)
  }

  // MARK: with the org's state

  /// The edits with their current records.
  ///
  /// A record recreated in place of a deleted one replaces it only as long as the latter stays
  /// deleted, because users can undelete it.
  private nonisolated(nonsending) func followingUndeleted(
    _ edits: [OpenEdit]
  ) async throws -> [OpenEdit] {
    var edits = edits
    let asked = edits.indices.filter { index in
      let edit = edits[index]
      return edit.creation == nil && edit.serverID != nil && edit.remadeID != nil
        && edit.remadeID != edit.serverID && APIName.isValid(edit.sobject ?? "")
    }
    let groups = Dictionary(grouping: asked) { edits[$0].sobject ?? "" }
    for (sobject, indices) in groups.sorted(by: { $0.key < $1.key }) {
      do throws(OrgError) {
        let ids = Set(indices.compactMap { edits[$0].serverID }).sorted()
        let alive = try await records.records(sobject, ids: ids, fields: ["Id"])
        for index in indices where edits[index].serverID.flatMap({ alive[$0] }) != nil {
          edits[index].remadeID = nil
        }
      } catch {
        // The edit itself will report what is wrong with the object.
        guard error.isAboutTheObject else { throw error }
      }
    }
    return edits
  }

  func candidate(_ edit: OpenEdit) throws -> Candidate {
    guard let sync = sync(for: edit),
      var element = try histories.element(of: edit)
    else { throw SyncError(.badResponse, "the element is not an object") }
    let operation = edit.syncOperation
    // An external ID in the element determines the record.
    if operation == .create, let field = rules[sync].target.externalIdFieldName,
      case .set(let values, _)? = edit.decision?.decision, let value = values[field]
    {
      element[field] = value
    }
    // A family determines the objects of its records, whatever the elements say.
    let sobject = rules[sync].member?.sobjectType ?? edit.sobject ?? ""
    // The name comes from a device and becomes part of addresses and queries.
    guard operation == .dropLocally || APIName.isValid(sobject) else {
      throw SyncError(
        .badResponse, "attributes.type of the element is not an sObject name",
        fix: "the app has to set attributes.type")
    }
    var candidate = Candidate(
      edit, sync: sync, element: element, sobject: sobject, operation: operation)
    candidate.listed = try fields(of: candidate, for: operation)
    return candidate
  }

  /// Reads the org's records of all updates and deletes, 2,000 at a time.
  ///
  /// Edits with device conflicts are shown with the org's values.
  private nonisolated(nonsending) func learn(
    _ candidates: inout [Candidate],
    _ deviceConflicts: inout [(candidate: Candidate, settlement: Settlement)]
  ) async throws {
    var all = candidates + deviceConflicts.map(\.candidate)
    try await learn(&all)
    candidates = Array(all.prefix(candidates.count))
    for (place, candidate) in all.dropFirst(candidates.count).enumerated() {
      guard case .alive(_, let fields) = candidate.server else { continue }
      deviceConflicts[place].settlement.detail.showServer(fields)
      deviceConflicts[place].settlement = naming(candidate, deviceConflicts[place].settlement)
    }
    for (id, answer) in try await keyed(deviceConflicts.map(\.candidate)) {
      guard case .found(let record) = answer else { continue }
      for place in deviceConflicts.indices where deviceConflicts[place].candidate.edit.id == id {
        deviceConflicts[place].settlement.detail.showServer(record)
      }
    }
  }

  private nonisolated(nonsending) func learn(_ candidates: inout [Candidate]) async throws {
    let asked = candidates.indices.filter { candidates[$0].isOfRecord }
    let groups = Dictionary(grouping: asked) { candidates[$0].sobject }
    for sobject in groups.keys.sorted() {
      guard let indices = groups[sobject] else { continue }
      do {
        let (states, remaining) = try await states(sobject, indices.map { candidates[$0] })
        for index in indices {
          guard let id = candidates[index].edit.recordID, let server = states[id] else { continue }
          candidates[index].server = server
          guard case .merged(let master) = server, let record = remaining[master] else { continue }
          let field = rules[candidates[index].sync].target.modificationDateFieldName
          candidates[index].remaining = (record[field]?.string, record)
        }
      } catch let error as OrgError {
        guard error.isAboutTheObject else { throw error.asked(about: sobject) }
        for index in indices {
          candidates[index].server = .unknown(code: error.code, message: error.message)
        }
      }
    }
  }

  private nonisolated(nonsending) func states(
    _ sobject: String, _ group: [Candidate]
  ) async throws -> (states: [String: ServerRecord], remaining: [String: JSONObject]) {
    let describe = try await records.describe(sobject)
    let (names, readable, ids) = asked(group, describe)
    let found = try await read(sobject, ids, readable, names, describe)
    var states: [String: ServerRecord] = [:]
    for candidate in group {
      guard let id = candidate.edit.recordID, let record = found[id] else { continue }
      let date = record[rules[candidate.sync].target.modificationDateFieldName]?.string
      states[id] = .alive(date: date, fields: record)
    }
    let absent = ids.filter { states[$0] == nil }
    for (id, proof) in try await records.prove(sobject, absent: absent) { states[id] = proof }
    var remaining: [String: JSONObject] = [:]
    // A surviving record may itself have been merged.
    var masters = states.values.compactMap(\.masterID)
    for _ in 0..<Self.mergesFollowed where !masters.isEmpty {
      let alive = try await read(
        sobject, Set(masters).sorted(), readable, names, describe)
      remaining.merge(alive) { $1 }
      let gone = Set(masters).subtracting(alive.keys).sorted()
      let proofs = try await records.prove(sobject, absent: gone)
      masters = []
      for (id, state) in states {
        guard let next = state.masterID.flatMap({ proofs[$0]?.masterID }) else { continue }
        states[id] = .merged(into: next)
        masters.append(next)
      }
    }
    return (states, remaining)
  }

  /// The fields to read of some edits' records: all fields that matter, those of them that may be
  /// read, and the IDs.
  func asked(
    _ group: [Candidate], _ describe: Describe
  ) -> (names: Set<String>, readable: [String], ids: [String]) {
    var names: Set<String> = []
    var seen: [SoupKey: Set<SyncOperation>] = [:]
    for candidate in group {
      // The fields that all edits of a soup have in common.
      if seen[candidate.edit.soup, default: []].insert(candidate.operation).inserted {
        for rule in rules where rule.soup == candidate.edit.soup {
          names.formUnion((try? rule.fields(for: candidate.operation)) ?? [])
        }
      }
      names.formUnion(candidate.listed)
      names.formUnion(candidate.element.names.filter(FieldComparison.isField))
    }
    names.formUnion(group.map { rules[$0.sync].target.modificationDateFieldName })
    // For the report: who changed a record since, and when.
    names.formUnion(["LastModifiedById", "LastModifiedDate"])
    let readable = names.filter { describe.field($0) != nil }.sorted()
    return (names, readable, Array(Set(group.compactMap(\.edit.recordID))).sorted())
  }

  /// How many successive merges are followed to a surviving record.
  private static let mergesFollowed = 10

  /// Records with all fields of `names` that the object has.
  nonisolated(nonsending) func read(
    _ sobject: String, _ ids: [String], _ readable: [String], _ names: Set<String>,
    _ describe: Describe
  ) async throws -> [String: JSONObject] {
    try await records.records(sobject, ids: ids, fields: ["Id"] + readable).mapValues { found in
      var record = found
      for name in names where record[name] == nil {
        // A field that was requested and not returned has no value; one that could not be requested
        // is unknown.
        if let field = describe.field(name) { record[name] = record[field.name] ?? .null }
      }
      return record
    }
  }

  /// Adds what the decision of a sync up about an edit depends on.
  func complete(_ candidate: inout Candidate) throws {
    let edit = candidate.edit
    let target = rules[candidate.sync].target
    let externalID = target.externalIdFieldName.flatMap { candidate.element[$0] }
    let history = try histories.history(of: edit)
    let isUpdate = candidate.operation == .update
    candidate.mode = mode(of: edit, candidate.sync)
    candidate.ownWrite = history.ownWrite(of: edit) ?? presumedWrite(candidate)
    candidate.isUnseen = candidate.ownWrite == nil && edit.isBeforeOwnSync
    candidate.isShared = try isUpdate && !siblings(of: edit).isEmpty
    candidate.doubted = try doubted(candidate)
    candidate.listedOfCreate = try? fields(of: candidate, for: .create)
    let overwrites = candidate.mode == .overwrite && isUpdate && edit.recordID != nil
    candidate.wasCarried = overwrites && history.entry(edit.id)?.wasCarried == true
    candidate.takenBack =
      overwrites
      ? history.takenBack(device: candidate.element, deviceDate: edit.modificationDate) : []
    candidate.mergesFields =
      options.mergesFields && candidate.mode == .leaveIfChanged && isUpdate
      && !edit.mayHaveBeenSent
    candidate.upserts = FieldSelection.upserts(
      candidate.operation, externalID: externalID.flatMap(Self.text))
    candidate.upsertField = candidate.upserts ? target.externalIdFieldName : nil
    candidate.recreate = options.recreateDeleted
  }

  private func presumedWrite(_ candidate: Candidate) -> FieldKnowledge? {
    guard candidate.edit.mayHaveBeenSent, candidate.operation == .update,
      case .alive(let date, let fields) = candidate.server
    else { return nil }
    return MergeBaseRule.presumedWrite(
      device: candidate.element, deviceDate: candidate.edit.modificationDate,
      issued: candidate.edit.base, serverDate: date, serverFields: fields, listed: candidate.listed,
      senderID: records.session.identity.userID)
  }

  /// The merge mode of a sync up; an edit that may already have been sent does not overwrite later
  /// changes by others.
  func mode(of edit: OpenEdit, _ sync: Int) -> MergeMode {
    edit.mayHaveBeenSent ? .leaveIfChanged : rules[sync].mode
  }

  static func text(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): text
    case .number(let literal): literal
    default: nil
    }
  }

  /// A settlement with its record's ID, and with the user who has changed the record in the org
  /// since.
  func naming(_ candidate: Candidate, _ settlement: Settlement) -> Settlement {
    var settlement = settlement
    if settlement.detail.recordID == nil { settlement.detail.recordID = candidate.edit.recordID }
    if candidate.edit.mayHaveBeenSent, settlement.verdict == .conflict,
      settlement.detail.message == nil
    {
      settlement.detail.message =
        "a run that this ledger does not know may have sent it before another user changed the record"
    }
    guard case .alive(_, let fields) = candidate.server,
      let by = fields["LastModifiedById"]?.string, let at = fields["LastModifiedDate"]?.string,
      let changed = Dates.milliseconds(iso8601: at),
      changed > candidate.edit.modificationDate.flatMap({ Dates.milliseconds(iso8601: $0) }) ?? .max
    else { return settlement }
    settlement.detail.serverChange = ServerChange(by: by.recordID18 ?? by, at: at)
    return settlement
  }
}

extension Settlement {
  /// The verdict of an edit if the org did not answer a query that its sending depends on.
  static func failed(_ error: OrgError) -> Settlement {
    Settlement(.failed, .because(error.message, code: error.code))
  }
}
