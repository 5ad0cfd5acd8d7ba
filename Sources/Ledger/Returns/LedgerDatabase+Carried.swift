import JSON
import MobileSync
import SQLite
import System

/// Redelivered edits in the ledger.
///
/// A redelivered edit is in a row of a stamped store, and that row identifies it when the store
/// returns. A row that is as issued is the same open edit. A changed row is a later state of the
/// edit, made by a device that received it: the edit and its predecessors are the past of the new
/// one, regardless of `install` and `handback`. A clean or missing row means that the edit was
/// discarded on a device, or sent by it.
extension LedgerDatabase {
  /// Records the edits that a bundle redelivers, before any device can have the bundle; existing
  /// entries are kept.
  ///
  /// A generation can be older than the ledger, so an edit other than the one that it names is left
  /// out.
  package func note(carried rows: [CarriedRow]) throws {
    try connection.transaction {
      for row in rows {
        try connection.run(
          """
          INSERT OR IGNORE INTO carried
          SELECT \(row.stampID), \(row.row.store.text), \(row.row.soup), \(row.row.soupEntryID),
            \(row.mark), id, \(row.lastModified), \(row.value), \(row.recordID),
            \(row.shown.map { JSONValue.object($0).text }), \(row.words),
            \(row.edited.map { JSONValue($0).text })
          FROM edit WHERE id = \(row.edit) AND content = \(row.source)
          """)
      }
    }
  }

  /// The edit in a row of a return as issued; nil if the row was not issued as an edit.
  func carried(_ place: RowKey, in row: ReturnRow) throws -> CarriedRow? {
    guard let mark = row.marks[place.store],
      let found = try connection.first(
        """
        SELECT edit_id, last_modified_ms, value, record_id, shown, words, edited FROM carried
        WHERE stamp_id = \(row.stampID) AND store = \(place.store.text) AND soup = \(place.soup)
          AND entry_id = \(place.soupEntryID) AND mark = \(mark)
        """)
    else { return nil }
    return CarriedRow(
      edit: found[0].integer ?? 0, stampID: row.stampID, row: place, mark: mark,
      lastModified: found[1].integer ?? 0, value: found[2].text ?? "", recordID: found[3].text,
      shown: try found[4].text.map { try parse($0, "a redelivered edit").object ?? [:] },
      words: found[5].text,
      edited: try found[6].text.map { text in
        try parse(text, "a redelivered edit").array?.compactMap(\.string) ?? []
      })
  }

  /// The edit in a row as issued, if it was an edit of the same record.
  ///
  /// A row that now has another record is not a change of the redelivered edit.
  func carried(_ edit: Edit, in row: ReturnRow) throws -> CarriedRow? {
    guard let carried = try carried(edit.row, in: row) else { return nil }
    if edit.finding != nil { return carried }
    if let recordID = carried.recordID { return edit.serverID == recordID ? carried : nil }
    // The row of a new record was created when it was put into the store.
    guard edit.created == carried.lastModified else { return nil }
    let made = try connection.text("SELECT local_id FROM edit WHERE id = \(carried.edit)")
    return edit.localID == nil || edit.localID == made ? carried : nil
  }

  /// The unresolved edits of a snapshot, in order of arrival.
  package func carriable(snapshotID: String) throws -> [CarryFacts] {
    let rows = try connection.all(
      """
      SELECT e.id, r.platform, e.verdict,
        r.part_of IS NOT NULL OR r.install IS NULL OR r.handback IS NULL OR EXISTS (SELECT 1 FROM operation o WHERE o.edit_id = e.id
          AND o.state IN (\(OperationState.unfinished))) OR \(Self.hasArrivedLate),
        (SELECT x.detail FROM outcome x JOIN run n ON n.id = x.run_id WHERE x.edit_id = e.id
          ORDER BY n.number DESC LIMIT 1),
        EXISTS (SELECT 1 FROM carried c WHERE c.edit_id = e.id), \(Self.firstLineage)
      FROM edit e JOIN returned r ON r.id = e.return_id
      WHERE r.snapshot_id = \(snapshotID) AND \(Self.isUnsettledEdit) ORDER BY e.id
      """)
    let edits = try edits(.numbered(Set(rows.compactMap { $0[0].integer }))).byNumber
    return try rows.compactMap { row in
      guard let edit = edits[row[0].integer ?? 0] else { return nil }
      return CarryFacts(
        edit: edit, platform: row[1].text ?? "",
        verdict: row[2].text.flatMap(Verdict.init(rawValue:)),
        detail: OutcomeDetail(json: try parse(row[4].text, "a verdict")),
        device: row[6].integer ?? edit.lineage, isBound: row[3].integer == 1,
        wasCarried: row[5].integer == 1)
    }
  }

