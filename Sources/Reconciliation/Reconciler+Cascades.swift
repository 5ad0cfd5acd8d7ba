import JSON
import Ledger
import MobileSync
import SQLite
import Salesforce

/// Deletions, and the edits of other devices below the records that they delete.
///
/// An org deletes a record's details with it. A device that deletes a record knows the details that
/// it was issued, but not what other devices change or add below the record. Such edits conflict
/// with the deletion, just as edits of one record do.
extension Reconciler {
  /// By edit: the edits that it conflicts with, of those that the run processes.
  ///
  /// This is determined before anything is sent, for all snapshots together. Whether a record is
  /// below another one follows from the org and from the edits: a record that an edit moves there
  /// is below it, too.
  nonisolated(nonsending) func findCascades() async throws -> [Int64: [Int64]] {
    let deletions = try state.undecidedDeletions()
    if deletions.isEmpty { return [:] }
    let issued = deletions.compactMap(\.edit.issued).min()
    let writers = try state.writers(sentSince: issued)
    if writers.isEmpty { return [:] }
    var opponents: [Int64: Set<Int64>] = [:]
    let groups = Dictionary(grouping: deletions, by: \.snapshotID)
    for (snapshotID, group) in groups.sorted(by: { $0.key < $1.key }) {
      let deletions = group.map(\.edit)
      guard let access = try await asker(of: snapshotID) else { continue }
      do {
        let remade = RemadeRecords(state, access)
        var targets: [String: [OpenEdit]] = [:]
        for deletion in deletions {
          guard let id = deletion.target?.recordID18 else { continue }
          let current = try await remade.current(id)
          targets[current, default: []].append(deletion)
        }
        var search = CascadeSearch(access, writers, sent: sentFields)
        let ids = Set(targets.keys).union(deletions.compactMap { $0.target?.recordID18 })
        for (writer, records) in try await search.below(ids, deletions) {
          var current: Set<String> = []
          for id in records {
            let named = try await remade.current(id)
            current.insert(named)
          }
          for deletion in targets.filter({ current.contains($0.key) }).values.joined() {
            try oppose(deletion, writer, &opponents)
          }
        }
      } catch let error as OrgError {
        // The deletion itself will report what is wrong with the object.
        try await checkAlone(error, access)
      }
    }
    return opponents.mapValues { $0.sorted() }
  }

  /// The fields that the sync ups of a soup send for an edit.
  private func sentFields(_ soup: SoupKey, isNew: Bool) -> Set<String> {
    Set(rules.fields(of: soup, for: isNew ? .create : .update))
  }

  /// Records the conflict of a deletion and an edit below its record, unless they come from one
  /// device or the policy decides between them.
  private func oppose(
    _ deletion: OpenEdit, _ writer: CascadeWriter, _ opponents: inout [Int64: Set<Int64>]
  ) throws {
    guard let edit = try state.openEdit(id: writer.edit)?.edit,
      rules.contains(where: { $0.soup == edit.soup }),
      try state.device(ofEdit: deletion.id) != state.device(ofEdit: edit.id),
      try !state.areOfOneDevice(deletion.id, state.ancestry(ofEdit: deletion.id), edit.id)
    else { return }
    if edit.syncOperation == .update, writer.claim.writtenDate == nil {
      let comparison = try state.editedFields(of: edit, rules)
      if comparison.edited.isEmpty, !comparison.hasNoBase { return }
    }
    let isWritten = writer.claim.writtenDate != nil
    if isWritten, !writer.claim.isNews(toBundleOf: deletion.issued) { return }
    let sends = deletion.decision?.decision.sends == true
    let isStanding = { (edit: OpenEdit, other: RecordClaim) in
      !DeviceConflictRule.opponents(
        of: edit.claim, deviceDate: nil, issued: edit.issued, claims: [other],
        policy: self.options.deviceConflicts
      ).isEmpty
    }
    var claim = writer.claim
    // The deletion would destroy the edit's change, whatever the edit waits for.
    if !isWritten { claim.verdict = nil }
    if !sends, isStanding(deletion, claim) { opponents[deletion.id, default: []].insert(edit.id) }
    let isApproved = edit.decision?.decision.sends == true && !sends
    if !isWritten, !isApproved, isStanding(edit, deletion.claim) || sends {
      opponents[edit.id, default: []].insert(deletion.id)
    }
  }
}

extension OpenEdit {
  /// The ID by which a device knows its record; the record may have been recreated under another
  /// ID.
  fileprivate var target: String? { creation == nil ? serverID ?? recordID : recordID }
}

