import JSON
import Ledger
import MobileSync
import SQLite

extension LedgerDatabase {
  /// The verdicts that `selection` returns (edit, run, verdict), in order of arrival.
  ///
  /// - Parameter count: The expected number, as far as known.
  func reportRows(_ selection: SQL, count: Int = 0) throws -> [ReportEdits.Row] {
    var rows: [ReportEdits.Row] = []
    rows.reserveCapacity(count)
    try connection.rows(
      """
      SELECT p.edit_id, n.number, p.verdict FROM (\(selection)) p JOIN run n ON n.id = p.run_id
      """
    ) { row in
      rows.append(
        .init(
          number: row.integer(0), run: Int32(clamping: row.integer(1)),
          verdict: Self.verdict(row.text(2))))
    }
    // The rows of one run are already in order; sorting them in SQL would take several times the
    // memory.
    rows.sort { $0.number < $1.number }
    return rows
  }

  private static func verdict(_ name: String?) -> Verdict {
    name.flatMap(Verdict.init(rawValue:)) ?? .failed
  }

  /// Passes the edits of rows to `body`, in order; with `withSent`, including what was sent.
  ///
  /// - Throws: `LedgerError.unaccounted` if an edit no longer exists, and errors from `body`.
  func reportEdits(
    _ rows: [ReportEdits.Row], withSent: Bool = false, _ body: (ReportEdit) throws -> Void
  ) throws {
    try inBatches(rows) { batch, run in
      var told = 0
      try connection.rows(Self.edits(batch, of: run, withSent: withSent)) { row in
        try body(try edit(row))
        told += 1
      }
      return told
    }
  }

  /// The totals of rows, counted by SQLite so that the edits need not be read one by one.
  ///
  /// - Throws: `LedgerError.unaccounted` if an edit no longer exists.
  func totals(of rows: [ReportEdits.Row]) throws -> ReportTotals {
    var totals = ReportTotals()
    try inBatches(rows) { batch, run in
      var told = 0
      try connection.rows(Self.counts(batch, of: run)) { row in
        let count = Int(row.integer(0))
        let detail = try row.text(10).map { OutcomeDetail(json: try parse($0, "an outcome")) }
        let verdict = Self.verdict(row.text(1))
        let subject = row.text(12).map { operation in
          DecisionRule.Subject(
            verdict: verdict, operation: EditOperation(rawValue: operation) ?? .update,
            hasRecord: row.integer(13) == 1, isReadable: row.integer(14) == 1,
            isToBeUndone: row.integer(15) == 1)
        }
        totals.add(
          edits: count, verdict, subject: subject, username: row.text(2),
          soup: SoupKey(store: StoreKey(text: row.text(3) ?? ""), soup: row.text(4) ?? ""),
          sobject: row.text(5), source: row.text(6) ?? "", arrivedAt: row.integer(7),
          edited: row.isNull(8) ? nil : row.integer(8)...row.integer(9),
          editsWithTime: Int(row.integer(11)), decision: detail?.decision)
        told += count
      }
      return told
    }
    return totals
  }

  /// The rows whose edits come from a user's devices.
  func rows(_ rows: [ReportEdits.Row], of username: String) throws -> [ReportEdits.Row] {
    var own: Set<Int64> = []
    for part in rows.parts(of: ReportEdits.batch) {
      let numbers = JSONValue.array(part.map { JSONValue($0.number) })
      let found = try connection.all(
        """
        SELECT e.id FROM json_each(\(numbers.text)) p CROSS JOIN edit e ON e.id = p.value
          CROSS JOIN returned r ON r.id = e.return_id JOIN snapshot s ON s.id = r.snapshot_id
        WHERE s.username = \(username)
        """)
      own.formUnion(found.compactMap { $0[0].integer })
    }
    return rows.filter { own.contains($0.number) }
  }

