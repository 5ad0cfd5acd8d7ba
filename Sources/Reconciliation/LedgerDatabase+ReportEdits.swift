import JSON
import Ledger
import MobileSync
import SQLite

extension LedgerDatabase {
  /// The verdicts that `selection` names (edit, run, verdict), in order of arrival.
  ///
  /// - Parameter count: How many there will be, as far as that is known.
  func reportRows(_ selection: SQL, count: Int = 0) throws -> [ReportEdits.Row] {
    var rows: [ReportEdits.Row] = []
    rows.reserveCapacity(count)
    try connection.rows(
      """
      SELECT p.edit_id, n.number, p.verdict FROM (\(selection)) p JOIN run n ON n.id = p.run_id
      ORDER BY p.edit_id
      """
    ) { row in
      rows.append(
        .init(
          number: row.integer(0), run: Int32(clamping: row.integer(1)),
          verdict: Self.verdict(row.text(2))))
    }
    return rows
  }

  private static func verdict(_ name: String?) -> Verdict {
    name.flatMap(Verdict.init(rawValue:)) ?? .failed
  }

  /// Hands over what rows say, in their order.
  ///
  /// - Parameter isBrief: What only counts and names need: without the fields, the org's words and the name
  ///   of the record.
  /// - Throws: `LedgerError.unaccounted` where an edit is not there any more, and what `body` throws.
  func reportEdits(
    _ rows: [ReportEdits.Row], isBrief: Bool = false, _ body: (ReportEdit) throws -> Void
  ) throws {
    var rest = rows[...]
    while let run = rest.first?.run {
      let batch = rest.prefix(500).prefix { $0.run == run }
      rest = rest[batch.endIndex...]
      let name = try connection.text("SELECT id FROM run WHERE number = \(Int64(run))") ?? ""
      var told = 0
      try connection.rows(Self.edits(batch, of: name, isBrief: isBrief)) { row in
        try body(try edit(row))
        told += 1
      }
      guard told == batch.count else {
        throw LedgerError.unaccounted(run: name, edits: batch.count, verdicts: told)
      }
    }
  }

  /// Asks for what rows of one run say.
  ///
  /// Nothing is sorted, as an element may be large: the rows come in the order in which the list names them.
  private static func edits(
    _ rows: ArraySlice<ReportEdits.Row>, of run: String, isBrief: Bool
  ) -> SQL {
    let numbers = JSONValue.array(rows.map { JSONValue($0.number) }).text
    let contents: SQL =
      isBrief
      ? "iif(x.detail ->> '$.decision' IS NULL, '{}', x.detail), NULL" : "x.detail, e.element"
    return """
      SELECT e.id, x.verdict, \(contents), s.username, e.store, e.soup, e.entry_id, e.operation,
        e.sobject, coalesce(c.record_id, e.record_id), e.local_id, r.source_name,
        r.platform, r.generation, e.lineage_id, x.run_id,
        (SELECT n.id || ' ' || n.now_ms FROM outcome f JOIN run n ON n.id = f.run_id
          WHERE f.edit_id = e.id ORDER BY n.number LIMIT 1),
        e.record_id IS NOT NULL OR coalesce(c.record_id, c.device_record_id) IS NOT NULL,
        e.finding IS NULL, e.last_modified_ms, r.arrived_ms,
        CASE WHEN x.verdict IN (\(Verdict.undone), \(Verdict.partlyUndone)) THEN (
          SELECT o.action FROM operation o WHERE o.edit_id = e.id AND o.state = \(OperationState.done)
            AND \(isUndo()) ORDER BY o.id DESC LIMIT 1) END,
        \(isToBeUndone)
      FROM json_each(\(numbers)) p CROSS JOIN outcome x ON x.run_id = \(run) AND x.edit_id = p.value
        CROSS JOIN edit e ON e.id = x.edit_id CROSS JOIN returned r ON r.id = e.return_id
        LEFT JOIN snapshot s ON s.id = r.snapshot_id LEFT JOIN creation c ON c.id = e.creation_id
      """
  }

  private func edit(_ row: borrowing Row) throws -> ReportEdit {
    let detail = OutcomeDetail(json: try parse(row.text(2), "an outcome"))
    let element = row.isNull(3) ? nil : (try? JSONValue(parsing: Array(row.bytes(3))))?.object
    let first = (row.text(17) ?? "").split(separator: " ")
    return ReportEdit(
      number: row.integer(0), verdict: Self.verdict(row.text(1)),
      detail: detail, username: row.text(4), store: StoreKey(text: row.text(5) ?? ""),
      soup: row.text(6) ?? "", soupEntryID: row.integer(7),
      operation: EditOperation(rawValue: row.text(8) ?? "") ?? .update, sobject: row.text(9),
      recordID: detail.recordID ?? row.text(10), localID: row.text(11),
      titles: element.map(ReportEdit.titles(of:)) ?? [], source: row.text(12) ?? "",
      platform: row.text(13) ?? "", generation: row.integer(14),
      element: detail.message == nil ? nil : element, device: row.integer(15),
      hasRecord: row.integer(18) == 1, isReadable: row.integer(19) == 1,
      isToBeUndone: row.integer(23) == 1, run: row.text(16) ?? "",
      foundBy: first.first.map(String.init) ?? "",
      foundAt: first.last.flatMap { Int64($0) } ?? 0, editedAt: row.integer(20),
      arrivedAt: row.integer(21),
      undoing: row.text(22).flatMap { SyncUpAction(rawValue: $0) })
  }
}

extension ReportEdits {
  /// The edits of some rows, counted; where a user is named, only what that user's devices brought.
  init(_ state: LedgerDatabase, _ rows: [Row], user: String?, isRehearsal: Bool) throws {
    var totals = ReportTotals()
    var own: [Row] = []
    var place = rows.startIndex
    try state.reportEdits(rows, isBrief: true) { edit in
      defer { place += 1 }
      if let user {
        guard edit.username == user else { return }
        own.append(rows[place])
      }
      totals.add(edit)
    }
    self.init(rows: user == nil ? rows : own, totals: totals) { rows, body in
      try state.reportEdits(rows) { edit in
        try body(isRehearsal ? edit.withoutPresumedIDs : edit)
      }
    }
  }
}

extension ReportEdit {
  /// Without the Ids that a dry run gave to records which the org has never made.
  fileprivate var withoutPresumedIDs: ReportEdit {
    var edit = self
    if edit.recordID.map(PresumedWrites.isMade) == true { edit.recordID = nil }
    if edit.detail.recordID.map(PresumedWrites.isMade) == true { edit.detail.recordID = nil }
    return edit
  }
}
