import JSON
import MobileSync
import SQLite
import System

extension LedgerDatabase {
  /// Whether the changes of an edit `e` are to be undone.
  package static let isToBeUndone: SQL = """
    EXISTS (SELECT 1 FROM decision u WHERE u.edit_id = e.id AND u.state = 'pending' AND u.kind = 'undo')
    """

  /// Whether a pending decision about an edit `e` is applied before a later state of its row counts:
  /// it undoes what was written, or says which record the row is.
  static let isDecidedFirst: SQL = """
    EXISTS (SELECT 1 FROM decision u WHERE u.edit_id = e.id AND u.state = 'pending'
      AND u.kind IN ('undo', 'record'))
    """

  /// Whether a write `o` undid its edit's changes.
  package static let isUndo: SQL = "(o.purpose = \(OperationRow.Purpose.undo.rawValue))"

  /// Whether the changes of an edit are to be undone.
  func isToBeUndone(_ edit: Int64) throws -> Bool {
    try connection.integer("SELECT 1 FROM edit e WHERE e.id = \(edit) AND \(Self.isToBeUndone)")
      != nil
  }

  // MARK: changes

  /// The edits that a run sent: those for which it changed the org, or found that the org had been
  /// changed, and those whose requests have an unknown outcome; and whether it has undone anything.
  package func sentEdits(
    by run: String
  ) throws -> (written: [Int64], underWay: [Int64], hasUndone: Bool) {
    let written = try connection.all(
      """
      SELECT o.edit_id FROM operation o
      WHERE o.run_id = \(run) AND o.state = \(OperationState.done) AND NOT \(Self.isUndo)
      UNION SELECT x.edit_id FROM outcome x
      WHERE x.run_id = \(run) AND x.verdict IN (\(list: Verdict.list(\.isWritten))) AND (x.verdict = \(Verdict.deleted)
        OR EXISTS (SELECT 1 FROM operation o
          WHERE o.edit_id = x.edit_id AND o.state = \(OperationState.done)))
      ORDER BY 1
      """)
    let underWay = try connection.all(
      """
      SELECT DISTINCT o.edit_id FROM operation o
      WHERE o.run_id = \(run) AND o.state IN (\(OperationState.underWay)) AND NOT \(Self.isUndo)
      """)
    let undone = try connection.integer(
      """
      SELECT 1 FROM operation o
      WHERE o.run_id = \(run) AND o.state = \(OperationState.done) AND \(Self.isUndo)
      UNION ALL SELECT 1 FROM outcome x WHERE x.run_id = \(run)
        AND x.verdict IN (\(list: Verdict.list(\.isUndone)), \(Verdict.notUndone)) LIMIT 1
      """)
    return (
      written.compactMap { $0[0].integer }, underWay.compactMap { $0[0].integer }, undone != nil
    )
  }

  /// What an edit changed in the org, as one write; nil if none of its writes was done.
  ///
  /// Its action is a creation, an update or a deletion, and its number that of the last write.
  /// `seen` has the earlier values of what was sent, as far as they are known, and `left` the values
  /// after the writes. The date is unknown if another user wrote before the last one was read back.
  /// The date of a deletion is its latest time, and its senders are all who can have sent it. A
  /// change that was undone has that purpose, and the run that undid it.
  package func change(by edit: Int64) throws -> OperationRow? {
    var change: OperationRow?
    var undo: OperationRow?
    for write in try operations(.ofEdits([edit])) where write.state == .done {
      guard let recordID = write.resultID ?? write.recordID else { continue }
      if write.purpose == .undo {
        undo = write
        continue
      }
      let action: SyncUpAction =
        switch write.action {
        case .create, .delete: write.action
        case .upsert: try isCreated(by: edit) ? .create : .update
        case .update, .undelete: .update
        }
      if undo != nil || change?.recordID != recordID || action == .delete {
        change = OperationRow(
          editID: edit, action: action, sobject: write.sobject, recordID: recordID,
          expected: write.expected)
        change?.left = [:]
        undo = nil
      }
      let former = Self.former(seen: write.seen?.object, write.expected.detail)
      var before = change?.seen?.object ?? [:]
      for (name, value) in write.payload {
        if change?.payload[name] == nil { before[name] = former(name) }
        change?.payload[name] = value
        change?.left?[name] = write.left?[name]
      }
      change?.seen = .object(before)
      change?.serverDate = write.left == nil ? nil : write.serverDate
      if write.isDoubted { change?.isDoubted = true }
      change?.id = write.id
    }
    if change == nil { change = try deletion(withMasterBy: edit) }
    if change?.action == .delete { try addDeletion(to: &change) }
    if let undo {
      change?.purpose = .undo
      change?.run = undo.run
    }
    return change
  }