  /// Passes rows of one run at a time to `body`, with the run's ID; `body` returns how many it
  /// found.
  private func inBatches(
    _ rows: [ReportEdits.Row], _ body: (ArraySlice<ReportEdits.Row>, String) throws -> Int
  ) throws {
    var rest = rows[...]
    while let run = rest.first?.run {
      let batch = rest.prefix(ReportEdits.batch).prefix { $0.run == run }
      rest = rest[batch.endIndex...]
      let name = try connection.text("SELECT id FROM run WHERE number = \(Int64(run))") ?? ""
      let told = try body(batch, name)
      guard told == batch.count else {
        throw LedgerError.unaccounted(run: name, edits: batch.count, verdicts: told)
      }
    }
  }

  /// The query for the totals of rows of one run: one result for equal edits, and one for each edit
  /// with a decision.
  private static func counts(_ rows: ArraySlice<ReportEdits.Row>, of run: String) -> SQL {
    let numbers = JSONValue.array(rows.map { JSONValue($0.number) }).text
    // If the text does not contain the key, it need not be parsed.
    let decided: SQL = "instr(x.detail, '\"decision\":') > 0"
    let isOpen: SQL = "\(raw: LedgerSchema.isUnsettled("x.verdict"))"
    return """
      SELECT count(*), x.verdict, s.username, e.store, e.soup, e.sobject, r.source_name, r.arrived_ms,
        min(nullif(max(e.last_modified_ms, 0), 0)), max(e.last_modified_ms),
        iif(\(decided), x.detail, NULL), count(nullif(max(e.last_modified_ms, 0), 0)),
        iif(\(isOpen), e.operation, NULL), \(isOpen) AND \(hasRecord), e.finding IS NULL,
        \(isOpen) AND \(isToBeUndone)
      FROM json_each(\(numbers)) p CROSS JOIN outcome x ON x.run_id = \(run) AND x.edit_id = p.value
        CROSS JOIN edit e ON e.id = x.edit_id CROSS JOIN returned r ON r.id = e.return_id
        LEFT JOIN snapshot s ON s.id = r.snapshot_id LEFT JOIN creation c ON c.id = e.creation_id
      GROUP BY r.id, e.store, e.soup, e.sobject, x.verdict, iif(\(decided), x.edit_id, NULL),
        13, 14, 15, 16
      """
  }

  /// The query for the edits of rows of one run.
  ///
  /// Nothing is sorted, because an element may be large: the results are in the order of the list.
  private static func edits(
    _ rows: ArraySlice<ReportEdits.Row>, of run: String, withSent: Bool
  ) -> SQL {
    let sent: SQL = withSent ? "w.payload, w.external_field, w.external_value" : "NULL, NULL, NULL"
    let write: SQL = withSent ? "LEFT JOIN operation w ON w.id = (\(lastWrite))" : ""
    let numbers = JSONValue.array(rows.map { JSONValue($0.number) }).text
    return """
      SELECT e.id, x.verdict, x.detail, e.element, s.username, e.store, e.soup, e.entry_id, e.operation,
        e.sobject, coalesce(c.record_id, e.record_id), e.local_id, r.source_name,
        r.platform, r.generation, e.lineage_id, x.run_id,
        (SELECT n.id || ' ' || n.now_ms FROM outcome f JOIN run n ON n.id = f.run_id
          WHERE f.edit_id = e.id ORDER BY n.number LIMIT 1),
        \(hasRecord),
        e.finding IS NULL, e.last_modified_ms, r.arrived_ms,
        CASE WHEN x.verdict IN (\(Verdict.undone), \(Verdict.partlyUndone)) THEN (
          SELECT o.action FROM operation o WHERE o.edit_id = e.id AND o.state = \(OperationState.done)
            AND \(isUndo) ORDER BY o.id DESC LIMIT 1) END,
        \(isToBeUndone), \(sent)
      FROM json_each(\(numbers)) p CROSS JOIN outcome x ON x.run_id = \(run) AND x.edit_id = p.value
        CROSS JOIN edit e ON e.id = x.edit_id CROSS JOIN returned r ON r.id = e.return_id
        LEFT JOIN snapshot s ON s.id = r.snapshot_id LEFT JOIN creation c ON c.id = e.creation_id
        \(write)
      """
  }