  /// Whether an edit's row was issued to its device as an open edit.
  package func isOfCarriedRow(_ edit: Int64) throws -> Bool {
    try connection.integer(
      """
      SELECT 1 FROM edit e JOIN returned r ON r.id = e.return_id JOIN carried c
        ON c.stamp_id = r.stamp_id AND c.store = e.store AND c.soup = e.soup AND c.entry_id = e.entry_id
      WHERE e.id = \(edit) LIMIT 1
      """) != nil
  }

  // MARK: returned edits

  /// The runs that redelivered edits in the stores of a return whose stamps do not name a run, as
  /// inferred from their content: a row that is as issued, or a new row created at that time.
  ///
  /// This applies if an operator named the generation (`ingest --generation`), or if the app rewrote the
  /// stamp.
  func presumedMarks(_ row: ReturnRow) throws -> [StoreKey: String] {
    var marks: [StoreKey: String] = [:]
    let hasCarried = try connection.integer(
      "SELECT 1 FROM carried WHERE stamp_id = \(row.stampID) LIMIT 1")
    if hasCarried == nil { return marks }
    func look(
      _ place: RowKey,
      _ isProof: (_ modified: Int64?, _ value: String?, _ localID: String?) -> Bool
    ) throws {
      guard row.marks[place.store] == nil, marks[place.store] == nil else { return }
      let found = try connection.all(
        """
        SELECT c.mark, c.last_modified_ms, c.value, e.local_id, c.record_id
        FROM carried c JOIN edit e ON e.id = c.edit_id
        WHERE c.stamp_id = \(row.stampID) AND c.store = \(place.store.text)
          AND c.soup = \(place.soup) AND c.entry_id = \(place.soupEntryID)
        """)
      let proof = found.first {
        isProof($0[1].integer, $0[2].text, $0[4].text == nil ? $0[3].text ?? "" : nil)
      }
      if let mark = proof?[0].text { marks[place.store] = mark }
    }
    for edit in row.edits where edit.finding == nil {
      try look(edit.row) { modified, value, localID in
        modified == edit.lastModified && value == ElementContent.value(of: edit.element)
          || localID != nil && modified == edit.created && localID == edit.localID ?? localID
      }
    }
    for witness in row.witnesses {
      try look(witness.row) { modified, _, localID in
        localID != nil && modified == witness.created
      }
    }
    return marks
  }

  /// Whether an edit of a return is unchanged since its bundle redelivered it.
  func isAsIssued(_ edit: Edit, in row: ReturnRow) throws -> Bool {
    guard edit.finding == nil, let carried = try carried(edit, in: row) else { return false }
    return edit.lastModified == carried.lastModified
      && ElementContent.value(of: edit.element) == carried.value
  }

  /// Records that a return still has a redelivered edit: it is the same edit, not a new one.
  func noteAsIssued(
    _ edit: Edit, content: String, _ entry: Ingest
  ) throws {
    guard let carried = try carried(edit, in: entry.row) else { return }
    let sighting = Sighting(
      lineage: entry.row.lineage, handback: entry.row.handback, row: edit.row,
      lastModified: edit.lastModified, content: content)
    try note(sighting, of: carried.edit, returnID: entry.row.id)
    let isOpen = try connection.integer(
      "SELECT 1 FROM edit e WHERE e.id = \(carried.edit) AND \(Self.isUnsettledEdit)")
    if isOpen == nil { entry.result.superseded += 1 } else { entry.result.known += 1 }
  }

  /// The base of a changed row of a redelivered edit.
  ///
  /// For the fields that the edit had changed, the base is what its device was issued then, not the
  /// org's values when the edit was redelivered, unless the element has their modification date.
  /// For all other fields it is the row as issued.
  func base(of edit: Edit, _ carried: CarriedRow) throws -> MergeBase? {
    let first = try connection.text("SELECT base FROM edit WHERE id = \(carried.edit)")
      .flatMap(MergeBaseText.base)
    guard var base = first, base.modificationDate == edit.modificationDate else { return edit.base }
    if let edited = carried.edited {
      for (name, value) in edit.base?.fields ?? [:] where !edited.contains(name) {
        base.fields[name] = value
      }
    }
    return base
  }

