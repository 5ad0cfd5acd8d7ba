import JSON
import SQLite

extension LedgerDatabase {
  /// The snapshots with edits that this run has to process.
  ///
  /// With `only`, those of these edits.
  package func snapshotsWithOpenEdits(
    run: String, only: Set<Int64>? = nil
  ) throws -> [String] {
    try connection.texts(
      """
      SELECT DISTINCT r.snapshot_id FROM edit e JOIN returned r ON r.id = e.return_id
      WHERE \(Self.isToBeTaken(by: run, only)) ORDER BY 1
      """)
  }

  /// Whether a run has to process an edit `e`: it is open and has no verdict of the run.
  private static func isToBeTaken(by run: String, _ only: Set<Int64>?) -> SQL {
    """
    e.state <> 'closed' AND \(isAmong(only))
      AND NOT EXISTS (SELECT 1 FROM outcome x WHERE x.run_id = \(run) AND x.edit_id = e.id)
    """
  }

  /// Prepares the ledger for a run that uses the org, at `now` in ms of the org's time, and returns
  /// the number of edits that the run has to process; with `only`, of these edits.
  ///
  /// The edits that a resumed run left waiting are processed again. Writes that the ledger does not
  /// know were sent before now.
  package func beginReconciling(
    run: String, now: Int64, only: Set<Int64>? = nil
  ) throws -> Int {
    try connection.run(
      """
      DELETE FROM outcome WHERE run_id = \(run)
        AND edit_id IN (SELECT e.id FROM edit e WHERE e.state <> 'closed' AND \(Self.isAmong(only)))
      """)
    try settleSuperseded(run: run)
    try connection.run("UPDATE recovery SET until_ms = \(now) WHERE until_ms IS NULL")
    return Int(
      try connection.integer(
        "SELECT count(*) FROM edit e WHERE e.state <> 'closed' AND \(Self.isAmong(only))") ?? 0)
  }

  /// The edits of a snapshot that have no verdict of this run yet: first those to be undone, the
  /// latest first, then the others in order of arrival.
  ///
  /// Of several edits of one record, even in different soups, only the first is returned, because
  /// the next is decided when the outcome of that one is known.
  package func openEdits(
    run: String, snapshotID: String, only: Set<Int64>? = nil
  ) throws -> [OpenEdit] {
    var edits: [OpenEdit] = []
    var seen: Set<String> = []
    try connection.rows(
      Self.selection + """
         WHERE r.snapshot_id = \(snapshotID) AND \(Self.isToBeTaken(by: run, only))
        ORDER BY CASE WHEN \(Self.isToBeUndone) THEN -e.id ELSE e.id END
        """
    ) { row in
      let edit = Self.openEdit(row)
      let key = edit.recordID.map { "r\($0)" } ?? edit.creation.map { "c\($0.id)" }
      guard key.map({ seen.insert($0).inserted }) ?? true else { return }
      edits.append(edit)
    }
    let decided = Set(
      try connection.all("SELECT edit_id FROM decision").compactMap { $0[0].integer })
    return try edits.map { try decided.contains($0.id) ? withDecision($0) : $0 }
  }

  /// Whether an edit `e` is one of these; true for every edit if `only` is nil.
  private static func isAmong(_ only: Set<Int64>?) -> SQL {
    guard let only else { return "1" }
    return "e.id IN (\(each: Array(only)))"
  }

  /// An edit with its pending decision.
  private func withDecision(_ edit: OpenEdit) throws -> OpenEdit {
    var edit = edit
    edit.decision = try pendingDecision(of: edit.id)
    edit.lifted = Set(
      try connection.texts(
        """
        SELECT restriction FROM decision
        WHERE edit_id = \(edit.id) AND restriction IS NOT NULL AND state <> 'withdrawn'
        """))
    return edit
  }