  /// The write that an outcome `x` of an edit `e` is about: of the same run, or an earlier one that
  /// was found done or is still being looked for; none if the values are pruned.
  ///
  /// SQLite does not resolve `x` in an ORDER BY here.
  private static var lastWrite: SQL {
    """
    SELECT coalesce(max(iif(o.run_id = x.run_id, o.id, NULL)), max(o.id)) FROM operation o
    WHERE o.edit_id = x.edit_id AND e.pruned IS NULL
      AND o.state NOT IN (\(OperationState.planned), \(OperationState.dropped))
      AND (o.run_id = x.run_id OR o.state IN (\(OperationState.done), \(OperationState.doubt)))
      AND x.verdict NOT IN (\(Verdict.undone), \(Verdict.partlyUndone), \(Verdict.notUndone))
      AND NOT \(isUndo)
    """
  }

  /// The payload of a write, including its external ID.
  private func sent(
    _ payload: String?, _ externalField: String?, _ externalValue: String?
  ) throws -> JSONObject? {
    guard let payload, var fields = try parse(payload, "a write").object else { return nil }
    if let externalField, let externalValue { fields[externalField] = .string(externalValue) }
    return fields
  }

  private func edit(_ row: borrowing Row) throws -> ReportEdit {
    let detail = OutcomeDetail(json: try parse(row.text(2), "an outcome"))
    let element = Array(row.bytes(3))
    let first = (row.text(17) ?? "").split(separator: " ")
    var edit = ReportEdit(
      number: row.integer(0), verdict: Self.verdict(row.text(1)),
      detail: detail, username: row.text(4), store: StoreKey(text: row.text(5) ?? ""),
      soup: row.text(6) ?? "", soupEntryID: row.integer(7),
      operation: EditOperation(rawValue: row.text(8) ?? "") ?? .update, sobject: row.text(9),
      recordID: detail.recordID ?? row.text(10), localID: row.text(11),
      titles: (try? ReportEdit.naming.object(of: element)).map(ReportEdit.titles(of:)) ?? [],
      source: row.text(12) ?? "",
      platform: row.text(13) ?? "", generation: row.integer(14),
      element: detail.message == nil ? nil : (try? JSONValue(parsing: element))?.object,
      device: row.integer(15),
      hasRecord: row.integer(18) == 1, isReadable: row.integer(19) == 1,
      isToBeUndone: row.integer(23) == 1, run: row.text(16) ?? "",
      foundBy: first.first.map(String.init) ?? "",
      foundAt: first.last.flatMap { Int64($0) } ?? 0, editedAt: row.integer(20),
      arrivedAt: row.integer(21),
      undoing: row.text(22).flatMap { SyncUpAction(rawValue: $0) })
    edit.sent = try sent(row.text(24), row.text(25), row.text(26))
    return edit
  }
}

extension ReportEdits {
  /// The edits of rows, with totals; if a user is given, only those from that user's devices.
  init(_ state: LedgerDatabase, _ rows: [Row], user: String?, isRehearsal: Bool) throws {
    let rows = try user.map { try state.rows(rows, of: $0) } ?? rows
    self.init(rows: rows, totals: try state.totals(of: rows)) { rows, withSent, body in
      try state.reportEdits(rows, withSent: withSent) { edit in
        try body(isRehearsal ? edit.withoutPresumedIDs : edit)
      }
    }
  }
}

extension ReportEdit {
  /// The edit without IDs that a dry run invented for records that the org never created.
  fileprivate var withoutPresumedIDs: ReportEdit {
    var edit = self
    if edit.recordID.map(SimulatedOrg.isMade) == true { edit.recordID = nil }
    if edit.detail.recordID.map(SimulatedOrg.isMade) == true { edit.detail.recordID = nil }
    for (name, value) in edit.sent ?? [:] where value.string.map(SimulatedOrg.isMade) == true {
      edit.sent?[name] = nil
    }
    return edit
  }
}