extension SnapshotPlanner {
  /// The verdict of an edit that conflicts with a deletion above it, or of a deletion with edits
  /// below it.
  func cascade(_ edit: OpenEdit) throws -> Settlement? {
    guard let others = cascades[edit.id] else { return nil }
    let deletes = edit.syncOperation == .delete
    var detail = OutcomeDetail.because(
      deletes
        ? "the org would also delete what other devices have written below it"
        : "another device has deleted a record, and the org would delete this one with it")
    detail.recordID = edit.recordID
    detail.otherEdits = others
    if !deletes {
      let comparison = try editedFields(of: edit)
      (detail.fields, detail.outside) = (comparison.edited, comparison.outside)
      detail.hasNoBase = comparison.hasNoBase
    }
    return Settlement(.deviceConflict, detail)
  }
}

/// An edit that writes to a record or creates one.
struct CascadeWriter {
  var edit: Int64
  var objectName: String
  var soup: SoupKey
  var recordID: String?
  var element: JSONObject
  var claim: RecordClaim

  /// Its object in lower case.
  var sobject: String { objectName.lowercased() }
}

/// Finds the edits that write below records to be deleted.
private struct CascadeSearch {
  let access: RecordReader
  let writers: [CascadeWriter]
  let sent: (SoupKey, Bool) -> Set<String>
  /// By object, in lower case: the references to records with which the org deletes a record of the
  /// object.
  private var fields: [String: Set<String>] = [:]
  /// The intermediate objects, in lower case, by ID prefix.
  private var between: [String: String] = [:]
  /// The names of objects as read, by their lower-case form.
  private var names: [String: String] = [:]
  /// By record: the records with which the org deletes it.
  private var known: [String: Set<String>] = [:]
  /// The records that were queried.
  private var asked: Set<String> = []

  /// The maximum depth of records below each other.
  private static let levels = 5

  init(
    _ access: RecordReader, _ writers: [CascadeWriter],
    sent: @escaping (SoupKey, Bool) -> Set<String>
  ) {
    (self.access, self.writers, self.sent) = (access, writers, sent)
  }

  /// The edits that write below the records of some deletions, each with all records above its own.
  nonisolated(nonsending) mutating func below(
    _ deleted: Set<String>, _ deletions: [OpenEdit]
  ) async throws -> [(writer: CascadeWriter, above: Set<String>)] {
    for name in deletions.compactMap(\.sobject) { names[name.lowercased()] = name }
    try await learn(Set(deletions.compactMap { $0.sobject?.lowercased() }))
    let concerned = writers.filter { fields[$0.sobject] != nil }
    if concerned.isEmpty { return [] }
    for (sobject, group) in Dictionary(grouping: concerned, by: \.sobject) {
      try await read(sobject, Set(group.compactMap(\.recordID)))
    }
    var parents = concerned.map(self.parents(of:))
    for _ in 0..<Self.levels {
      let unknown = Set(parents.joined()).subtracting(asked).subtracting(deleted)
      for (prefix, ids) in Dictionary(grouping: unknown, by: { String($0.prefix(3)) }) {
        guard let sobject = between[prefix] else { continue }
        try await read(sobject, Set(ids))
      }
      let above = parents.map { ids in
        ids.reduce(into: ids) { $0.formUnion(known[$1] ?? []) }
      }
      if above == parents { break }
      parents = above
    }
    return zip(concerned, parents).compactMap { writer, above in
      above.isDisjoint(with: deleted) ? nil : (writer, above)
    }
  }

  /// Reads which objects are deleted with those of the deletions, down to those of the writers.
  private nonisolated(nonsending) mutating func learn(_ deleted: Set<String>) async throws {
    for writer in writers { names[writer.sobject] = writer.objectName }
    let written = Set(writers.map(\.sobject))
    var wanted = written
    for sobject in written.sorted() {
      guard let describe = try await describe(sobject) else { continue }
      wanted.formUnion(describe.fields.flatMap(\.referenceTo).map { $0.lowercased() })
    }
    var asked: Set<String> = []
    var next = deleted
    for _ in 0..<Self.levels where !next.isEmpty {
      var found: Set<String> = []
      for sobject in next.sorted() where asked.insert(sobject).inserted {
        guard let describe = try await describe(sobject) else { continue }
        if let prefix = describe.keyPrefix { between[prefix] = sobject }
        for child in describe.children where child.cascadesDelete {
          let name = child.sobject.lowercased()
          guard wanted.contains(name) else { continue }
          names[name] = child.sobject
          fields[name, default: []].insert(child.field)
          found.insert(name)
        }
      }
      next = found
    }
  }