  /// Whether the first write of an edit created its record.
  private func isCreated(by edit: Int64) throws -> Bool {
    try connection.text(
      """
      SELECT x.verdict FROM outcome x JOIN run n ON n.id = x.run_id WHERE x.edit_id = \(edit)
        AND x.verdict IN (\(Verdict.created), \(Verdict.updated)) ORDER BY n.number LIMIT 1
      """) == Verdict.created.rawValue
  }

  /// The deletion of a detail record together with its master, for which nothing was sent.
  private func deletion(withMasterBy edit: Int64) throws -> OperationRow? {
    let row = try connection.first(
      """
      SELECT e.sobject, coalesce(json_extract(x.detail, '$.recordId'), e.record_id),
        (SELECT max(o.id) FROM operation o WHERE o.run_id = x.run_id AND o.state = \(OperationState.done))
      FROM outcome x JOIN edit e ON e.id = x.edit_id JOIN run n ON n.id = x.run_id
      WHERE x.edit_id = \(edit) AND x.verdict = \(Verdict.deleted) ORDER BY n.number DESC LIMIT 1
      """)
    guard let row, let id = row[1].text, let write = row[2].integer else { return nil }
    var deletion = OperationRow(
      editID: edit, action: .delete, sobject: row[0].text ?? "", recordID: id,
      expected: Settlement(.deleted, OutcomeDetail()))
    deletion.id = write
    return deletion
  }

  /// Adds to a deletion the users who can have sent it, and its latest time.
  ///
  /// A detail record deleted with its master was deleted by one of that run's deletions.
  private func addDeletion(to deletion: inout OperationRow?) throws {
    guard var change = deletion else { return }
    let rows = try connection.all(
      """
      SELECT server_date, coalesce(last_ms, sent_ms), sender_id FROM operation
      WHERE action = 'delete' AND state = \(OperationState.done) AND (id = \(change.id)
        OR edit_id <> \(change.editID) AND run_id = (SELECT w.run_id FROM operation w
          WHERE w.id = \(change.id) AND w.edit_id <> \(change.editID)))
      """)
    var latest: Int64?
    for row in rows {
      let noted = row[0].text.flatMap { Dates.milliseconds(iso8601: $0) }
      guard let until = noted ?? row[1].integer.map({ $0 + OperationRow.writeMilliseconds }) else {
        continue
      }
      latest = max(latest ?? until, until)
      if let sender = row[2].text { change.otherSenders.append(sender) }
    }
    change.serverDate = latest.map(Dates.salesforce)
    deletion = change
  }

  /// The value of a field before a write, as read then.
  ///
  /// If it was not recorded with the write, the verdict has it, for the edited fields only.
  private static func former(
    seen: JSONObject?, _ detail: OutcomeDetail
  ) -> (String) -> JSONValue? {
    if let seen { return { seen[$0] } }
    return { name in detail.fields.first { $0.name == name }?.server }
  }

  // MARK: undo

  /// The edits of a run whose undo waits for the undo of others, with the latter.
  package func waitingUndos(run: String) throws -> [Int64: Set<Int64>] {
    var waits: [Int64: Set<Int64>] = [:]
    for row in try connection.all(
      """
      SELECT x.edit_id, o.value FROM outcome x JOIN edit e ON e.id = x.edit_id,
        json_each(x.detail, '$.otherEdits') o
      WHERE x.run_id = \(run) AND x.verdict = \(Verdict.notAttempted) AND \(Self.isToBeUndone)
      """)
    {
      guard let edit = row[0].integer, let other = row[1].integer else { continue }
      waits[edit, default: []].insert(other)
    }
    return waits
  }