  /// Closes edits that were redelivered in the store of a return and are no longer edits there:
  /// they were discarded on the device, or sent by it.
  ///
  /// If the app sets no flags, or the run that made the store is inferred, a clean row proves
  /// neither. The edit then stays open and is reported.
  func closeGivenUp(_ entry: Ingest, edits: Set<RowKey>) throws {
    let open = try connection.all(
      """
      SELECT c.store, c.soup, c.entry_id, e.id, c.last_modified_ms FROM carried_in c JOIN edit e ON e.id = c.edit_id
        JOIN returned_soup s ON s.return_id = c.return_id AND s.store = c.store
          AND s.soup = c.soup
      WHERE c.return_id = \(entry.row.id) AND \(Self.mayBeClosed)
      """)
    for row in open {
      let place = rowKey(row)
      guard !edits.contains(place), let id = row[3].integer,
        !hasLaterHandback(entry, soup: place)
      else { continue }
      if entry.row.compared.contains(place.inSoup) || entry.row.presumed.contains(place.store) {
        let row = CleanRow(row: place, created: 0, lastModified: row[4].integer ?? 0)
        try note(stillThere(row, entry), of: id, returnID: entry.row.id)
      } else {
        try supersede(id, by: nil)
      }
    }
  }

  /// Whether a store that redelivered an edit has come back without it.
  func isGivenUp(_ edit: Int64) throws -> Bool {
    try connection.integer(
      """
      SELECT 1 FROM carried_in c JOIN returned r ON r.id = c.return_id
        JOIN returned_soup s ON s.return_id = r.id AND s.store = c.store AND s.soup = c.soup
      WHERE c.edit_id = \(edit) AND (SELECT verdict FROM edit WHERE id = \(edit)) <> \(Verdict.duplicateCreated)
        AND NOT EXISTS (SELECT 1 FROM seen n WHERE n.return_id = r.id AND n.store = c.store
          AND n.soup = c.soup AND n.entry_id = c.entry_id)
        AND NOT EXISTS (SELECT 1 FROM returned l JOIN seen n ON n.return_id = l.id
          WHERE l.lineage_id = r.lineage_id AND l.handback > r.handback AND n.store = c.store
            AND n.soup = c.soup AND n.entry_id = c.entry_id) LIMIT 1
      """) != nil
  }

  /// Treats a user's change of a redelivered conflict as a decision: the device's edit is sent over
  /// the values that were shown, and over no others.
  ///
  /// This requires that the app states in the row that it has shown the message, and that one of
  /// the fields in the message was changed: a user who changes another field may not have seen it.
  /// Any other change is an ordinary edit, compared with what its device had read.
  func decideByMending(_ id: Int64, _ edit: Edit, _ carried: CarriedRow, _ entry: Ingest)
    throws
  {
    guard edit.operation == .update, let shown = carried.shown, let edited = carried.edited,
      let row = try connection.first("SELECT element FROM edit WHERE id = \(carried.edit)"),
      let before = try? JSONValue(parsing: row[0].blob ?? []),
      let after = try? JSONValue(parsing: edit.element),
      let words = carried.words, after[LocalFields.lastErrorShown]?.string == words
    else { return }
    let mended = shown.names.filter { name in
      // For a field that the device had not edited, the org's value was issued.
      let given = edited.contains(name) ? before[name] : shown[name]
      // The device's local ID has been replaced by the ID of a record created since.
      return given != after[name] && given?.string.map(LocalFields.isLocalID) != true
    }
    if mended.isEmpty { return }
    let username = try snapshotRow(id: entry.row.snapshotID)?.username ?? entry.row.snapshotID
    let fields = Set(edited + mended).sorted()
    let detail: JSONObject = [
      PendingDecision.mended: true, PendingDecision.fields: JSONValue(fields),
    ]
    try enterPending(
      .device, detail, of: id, .conflict, shown: shown, by: username + ", on the device",
      Clock.wallMilliseconds())
  }

  // MARK: history of an edit

  /// `past`: an edit `e` and its predecessors, as bundles redelivered them in its row.
  static let carriedPast: SQL = """
    past(id) AS (
      SELECT e.id UNION SELECT c.edit_id FROM past p JOIN edit m ON m.id = p.id
        JOIN carried_in c ON c.return_id = m.return_id AND c.store = m.store AND c.soup = m.soup
          AND c.entry_id = m.entry_id)
    """

  /// The lineage of the first edit in the history of an edit `e`.
  static let firstLineage: SQL = """
    (WITH RECURSIVE \(carriedPast)
    SELECT f.lineage_id FROM past p JOIN edit f ON f.id = p.id ORDER BY f.id LIMIT 1)
    """

  /// The device that made an edit, as the lineage of the first edit in its history.
  ///
  /// A redelivered edit that was changed still belongs to its first device.
  package func device(ofEdit edit: Int64) throws -> Int64 {
    try connection.integer("SELECT \(Self.firstLineage) FROM edit e WHERE e.id = \(edit)") ?? 0
  }
}