  /// The selected edits, each with what the ledger knows about its record, in order of arrival.
  package func edits(_ which: OpenEdit.Selection) throws -> [OpenEdit] {
    let condition: SQL =
      switch which {
      case .numbered(let ids): "e.id IN (\(each: ids.sorted())) ORDER BY e.id"
      case .left(let snapshotID):
        """
        e.state = 'closed' AND r.snapshot_id = \(snapshotID)
          AND e.verdict IN (\(list: Verdict.list(\.leavesEdit))) ORDER BY e.id
        """
      case .deletions(let snapshotID):
        """
        r.snapshot_id = \(snapshotID) AND e.operation IN ('delete', 'dropped')
          AND \(Self.isUnsettledEdit) AND NOT \(Self.isToBeUndone) ORDER BY e.id
        """
      case .deviceConflicts:
        """
        e.state = 'closed' AND e.verdict = \(Verdict.deviceConflict) ORDER BY r.snapshot_id, e.id
        """
      }
    var edits: [OpenEdit] = []
    try connection.rows("\(Self.selection) WHERE \(condition)") { edits.append(Self.openEdit($0)) }
    guard case .numbered(let ids) = which else { return edits }
    let decided = Set(
      try connection.all(
        "SELECT DISTINCT edit_id FROM decision WHERE edit_id IN (\(each: ids.sorted()))"
      ).compactMap { $0[0].integer })
    return try edits.map { try decided.contains($0.id) ? withDecision($0) : $0 }
  }

  /// The edit with a number; nil if there is none.
  package func openEdit(id: Int64) throws -> OpenEdit? { try edits(.numbered([id])).first }

  /// Whether a return deleted a record, and the deletion was applied in the org.
  package func hasDeleted(_ recordID: String, in returnID: Int64) throws -> Bool {
    try connection.integer(
      """
      SELECT 1 FROM edit e WHERE e.return_id = \(returnID) AND e.record_id = \(recordID)
        AND e.operation IN ('delete', 'dropped') AND e.verdict = \(Verdict.deleted) LIMIT 1
      """) != nil
  }

  /// Reopens an unresolved edit for this run.
  package func takeUp(_ edit: Int64) throws {
    try connection.run(
      "UPDATE edit SET state = 'open', retries = retries + 1 WHERE id = \(edit) AND state = 'closed'"
    )
  }

  /// When the device of an edit `e` was first issued the values that it changed.
  ///
  /// For a redelivered edit, this is the time of the first edit's bundle; nothing for a bundle that
  /// redelivered none.
  private static let firstIssued: SQL = """
    CASE WHEN EXISTS (SELECT 1 FROM returned_mark k WHERE k.return_id = e.return_id) THEN (
      WITH RECURSIVE \(carriedPast)
      SELECT min(b.issued_ms) FROM past p JOIN edit m ON m.id = p.id
        JOIN returned b ON b.id = m.return_id) END
    """

  private static let selection: SQL = """
    SELECT e.store, e.soup, e.entry_id, e.id, e.return_id, e.lineage_id, r.handback,
      r.arrived_ms, coalesce(\(firstIssued), r.issued_ms), r.stamp_id, e.operation, e.sobject, e.record_id, e.local_id,
      e.creation_id, coalesce(c.chosen_id, c.record_id), coalesce(c.chosen_id, c.device_record_id),
      e.modification_date, e.content,
      e.element, e.base, e.finding, e.unordered_with, r.snapshot_id,
      coalesce(c.chosen_id, (SELECT o.result_id FROM edit f JOIN operation o ON o.edit_id = f.id
        WHERE (f.record_id = e.record_id OR f.creation_id = e.creation_id)
          AND o.action IN ('create', 'upsert') AND o.state = \(OperationState.done) ORDER BY o.id DESC LIMIT 1)),
      CASE WHEN e.creation_id IS NOT NULL THEN coalesce(
        (SELECT max(o.action = 'upsert') = 1 AND max(o.action = 'create' OR o.seen = 'null') = 0
          FROM edit f JOIN operation o ON o.edit_id = f.id
          WHERE f.creation_id = e.creation_id AND o.action IN ('create', 'upsert')
            AND o.state = \(OperationState.done)),
        EXISTS (SELECT 1 FROM edit f JOIN decision d ON d.edit_id = f.id
          WHERE f.creation_id = e.creation_id AND d.kind = 'record' AND d.state = 'done')) END,
      \(raw: LedgerSchema.mayHaveBeenSent), e.created_ms, e.last_modified_ms
    FROM edit e JOIN returned r ON r.id = e.return_id LEFT JOIN creation c ON c.id = e.creation_id
    """