  /// The edit that was undone, if another edit of its row says nothing new.
  ///
  /// `isSame` receives the element of an earlier edit of the row: whether the edit has the same
  /// values. A deletion has none. Nil if there is no such edit, if the row had another state in
  /// between, or if it is in another copy of the record.
  package func undoneEdit(
    heldBy edit: OpenEdit, isSame: (_ element: [UInt8]) -> Bool
  ) throws -> Int64? {
    guard let recordID = edit.recordID else { return nil }
    let deletes = edit.syncOperation == .delete
    let ofRecord = Self.edits(of: recordID, formerID: edit.serverID)
    let undone = try connection.first(
      """
      SELECT x.edit_id, n.number FROM outcome x JOIN run n ON n.id = x.run_id
      JOIN edit e ON e.id = x.edit_id
      WHERE e.id IN (\(ofRecord)) AND (e.operation IN ('delete', 'dropped')) = \(deletes)
        AND x.verdict IN (\(list: Verdict.list(\.isUndone))) ORDER BY n.number DESC LIMIT 1
      """)
    guard let undone, let last = undone[0].integer else { return nil }
    let earlier = try connection.all(
      """
      SELECT e.id, e.operation = \(edit.operation.rawValue)
          AND e.modification_date IS \(edit.modificationDate)
          AND NOT EXISTS (SELECT 1 FROM witness w JOIN returned r ON r.id = w.return_id
            WHERE w.store = e.store AND w.soup = e.soup AND w.entry_id = e.entry_id
              AND w.return_id > e.return_id AND w.return_id < \(edit.returnID)
              AND r.lineage_id = e.lineage_id),
        EXISTS (SELECT 1 FROM outcome x JOIN run n ON n.id = x.run_id
          WHERE x.edit_id = e.id AND (x.verdict IN (\(list: Verdict.list(\.isUndone)))
            OR (\(deletes) AND n.number < \(undone[1].integer)))), e.element, e.pruned
      FROM edit e WHERE e.id IN (\(ofRecord)) AND e.id < \(edit.id)
        AND e.store = \(edit.row.store.text) AND e.soup = \(edit.row.soup)
        AND e.entry_id = \(edit.row.soupEntryID) ORDER BY e.id DESC
      """)
    let lineages = try lineages(of: Set(earlier.compactMap { $0[0].integer } + [edit.id]))
    for row in earlier {
      guard let id = row[0].integer, lineages.owns(edit.id, id) else { continue }
      guard row[1].integer == 1 else { return nil }
      let isUnchanged =
        row[4].text.map { $0 == ElementContent.value(of: edit.element) }
        ?? isSame(row[3].blob ?? [])
      guard deletes || isUnchanged else { return nil }
      if row[2].integer == 1 { return deletes ? last : id }
    }
    return nil
  }

  /// The numbers of all edits of a record: by its ID, by the ID that a creation got, or by that of
  /// the deleted record that it replaced.
  static func edits(of recordID: String, formerID: String?) -> SQL {
    """
    SELECT id FROM edit WHERE record_id IN (\(recordID), \(formerID))
    UNION SELECT f.id FROM creation c JOIN edit f ON f.creation_id = c.id
      WHERE c.record_id = \(recordID)
    UNION SELECT edit_id FROM operation WHERE result_id = \(recordID) AND state = \(OperationState.done)
    """
  }

  /// Reopens the edits of a run whose undo waits for an edit that has now been decided.
  func takeUpAgain(waitingFor edit: Int64, run: String) throws {
    try connection.run(
      """
      DELETE FROM outcome WHERE run_id = \(run) AND verdict = \(Verdict.notAttempted)
        AND edit_id IN (SELECT e.id FROM decision p JOIN edit e ON e.id = p.edit_id
          WHERE p.state = 'pending' AND p.kind = 'undo')
        AND EXISTS (SELECT 1 FROM json_each(detail, '$.otherEdits') WHERE value = \(edit))
      """)
  }
}

extension Verdict {
  /// The verdict for an edit that was to be undone: if the org refused or did not perform the undo,
  /// the change stands.
  var ofUndo: Verdict {
    switch self {
    case .undone, .partlyUndone, .notUndone, .superseded, .notAttempted, .unconfirmed: self
    default: .notUndone
    }
  }
}
