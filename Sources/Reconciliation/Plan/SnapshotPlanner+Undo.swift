import JSON
import Ledger
import MobileSync
import Salesforce

// Edits whose changes are to be undone.
extension SnapshotPlanner {
  /// Plans the undo of changes, and returns the edits that are to be sent.
  nonisolated(nonsending) func planUndos(
    of edits: [OpenEdit], into plan: inout SnapshotPlan
  ) async throws -> [OpenEdit] {
    let undone = edits.filter(\.isToBeUndone)
    if undone.isEmpty { return edits }
    var asked: [UndoRule.Facts] = []
    let instance = try state.noted(.instance)
    let writes = try state.operations(.toBeUndone)
    for edit in undone {
      guard let change = try state.change(by: edit.id), let recordID = change.recordID else {
        let words = "nothing that it sent reached the org"
        plan.settled.append((edit, Settlement(.notUndone, .because(words))))
        continue
      }
      let history = try histories.history(ofRecord: recordID)
      let sync = rules.lastIndex { $0.soup == edit.soup }
      if let settlement = try undoWithoutOrg(change, history, among: writes, isSent: sync != nil) {
        plan.settled.append((edit, settlement))
      } else if let sync {
        var facts = UndoRule.Facts(
          edit, change: try withParents(change, of: edit), sync: sync,
          leftDate: history.leftDate(by: change), instance: instance)
        if change.action == .create, let element = history.entry(edit.id)?.element {
          facts.parents = Self.references(element)
        }
        asked.append(facts)
      }
    }
    let groups = Dictionary(grouping: asked, by: \.change.sobject)
    for (sobject, group) in groups.sorted(by: { $0.key < $1.key }) {
      var deletes: [(UndoRule.Facts, Write)] = []
      for one in try await withServer(group, sobject) {
        switch UndoRule.step(one) {
        case .settle(let settlement): plan.settled.append((one.edit, settlement))
        case .send(let action, let payload, let expected, let date):
          let send = Self.send(one, action, payload, expected, date, rules[one.sync])
          if action == .delete { deletes.append((one, send)) } else { plan.sends.append(send) }
        }
      }
      try await addDeletes(deletes, sobject, among: writes, &plan)
    }
    return edits.filter { !$0.isToBeUndone }
  }

  /// A change without an answer, with the IDs of new parents that were sent with it.
  private func withParents(_ change: OperationRow, of edit: OpenEdit) throws -> OperationRow {
    guard change.isDoubted else { return change }
    var change = change
    for name in Set(rules.filter { $0.soup == edit.soup }.compactMap(\.parentField)) {
      guard let local = change.payload[name]?.string, RecordID(local) == nil,
        let id = try state.creation(localID: local, of: edit)?.recordID
      else { continue }
      change.payload[name] = .string(id)
    }
    return change
  }

  private static func send(
    _ one: UndoRule.Facts, _ action: SyncUpAction, _ payload: JSONObject, _ expected: Settlement,
    _ date: String, _ rule: ReconciledSync
  ) -> Write {
    var send = Write(
      edit: one.edit, sync: one.sync,
      operation: OperationRow(
        editID: one.edit.id, action: action, purpose: .undo, sobject: one.change.sobject,
        recordID: one.change.recordID, payload: payload, expected: expected,
        seen: .object(Self.dated(one.change.left ?? [:], date)),
        modificationField: rule.target.modificationDateFieldName),
      condition: date, isStrict: true)
    send.parents = one.parents
    return send
  }

  // MARK: without the org

  /// The outcome of an undo that does not depend on the org: it waits for the undo of a later edit
  /// of the record, and a later edit that is not undone prevents it.
  private func undoWithoutOrg(
    _ change: OperationRow, _ history: RecordHistory, among undone: [OperationRow], isSent: Bool
  ) throws -> Settlement? {
    guard isSent else {
      let words = "the pipeline no longer has a sync up for it"
      return Settlement(.notUndone, .because(words, of: change.recordID))
    }
    guard let later = try laterEdit(than: change, history) else { return nil }
    let waits = undone.contains { $0.editID == later }
    let words =
      waits ? WaitingDelete.words(later) : "edit \(later) has changed the record since"
    return Settlement(
      waits ? .notAttempted : .notUndone,
      .because(words, of: change.recordID, otherEdits: [later]))
  }