  private static func openEdit(_ row: borrowing Row) -> OpenEdit {
    func integer(_ index: Int) -> Int64? { row.isNull(index) ? nil : row.integer(index) }
    let creation = integer(14).map {
      OpenEdit.Creation(
        id: $0, recordID: row.text(15), deviceRecordID: row.text(16),
        isAdopted: integer(25) == 1)
    }
    let edit = Edit(
      row: RowKey(
        store: StoreKey(text: row.text(0) ?? ""), soup: row.text(1) ?? "",
        soupEntryID: row.integer(2)),
      created: row.integer(27), lastModified: row.integer(28), element: Array(row.bytes(19)),
      operation: EditOperation(rawValue: row.text(10) ?? "") ?? .update, sobject: row.text(11),
      serverID: row.text(12), localID: row.text(13), modificationDate: row.text(17),
      base: row.text(20).flatMap(MergeBaseText.base), finding: row.text(21))
    var open = OpenEdit(edit, id: row.integer(3))
    (open.returnID, open.lineage, open.handback) = (row.integer(4), row.integer(5), integer(6))
    (open.arrived, open.issued) = (row.integer(7), integer(8))
    (open.stampID, open.snapshotID) = (row.text(9) ?? "", row.text(23) ?? "")
    (open.creation, open.content) = (creation, row.text(18) ?? "")
    (open.unorderedWith, open.remadeID) = (integer(22), row.text(24))
    open.mayHaveBeenSent = integer(26) == 1
    return open
  }

  // MARK: outcomes

  /// A verdict that a run gives to an edit.
  package typealias Given = (edit: Int64, settlement: Settlement)

  /// Takes back this run's verdict on one edit, so that it is decided again, unless a later edit of
  /// its device supersedes it by now.
  package func reopen(_ edit: Int64, run: String) throws {
    if try !isToBeUndone(edit), let replacement = try replacement(of: edit) {
      return try supersede(edit, by: replacement, run: run)
    }
    try connection.run("DELETE FROM outcome WHERE run_id = \(run) AND edit_id = \(edit)")
  }

  /// Records the verdicts of this run, in order, and moves each edit to the state that its verdict
  /// implies; before that, it records the writes that were done.
  package func settle(
    _ given: [Given], done: [OperationRow.Done] = [], run: String
  ) throws {
    try finish(done)
    if given.isEmpty { return }
    let decided = Set(
      try connection.all(
        """
        SELECT edit_id FROM decision WHERE state = 'pending' AND edit_id IN (\(each: given.map(\.edit)))
        """
      ).compactMap { $0[0].integer })
    var plain: [Given] = []
    for var one in given {
      guard decided.contains(one.edit) else {
        plain.append(one)
        continue
      }
      try enter(plain, run: run)
      plain = []
      one.settlement = try carryingOut(one.settlement, of: one.edit, run: run)
      try enter([one], run: run)
    }
    try enter(plain, run: run)
  }

  private func enter(_ given: [Given], run: String) throws {
    if given.isEmpty { return }
    try enterOutcomes(given, run: run)
    // Of two verdicts on one edit, the last one counts.
    let last = Dictionary(given.map { ($0.edit, $0.settlement.verdict) }) { $1 }
    for (verdict, same) in Dictionary(grouping: last, by: \.value) {
      let state = verdict.isWaiting ? "waiting" : "closed"
      try connection.run(
        """
        UPDATE edit SET verdict = \(verdict.rawValue), state = \(state)
        WHERE id IN (\(each: same.map(\.key)))
        """)
    }
    let closing = given.filter(\.settlement.verdict.closesEarlier).map(\.edit)
    for (earlier, edit) in try replaced(by: closing) {
      try supersede(earlier, by: .edit(edit), run: run)
    }
  }

