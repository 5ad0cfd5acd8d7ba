import JSON
import Ledger
import MobileSync
import SQLite
import Salesforce

/// An edit that writes to a record or creates one.
struct CascadeWriter {
  var edit: Int64
  /// The lineage of its return.
  var lineage: Int64
  var objectName: String
  var soup: SoupKey
  /// Its creation in the ledger, if its device created the record.
  var creation: Int64?
  /// The record; nil for a new one.
  var recordID: String?
  /// Whether the ledger has no record for it, so that it is sent with the fields of a create.
  var isNew: Bool
  /// The element, with the values of a decision once `openEdit` is read.
  var element: JSONObject
  var claim: RecordClaim
  /// Whether each run processes it.
  var isOpen: Bool
  /// The edit with what the ledger knows of its record; nil until that is read.
  var openEdit: OpenEdit?

  /// Its object in lower case.
  var sobject: String { objectName.lowercased() }
}

/// A deletion of a record in the org that has no decision against it.
struct UndecidedDeletion {
  var edit: OpenEdit
  /// Whether it is processed by each run, or waits because of other edits; otherwise an operator
  /// has to decide it.
  var isDue: Bool
}

extension LedgerDatabase {
  /// The unresolved deletions of records in the org that have no decision against them.
  func undecidedDeletions() throws -> [UndecidedDeletion] {
    let ids = try connection.all(
      """
      SELECT e.id, e.state <> 'closed' OR e.verdict = \(Verdict.deviceConflict)
      FROM edit e WHERE e.operation IN ('delete', 'dropped') AND e.finding IS NULL
        AND \(Self.isUnsettledEdit) ORDER BY e.id
      """)
    let edits = try edits(.numbered(Set(ids.compactMap { $0[0].integer }))).byNumber
    return ids.compactMap { row in
      guard let edit = edits[row[0].integer ?? 0], edit.syncOperation == .delete,
        !edit.isToBeUndone
      else { return nil }
      switch edit.decision?.decision {
      case .discard?, .server?: return nil
      case .device?, .set?, .record?, .retry?, .undo?, nil:
        return UndecidedDeletion(edit: edit, isDue: row[1].integer == 1)
      }
    }
  }

  /// The deletions that open edits waited for and that were applied since, by edit.
  func mastersGone() throws -> [Int64: [Int64]] {
    let rows = try connection.all(
      """
      SELECT DISTINCT e.id, d.id FROM edit e JOIN outcome x ON x.edit_id = e.id,
        json_each(x.detail, '$.otherEdits') o JOIN edit d ON d.id = o.value
      WHERE e.state <> 'closed' AND e.operation IN ('create', 'update')
        AND x.verdict IN (\(list: Verdict.list(\.isWaiting))) AND d.operation IN ('delete', 'dropped')
        AND d.verdict = \(Verdict.deleted) AND d.record_id IS NOT e.record_id
        AND (d.creation_id IS NULL OR d.creation_id IS NOT e.creation_id) ORDER BY e.id, d.id
      """)
    return rows.reduce(into: [:]) { masters, row in
      guard let edit = row[0].integer, let deletion = row[1].integer else { return }
      masters[edit, default: []].append(deletion)
    }
  }

  /// Whether an edit is still to be sent or needs review.
  func isUnsettled(_ edit: Int64) throws -> Bool {
    try connection.integer("SELECT 1 FROM edit e WHERE e.id = \(edit) AND \(Self.isUnsettledEdit)")
      != nil
  }

  /// The edits that write to a record or create one: those that are unresolved, and those sent
  /// since a time in ms, if given, also without any of their fields.
  func writers(sentSince: Int64?) throws -> [CascadeWriter] {
    let written: SQL = """
      (SELECT coalesce(o.server_date, 'unknown') FROM operation o WHERE o.edit_id = e.id
        AND o.state = \(OperationState.done) AND o.action IN ('create', 'update', 'upsert')
        ORDER BY o.id DESC LIMIT 1)
      """
    let rows = try connection.all(
      """
      SELECT e.id, e.sobject, e.store, e.soup, e.entry_id, e.element, r.arrived_ms, e.verdict, e.state,
        coalesce(c.chosen_id, c.record_id, e.record_id, c.device_record_id), \(written), e.lineage_id,
        e.creation_id
      FROM edit e JOIN returned r ON r.id = e.return_id LEFT JOIN creation c ON c.id = e.creation_id
      WHERE e.operation IN ('create', 'update') AND e.finding IS NULL AND e.sobject IS NOT NULL
        AND (\(Self.isUnsettledEdit) OR (r.arrived_ms > \(sentSince)
          AND (\(written) IS NOT NULL OR e.verdict = \(Verdict.notInFieldList))
          AND e.verdict IS NOT \(Verdict.undone)))
        AND NOT EXISTS (SELECT 1 FROM decision d WHERE d.edit_id = e.id AND d.state = 'pending'
          AND d.kind IN ('server', 'discard', 'undo'))
      ORDER BY e.id
      """)
    return rows.compactMap { row in
      guard let element = (try? JSONValue(parsing: row[5].blob ?? []))?.object else { return nil }
      let id = row[9].text?.recordID18
      return CascadeWriter(
        edit: row[0].integer ?? 0, lineage: row[11].integer ?? 0, objectName: row[1].text ?? "",
        soup: SoupKey(store: StoreKey(text: row[2].text ?? ""), soup: row[3].text ?? ""),
        creation: row[12].integer, recordID: id, isNew: id == nil, element: element,
        claim: RecordClaim(
          editID: row[0].integer ?? 0, arrived: row[6].integer ?? 0,
          verdict: row[8].text == "open" ? nil : row[7].text.flatMap(Verdict.init(rawValue:)),
          writtenDate: row[10].text),
        isOpen: row[8].text != "closed")
    }
  }
}

extension CascadeWriter {
  /// Takes the edit with the values of its decision and, for a merged record, the surviving record.
  mutating func add(_ edit: OpenEdit?) {
    openEdit = edit
    guard let pending = edit?.decision else { return }
    if case .set(let values, _) = pending.decision {
      for (name, value) in values { element[name] = value }
    }
    if pending.decision.sends, pending.verdict == .mergedOnServer, let id = pending.otherID {
      recordID = id.recordID18 ?? id
    }
  }
}