  /// The latest edit that wrote to a record after a change of it and has not been undone.
  private func laterEdit(than change: OperationRow, _ history: RecordHistory) throws -> Int64? {
    let later = history.writes.filter {
      $0.id > change.id && $0.editID != change.editID && $0.purpose != .undo
    }
    if later.isEmpty { return nil }
    let undos = try state.operations(.ofEdits(Set(later.map(\.editID)))).filter {
      $0.state == .done && $0.purpose == .undo
    }
    return later.last { write in
      !undos.contains { $0.editID == write.editID && $0.id > write.id }
    }?.editID
  }

  // MARK: with the org's state

  private nonisolated(nonsending) func withServer(
    _ group: [UndoRule.Facts], _ sobject: String
  ) async throws -> [UndoRule.Facts] {
    var group = group
    do {
      let describe = try await records.describe(sobject)
      var names = Set(group.flatMap { $0.change.payload.names })
      names.formUnion(group.map { rules[$0.sync].target.modificationDateFieldName })
      names.formUnion(["LastModifiedById", "LastModifiedDate"])
      let readable = names.filter { describe.field($0) != nil }.sorted()
      let ids = Set(group.map(\.recordID)).sorted()
      let found = try await read(sobject, ids, readable, names, describe)
      let proofs = try await records.prove(sobject, absent: ids.filter { found[$0] == nil })
      for index in group.indices {
        let id = group[index].recordID
        if let record = found[id] {
          let field = rules[group[index].sync].target.modificationDateFieldName
          group[index].server = .alive(date: record[field]?.string, fields: record)
        } else if let proof = proofs[id] {
          group[index].server = proof
        }
      }
      try await lookIntoBin(&group, describe)
    } catch let error as OrgError {
      guard error.isAboutTheObject else { throw error }
      for index in group.indices {
        group[index].server = .unknown(code: error.code, message: error.message)
      }
    }
    return group
  }

  /// Looks up the records of deletions in the recycle bin if they cannot be read.
  private nonisolated(nonsending) func lookIntoBin(
    _ group: inout [UndoRule.Facts], _ describe: Describe
  ) async throws {
    let places = group.indices.filter { group[$0].change.action == .delete && group[$0].isGone }
    if places.isEmpty { return }
    let references = describe.fields.filter { !$0.referenceTo.isEmpty }.map(\.name)
    let found = try await records.withBin(
      describe.name, ids: places.map { group[$0].recordID },
      fields: references + UndoRule.binFields)
    for place in places {
      guard let row = found[group[place].recordID] else { continue }
      if row["IsDeleted"]?.bool != true {
        // It has been restored, by whomever.
        group[place].server = .alive(date: row["LastModifiedDate"]?.string, fields: row)
      } else if let master = row["MasterRecordId"]?.string?.recordID18 {
        group[place].server = .merged(into: master)
      } else {
        group[place].server = .deleted
        group[place].bin = row
        group[place].isUndeletable = describe.isUndeletable
        group[place].parents = Set(references.compactMap { row[$0]?.string?.recordID18 })
      }
    }
  }

  // MARK: new records