  /// Records the verdicts of a run.
  func enterOutcomes(_ given: [Given], run: String) throws {
    verdictsGiven += given.count
    try connection.run(
      """
      INSERT INTO outcome (run_id, edit_id, verdict, detail) VALUES (?, ?, ?, ?)
      ON CONFLICT (run_id, edit_id) DO UPDATE SET verdict = excluded.verdict,
        detail = excluded.detail
      """, each: given
    ) { one in
      [
        .text(run), .integer(one.edit), .text(one.settlement.verdict.rawValue),
        .text(one.settlement.detail.json.text),
      ]
    }
  }

  /// Records in this run the edits that were superseded since the last run, so that each is
  /// reported once.
  ///
  /// A resumed run may have given such an edit another verdict before.
  private func settleSuperseded(run: String) throws {
    try supersedeReplaced()
    try reopenDuplicates()
    try connection.run(
      """
      INSERT INTO outcome (run_id, edit_id, verdict, detail)
      SELECT \(run), e.id, \(Verdict.superseded), CASE
        WHEN e.superseded_by IS NOT NULL THEN json_object('otherEdits', json_array(e.superseded_by))
        WHEN EXISTS (SELECT 1 FROM carried c WHERE c.edit_id = e.id)
          THEN json_object('message', \(Self.givenUpWords)) ELSE '{}' END
      FROM edit e WHERE e.verdict = \(Verdict.superseded) AND e.state = 'closed' AND (
        SELECT x.verdict FROM outcome x JOIN run n ON n.id = x.run_id WHERE x.edit_id = e.id
        ORDER BY n.number DESC LIMIT 1) IS NOT \(Verdict.superseded)
      ON CONFLICT (run_id, edit_id) DO UPDATE SET verdict = excluded.verdict,
        detail = excluded.detail
      """)
    try tellWithdrawn(run: run)
  }

  private static let givenUpWords =
    "it was redelivered to a device, which no longer has it as an edit: "
    + "its user discarded it there, or the device sent it by itself"

  /// The number of edits that this run had to account for, and the number of its verdicts.
  ///
  /// A difference is a bug.
  ///
  /// With `only`, it had to account for these edits and for any others that it resolved.
  package func account(
    run: String, only: Set<Int64>? = nil
  ) throws -> (edits: Int, verdicts: [Verdict: Int]) {
    var verdicts: [Verdict: Int] = [:]
    // Grouping by verdict would make SQLite sort all verdicts of the run.
    let counts = Verdict.allCases.map { "sum(verdict = \($0))" as SQL }.joined(separator: ", ")
    let row = try connection.first("SELECT \(counts) FROM outcome WHERE run_id = \(run)") ?? []
    for (verdict, count) in zip(Verdict.allCases, row) {
      if let count = count.integer, count > 0 { verdicts[verdict] = Int(count) }
    }
    let open = try connection.integer(
      """
      SELECT count(*) FROM edit e WHERE \(Self.isToBeTaken(by: run, only))
      """)
    return (verdicts.values.reduce(0, +) + Int(open ?? 0), verdicts)
  }

  // MARK: claims

  /// The new records of a type that are not in the org yet and have not been discarded, with their
  /// elements.
  package func waitingCreates(
    _ sobject: String
  ) throws -> [(claim: RecordClaim, creation: Int64?, element: [UInt8])] {
    let rows = try connection.all(
      """
      SELECT e.id, r.arrived_ms, e.verdict, e.state = 'open', e.creation_id, e.element
      FROM edit e JOIN returned r ON r.id = e.return_id JOIN creation c ON c.id = e.creation_id
      WHERE e.operation = 'create' AND e.finding IS NULL AND c.record_id IS NULL
        AND lower(e.sobject) = lower(\(sobject)) AND \(Self.isUnsettledEdit)
        AND NOT EXISTS (SELECT 1 FROM decision d WHERE d.edit_id = e.id AND d.state = 'pending'
          AND d.kind IN ('server', 'discard'))
      ORDER BY e.id
      """)
    return rows.map { row in
      let claim = RecordClaim(
        editID: row[0].integer ?? 0, arrived: row[1].integer ?? 0,
        verdict: row[3].integer == 1 ? nil : row[2].text.flatMap(Verdict.init(rawValue:)))
      return (claim, row[4].integer, row[5].blob ?? [])
    }
  }