  private nonisolated(nonsending) func describe(_ sobject: String) async throws -> Describe? {
    let name = names[sobject] ?? sobject
    guard APIName.isValid(name) else { return nil }
    do {
      return try await access.describe(name)
    } catch {
      guard error.isAboutTheObject else { throw error }
      return nil
    }
  }

  /// Reads the records above some records of an object.
  private nonisolated(nonsending) mutating func read(
    _ sobject: String, _ ids: Set<String>
  ) async throws {
    let ids = ids.filter { asked.insert($0).inserted }.sorted()
    guard let fields = fields[sobject], !ids.isEmpty, let describe = try await describe(sobject)
    else { return }
    let names = fields.compactMap { describe.field($0)?.name }.sorted()
    if names.isEmpty { return }
    let found = try await access.records(describe.name, ids: ids, fields: ["Id"] + names)
    for (id, record) in found {
      known[id] = Set(names.compactMap { record[$0]?.string?.recordID18 })
    }
  }

  /// The direct parents of an edit's record, both in the org and as the edit sends them.
  ///
  /// For a record that the asker cannot see, they are taken from the device.
  private func parents(of writer: CascadeWriter) -> Set<String> {
    let inOrg = writer.recordID.flatMap { known[$0] }
    var parents = inOrg ?? []
    let names = sent(writer.soup, writer.recordID == nil)
    for field in fields[writer.sobject] ?? [] where inOrg == nil || names.contains(field) {
      if let id = writer.element[field]?.string?.recordID18 { parents.insert(id) }
    }
    return parents
  }
}

extension LedgerDatabase {
  /// The deletions of records in the org that have no decision against them.
  func undecidedDeletions() throws -> [(snapshotID: String, edit: OpenEdit)] {
    let ids = try connection.all(
      """
      SELECT e.id FROM edit e WHERE e.operation IN ('delete', 'dropped') AND e.finding IS NULL
        AND (e.state <> 'closed' OR e.verdict = \(Verdict.deviceConflict)) ORDER BY e.id
      """)
    return try ids.compactMap { row in
      guard let found = try openEdit(id: row[0].integer ?? 0),
        found.edit.syncOperation == .delete, !found.edit.isToBeUndone
      else { return nil }
      switch found.edit.decision?.decision {
      case .discard?, .server?: return nil
      case .device?, .set?, .record?, .retry?, .undo?, nil: return found
      }
    }
  }

  /// The edits that write to a record or create one: those that are unresolved, and those sent
  /// since a time in ms, if given.
  func writers(sentSince: Int64?) throws -> [CascadeWriter] {
    let written: SQL = """
      (SELECT coalesce(o.server_date, 'unknown') FROM operation o WHERE o.edit_id = e.id
        AND o.state = \(OperationState.done) AND o.action IN ('create', 'update', 'upsert')
        ORDER BY o.id DESC LIMIT 1)
      """
    let rows = try connection.all(
      """
      SELECT e.id, e.sobject, e.store, e.soup, e.entry_id, e.element, r.arrived_ms, e.verdict, e.state,
        coalesce(c.chosen_id, c.record_id, e.record_id), \(written)
      FROM edit e JOIN returned r ON r.id = e.return_id LEFT JOIN creation c ON c.id = e.creation_id
      WHERE e.operation IN ('create', 'update') AND e.finding IS NULL AND e.sobject IS NOT NULL
        AND (\(Self.isUnsettledEdit) OR (r.arrived_ms > \(sentSince) AND \(written) IS NOT NULL
          AND e.verdict IS NOT \(Verdict.undone)))
        AND NOT EXISTS (SELECT 1 FROM decision d WHERE d.edit_id = e.id AND d.state = 'pending'
          AND d.kind IN ('server', 'discard', 'undo'))
      ORDER BY e.id
      """)
    return rows.compactMap { row in
      guard let element = (try? JSONValue(parsing: row[5].blob ?? []))?.object else { return nil }
      return CascadeWriter(
        edit: row[0].integer ?? 0, objectName: row[1].text ?? "",
        soup: SoupKey(store: StoreKey(text: row[2].text ?? ""), soup: row[3].text ?? ""),
        recordID: row[9].text?.recordID18, element: element,
        claim: RecordClaim(
          editID: row[0].integer ?? 0, arrived: row[6].integer ?? 0,
          verdict: row[8].text == "open" ? nil : row[7].text.flatMap(Verdict.init(rawValue:)),
          writtenDate: row[10].text))
    }
  }
}