  /// Adds the deletions of new records that no record refers to.
  ///
  /// An org deletes a record's details with it, and clears the fields that refer to it. An undo
  /// must not destroy what others have built on a new record. `undone` are the writes of all edits
  /// that are to be undone.
  private nonisolated(nonsending) func addDeletes(
    _ deletes: [(UndoRule.Facts, Write)], _ sobject: String, among undone: [OperationRow],
    _ plan: inout SnapshotPlan
  ) async throws {
    if deletes.isEmpty { return }
    let found: [String: Set<ReferringRecords.Reference>]
    do {
      found = try await referring.referring(to: deletes.map(\.0.recordID), sobject) {
        let made = undone.filter {
          $0.sobject == sobject && ($0.action == .create || $0.action == .upsert)
        }
        return Set(made.compactMap(\.resultID)).sorted()
      }
    } catch let error as OrgError {
      // A failed query about one object does not stop other edits.
      guard error.isAboutTheObject else { throw error }
      for (one, _) in deletes {
        let words = "cannot check whether other records refer to it: \(error.message)"
        let detail = OutcomeDetail.because(words, of: one.recordID, code: error.code)
        plan.settled.append((one.edit, Settlement(.notUndone, detail)))
      }
      return
    }
    for (one, send) in deletes {
      let others = found[one.recordID] ?? []
      var waitsFor: Set<Int64> = []
      var foreign: [String] = []
      for other in others {
        let edits = Set(undone.filter { $0.resultID == other.id }.map(\.editID))
        if edits.isEmpty { foreign.append("\(other.sobject) \(other.id)") }
        waitsFor.formUnion(edits)
      }
      if !foreign.isEmpty {
        let names = foreign.sorted().prefix(Self.namedReferences).joined(separator: ", ")
        let more = foreign.count - Self.namedReferences
        let words = "other records refer to it: " + names + (more > 0 ? ", and \(more) more" : "")
        plan.settled.append(
          (one.edit, Settlement(.notUndone, .because(words, of: one.recordID))))
      } else if waitsFor.isEmpty {
        plan.sends.append(send)
      } else {
        plan.waiting.append(WaitingDelete(send: send, first: waitsFor))
      }
    }
  }

  private static let namedReferences = 5
}

/// The deletion of a new record with references from records that are to be undone, too.
struct WaitingDelete {
  var send: Write
  /// The edits that are undone before it.
  var first: Set<Int64>

  /// The settlement while it waits.
  var settlement: Settlement {
    let words = Self.words(first.min() ?? 0)
    return Settlement(
      .notAttempted, .because(words, of: send.recordID, otherEdits: first.sorted()))
  }

  static func words(_ edit: Int64) -> String { "edit \(edit) is undone first" }
}

extension SnapshotPlan {
  /// Sends those deletions that only wait for each other, and holds the others.
  ///
  /// Records that refer to each other in a cycle are sent together, and the org decides.
  mutating func sendCircles(_ waits: [Int64: Set<Int64>]) {
    for one in waiting {
      if UndoRule.isCircle(one.send.edit.id, waits) {
        sends.append(one.send)
      } else {
        settled.append((one.send.edit, one.settlement))
      }
    }
    waiting = []
  }
}

extension LedgerDatabase {
  /// The verdict of an edit that says nothing else than an edit that was undone.
  ///
  /// It does not reverse the undo, whatever the merge mode. Nil for other edits, and for decided
  /// ones.
  func settledByUndo(
    _ edit: OpenEdit, _ rules: [ReconciledSync], _ history: RecordHistory? = nil
  ) throws -> Settlement? {
    guard edit.decision == nil else { return nil }
    let undone = try undoneEdit(heldBy: edit) { earlier in
      guard let earlier = (try? JSONValue(parsing: earlier))?.object,
        let element = try? RecordHistory.element(of: edit, in: history)
      else { return false }
      return rules.filter { $0.soup == edit.soup }.allSatisfy { rule in
        var names = rule.sentFields(of: .create).union(rule.sentFields(of: .update))
        if let field = rule.target.externalIdFieldName { names.insert(field) }
        return names.allSatisfy { FieldValue.isSame(earlier[$0], element[$0]) }
      }
    }
    guard let undone else { return nil }
    let deletes = edit.syncOperation == .delete
    var detail = OutcomeDetail.because(
      deletes
        ? "its deletion was undone, and the device still has the record as deleted"
        : "its change was undone, and the device has saved the same values again",
      of: edit.recordID, otherEdits: [undone])
    if !deletes {
      let history = try history ?? self.history(of: .init(edit))
      detail.outside = history.editedFields(of: edit, rules).outside
    }
    return Settlement(.unchanged, detail)
  }
}