  /// The creation that a local ID in an edit refers to: in a store with the edit's stamp, in one
  /// that was returned in a bundle with it, or in one whose edits the bundle redelivered.
  ///
  /// Devices may assign the same local ID to different records. A creation of the edit's own device
  /// takes precedence over one that the device was issued.
  package func creation(localID: String, of edit: OpenEdit) throws -> OpenEdit.Creation? {
    let past = try lineages(of: [edit.id]).ancestry(of: edit.id).pastLineages.sorted()
    let rows = try connection.all(
      """
      SELECT id, record_id, device_record_id, chosen_id,
        (SELECT o.result_id FROM edit f JOIN operation o ON o.edit_id = f.id
          WHERE f.creation_id = k.id AND o.action IN ('create', 'upsert') AND o.state = \(OperationState.done)
          ORDER BY o.id DESC LIMIT 1),
        (SELECT x.detail -> '$.candidates' FROM edit f JOIN outcome x ON x.edit_id = f.id AND x.verdict = f.verdict
          JOIN run n ON n.id = x.run_id
          WHERE f.creation_id = k.id AND f.verdict = \(Verdict.unconfirmed) ORDER BY n.number DESC LIMIT 1)
      FROM creation k
      WHERE local_id = \(localID) AND stamp_id IN (
        WITH RECURSIVE origin(stamp_id) AS (
          SELECT \(edit.stampID) UNION SELECT other.stamp_id FROM returned own JOIN returned other
            ON coalesce(other.part_of, other.id) = coalesce(own.part_of, own.id)
          WHERE own.stamp_id = \(edit.stampID)
          UNION SELECT r.stamp_id FROM origin o JOIN returned b ON b.stamp_id = o.stamp_id
            JOIN carried_in c ON c.return_id = b.id
            JOIN edit e ON e.id = c.edit_id JOIN returned r ON r.id = e.return_id)
        SELECT stamp_id FROM origin)
      ORDER BY CASE
        WHEN EXISTS (SELECT 1 FROM edit e WHERE e.creation_id = k.id
          AND e.lineage_id = \(edit.lineage)) THEN 3
        WHEN EXISTS (SELECT 1 FROM edit e WHERE e.creation_id = k.id
          AND e.lineage_id IN (\(each: past))) OR EXISTS (SELECT 1 FROM carried_in c
            JOIN edit e ON e.id = c.edit_id
            WHERE c.return_id = \(edit.returnID) AND e.creation_id = k.id) THEN 2
        WHEN stamp_id = \(edit.stampID) THEN 1 ELSE 0 END DESC, id DESC LIMIT 1
      """)
    return try rows.first.map { row in
      let (first, own, chosen, last) = (row[1].text, row[2].text, row[3].text, row[4].text)
      var creation = OpenEdit.Creation(
        id: row[0].integer ?? 0, recordID: chosen ?? last ?? first, deviceRecordID: chosen ?? own)
      creation.isRemade = creation.recordID != chosen ?? first
      let candidates = try row[5].text.flatMap { try JSONValue(parsing: $0).array } ?? []
      creation.records = Set(
        [first, own, last].compactMap(\.self) + candidates.compactMap(\.string))
      return creation
    }
  }

  /// The number of rows of a soup in a return.
  package func soupTotal(returnID: Int64, _ soup: SoupKey) throws -> Int {
    Int(
      try connection.integer(
        """
        SELECT total FROM returned_soup WHERE return_id = \(returnID)
          AND store = \(soup.store.text) AND soup = \(soup.soup)
        """) ?? 0)
  }
}
