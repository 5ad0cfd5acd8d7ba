import JSON
import MobileSync
import SQLite
import SmartStore

extension LedgerDatabase {
  /// Enters one edit: which record it is of, and what it is beside the edits known of that record.
  func enter(
    _ edit: Edit, content: String, _ entry: ReturnEntry, _ result: inout IngestResult
  ) throws {
    let carried = try carried(edit, in: entry.row)
    var edit = edit
    if let carried { edit.base = try base(of: edit, carried) }
    let creation = try creation(of: edit, carried, entry)
    let sighting = KnownEdit.Sighting(
      lineage: entry.ancestry.lineage, handback: entry.row.handback, row: edit.row,
      lastModified: edit.lastModified, content: content)
    let versions = try versions(of: edit, creation: creation, carried, entry)
    // What nothing is compared with needs no digest of what the user entered.
    let value = versions.isEmpty ? "" : ElementContent.value(of: edit.element)
    let disposition = SupersessionRule.disposition(
      of: .init(sighting, value: value),
      ancestry: entry.ancestry, versions: versions,
      laterHandbackStands: hasLaterHandback(entry, soup: edit.row))
    if case .known(let known, let isSavedAgain) = disposition {
      result.known += 1
      try note(sighting, of: known, returnID: entry.returnID)
      // Saved again as it was: the next run decides it anew.
      if isSavedAgain, try !hasArrivedLate(known) { try takeUp(known) }
      return
    }
    try insert(edit, content: content, creation: creation, entry)
    let id = connection.lastInsertRowID
    switch disposition {
    case .known: break
    case .new(let superseding):
      result.new += 1
      for earlier in superseding { try supersede(earlier, by: id) }
      // It takes the place of what was carried, or of what the device has made of that before.
      if let carried, !superseding.isEmpty { try decideByMending(id, edit, carried, entry) }
    case .superseded(let by):
      result.superseded += 1
      try supersede(id, by: by)
      // Where it is the very same, a fork has it as its own, too.
      if let same = versions.first(where: { $0.editID == by && $0.wasSeen(as: sighting) }) {
        try note(sighting, of: same.editID, returnID: entry.returnID)
      }
    case .unordered(let with):
      result.unordered += 1
      try connection.run("UPDATE edit SET unordered_with = \(with) WHERE id = \(id)")
    }
  }

  /// Notes that a return still holds an edit that is not settled: it stays the one edit that it is.
  func note(
    _ sighting: KnownEdit.Sighting, of edit: Int64, returnID: Int64
  ) throws {
    try connection.run(
      """
      INSERT OR IGNORE INTO sighting VALUES (\(returnID), \(edit), \(sighting.row.store.text),
        \(sighting.row.soup), \(sighting.row.soupEntryID), \(sighting.lastModified),
        \(sighting.content))
      """)
  }

  private func insert(
    _ edit: Edit, content: String, creation: Int64?, _ entry: ReturnEntry
  ) throws {
    try connection.run(
      """
      INSERT INTO edit (return_id, lineage_id, store, soup, entry_id, created_ms,
        last_modified_ms, operation, sobject, record_id, local_id, creation_id,
        modification_date, content, element, base, finding, state)
      VALUES (\(entry.returnID), \(entry.ancestry.lineage), \(edit.row.store.text),
        \(edit.row.soup), \(edit.row.soupEntryID), \(edit.created), \(edit.lastModified),
        \(edit.operation.rawValue), \(edit.sobject), \(edit.serverID), \(edit.localID),
        \(creation), \(edit.modificationDate), \(content), \(edit.element),
        \(edit.base.map(MergeBaseText.text)), \(edit.finding), 'open')
      """)
    entry.known.note(edit, creation: creation)
  }

  // MARK: identity

  /// The creation that an edit is of: by the whole identity while the record bears its local id,
  /// by the row when it got an Id since.
  ///
  /// What a bundle carried is of the creation that it was of.
  private func creation(
    of edit: Edit, _ carried: CarriedRow?, _ entry: ReturnEntry
  ) throws -> Int64? {
    guard edit.finding == nil else { return nil }
    if let carried, let id = try creation(of: carried) {
      if let serverID = edit.serverID, serverID != carried.recordID {
        try noteDeviceID(serverID, creation: id)
      }
      return id
    }
    if let serverID = edit.serverID {
      let id = try creation(
        ofRow: edit.row, created: edit.created, serverID: serverID, entry)
      if let id { try noteDeviceID(serverID, creation: id) }
      return id
    }
    guard edit.operation == .create || edit.operation == .dropped || edit.localID != nil else {
      return nil
    }
    let local = edit.localID ?? ""
    let known: SQL = """
      SELECT id FROM creation WHERE stamp_id IN (\(list: entry.stampIDs))
        AND store = \(edit.row.store.text) AND soup = \(edit.row.soup)
        AND entry_id = \(edit.row.soupEntryID) AND created_ms = \(edit.created)
        AND local_id = \(local)
      """
    let made = entry.known.hasCreations ? try connection.integer(known) : nil
    if let id = try made ?? creation(ofUnknownCarried: edit, entry) { return id }
    try connection.run(
      """
      INSERT INTO creation (stamp_id, store, soup, entry_id, created_ms, local_id)
      VALUES (\(entry.row.stampID), \(edit.row.store.text), \(edit.row.soup),
        \(edit.row.soupEntryID), \(edit.created), \(local))
      """)
    entry.known.hasCreations = true
    return connection.lastInsertRowID
  }

  /// The creation of a row that a generation carried of which this ledger does not know, as it was restored
  /// from a backup since: such a row was made when the edit of its local id was.
  private func creation(ofUnknownCarried edit: Edit, _ entry: ReturnEntry) throws -> Int64? {
    guard let local = edit.localID else { return nil }
    return try connection.integer(
      """
      SELECT e.creation_id FROM edit e JOIN returned r ON r.id = e.return_id
      WHERE r.snapshot_id = \(entry.row.snapshotID) AND e.creation_id IS NOT NULL
        AND +e.store = \(edit.row.store.text) AND +e.soup = \(edit.row.soup)
        AND e.local_id = \(local) AND e.last_modified_ms = \(edit.created) LIMIT 1
      """)
  }

  private func creation(of carried: CarriedRow) throws -> Int64? {
    try connection.integer("SELECT creation_id FROM edit WHERE id = \(carried.edit)")
  }

  /// Two devices may have made a row in the same millisecond; then the lineage has to tell.
  private func creation(
    ofRow row: RowKey, created: Int64, serverID: String, _ entry: ReturnEntry
  ) throws -> Int64? {
    if let carried = try carried(row, in: entry.row) {
      return serverID == carried.recordID ? nil : try creation(of: carried)
    }
    guard entry.known.hasCreations else { return nil }
    let found = try connection.all(
      """
      SELECT id, record_id FROM creation WHERE stamp_id IN (\(list: entry.stampIDs))
        AND store = \(row.store.text) AND soup = \(row.soup)
        AND entry_id = \(row.soupEntryID) AND created_ms = \(created)
      """)
    if let same = found.first(where: { $0[1].text == serverID }) { return same[0].integer }
    if found.count <= 1 { return found.first?[0].integer }
    let own = try found.compactMap { $0[0].integer }.filter { id in
      let lineages = try connection.all(
        "SELECT DISTINCT lineage_id FROM edit WHERE creation_id = \(id)")
      return lineages.contains { $0[0].integer == entry.ancestry.lineage }
    }
    return own.count == 1 ? own[0] : nil
  }

  private func noteDeviceID(_ serverID: String, creation: Int64) throws {
    try connection.run(
      """
      UPDATE creation SET device_record_id = \(serverID)
      WHERE id = \(creation) AND device_record_id IS NOT \(serverID)
      """)
  }

  // MARK: hand-backs

  /// Says whether the lineage has a later hand-back that has the soup.
  func hasLaterHandback(_ entry: ReturnEntry, soup: RowKey) -> Bool {
    entry.laterSoups.contains(soup.inSoup)
  }

  /// What an earlier hand-back of the lineage left unsettled, and this one no longer has as an edit,
  /// the device has settled itself; but for a record that was created twice, which the org has still,
  /// and for a row that is older now than the edit: it comes from a backup, which knows nothing of it.
  func closeEarlierHandbacks(
    _ entry: ReturnEntry, edits: Set<RowKey>, _ witnesses: [CleanRow]
  ) throws {
    guard let handback = entry.row.handback else { return }
    let open = try connection.all(
      """
      SELECT n.store, n.soup, n.entry_id, e.id, r.lineage_id, r.handback, n.last_modified_ms
      FROM seen n JOIN edit e ON e.id = n.edit_id JOIN returned r ON r.id = n.return_id
        JOIN returned_soup s ON s.return_id = \(entry.returnID) AND s.store = +n.store
          AND s.soup = +n.soup
      WHERE r.stamp_id = \(entry.row.stampID) AND r.handback < \(handback)
        AND e.operation <> 'synced' AND \(Self.mayBeClosed)
        AND NOT \(Self.hasOlderRow(
          "\(entry.returnID)", of: "n", entry: "n.entry_id", than: "n.last_modified_ms"))
      """)
    let clean = Dictionary(witnesses.map { ($0.row, $0) }, uniquingKeysWith: { first, _ in first })
    for row in open {
      let owned = entry.ancestry.owns(
        lineage: row[4].integer ?? 0, handback: row[5].integer)
      guard owned, !edits.contains(rowKey(row)), let id = row[3].integer else { continue }
      if let witness = clean[rowKey(row)],
        witness.lastModified == row[6].integer || !entry.row.compared.contains(witness.row.inSoup),
        try isUnflagged(id, entry)
      {
        try note(stillThere(witness, entry), of: id, returnID: entry.returnID)
      } else if let witness = clean[rowKey(row)], try isUnsure(rowKey(row), entry) {
        try note(stillThere(witness, entry), of: id, returnID: entry.returnID)
      } else {
        try supersede(id, by: nil)
      }
    }
  }

  /// Says whether an app that sets no flags was given a row as an edit: that it is clean by now is no sign
  /// that the edit was taken back.
  private func isUnsure(_ place: RowKey, _ entry: ReturnEntry) throws -> Bool {
    try entry.row.compared.contains(place.inSoup) && carried(place, in: entry.row) != nil
  }

  /// Says whether its app had not flagged an edit: it was found by comparison (`reconcile.detectEdits`), and that
  /// it is found no more is no sign that it was taken back, where the row is the same or nobody compared.
  private func isUnflagged(_ edit: Int64, _ entry: ReturnEntry) throws -> Bool {
    guard let platform = Platform(rawValue: entry.row.platform),
      let bytes = try connection.first(
        "SELECT element FROM edit WHERE id = \(edit) AND operation = 'update'")?[0].blob,
      let element = try? JSONValue(parsing: bytes)
    else { return false }
    return !LocalState(element: element, platform: platform).isLocal
  }

  /// The sighting of an edit in a row that is not dirty; it has no content, as nobody has compared it.
  func stillThere(_ witness: CleanRow, _ entry: ReturnEntry) -> KnownEdit.Sighting {
    KnownEdit.Sighting(
      lineage: entry.ancestry.lineage, handback: entry.row.handback, row: witness.row,
      lastModified: witness.lastModified, content: "")
  }

  // MARK: the device's own sync

  /// Notes a clean row that has an Id.
  ///
  /// Where the ledger has it as a record that the device made, the device sent it too; a second
  /// record of it is reported once.
  func noteOwnSync(
    _ witness: CleanRow, _ entry: ReturnEntry, _ result: inout IngestResult
  ) throws {
    guard let serverID = witness.serverID,
      let creation = try creation(
        ofRow: witness.row, created: witness.created, serverID: serverID, entry),
      let row = try connection.first(
        "SELECT record_id, device_record_id, local_id FROM creation WHERE id = \(creation)")
    else { return }
    try noteDeviceID(serverID, creation: creation)
    var ours = row[0].text
    if ours == nil, let first = row[1].text, first != serverID {
      // Two devices hold the row, and each has sent it by itself.
      try connection.run("UPDATE creation SET record_id = \(first) WHERE id = \(creation)")
      ours = first
    }
    guard let ours else { return try closeSentByDevice(creation, witness) }
    if ours == serverID { return }
    if try isToldTwice(creation, serverID) { return }
    let edit = Edit(
      row: witness.row, created: witness.created, lastModified: witness.lastModified,
      element: Array("{}".utf8), operation: .synced, serverID: serverID, localID: row[2].text)
    try insert(edit, content: "", creation: creation, entry)
    result.new += 1
  }

  /// The row that an earlier return of the same installation had of a new record, clean or edited since: its device
  /// had sent that by itself, and was restored from a backup since, or its older copy comes late.
  func sentBefore(_ edit: Edit, _ entry: ReturnEntry) throws -> CleanRow? {
    guard entry.known.hasReturns, edit.operation == .create, edit.finding == nil,
      edit.serverID == nil
    else { return nil }
    let found = try connection.first(
      """
      SELECT w.last_modified_ms, w.server_id FROM returned r JOIN (
        SELECT return_id, last_modified_ms, server_id, store, soup, entry_id, created_ms FROM witness
        UNION ALL SELECT return_id, last_modified_ms, record_id, store, soup, entry_id, created_ms FROM edit
          WHERE operation IN ('update', 'delete')) w ON w.return_id = r.id
      WHERE r.stamp_id IN (\(list: entry.stampIDs)) AND r.id <> \(entry.returnID)
        AND r.install IS \(entry.row.install) AND w.store = \(edit.row.store.text)
        AND w.soup = \(edit.row.soup) AND w.entry_id = \(edit.row.soupEntryID)
        AND w.created_ms = \(edit.created) AND w.server_id IS NOT NULL
      ORDER BY w.last_modified_ms DESC LIMIT 1
      """)
    guard let found, let date = found[0].integer else { return nil }
    return CleanRow(
      row: edit.row, created: edit.created, lastModified: date, serverID: found[1].text)
  }

  /// Says whether a report tells that a record was made twice, or the next run will.
  ///
  /// An edit that bore the second Id and that the device has settled by itself since tells nobody.
  private func isToldTwice(_ creation: Int64, _ serverID: String) throws -> Bool {
    try connection.integer(
      """
      SELECT 1 FROM edit e WHERE e.creation_id = \(creation) AND (e.operation = 'synced'
        OR e.state <> 'closed' AND e.record_id = \(serverID) OR EXISTS (
          SELECT 1 FROM outcome x WHERE x.edit_id = e.id AND x.verdict = \(Verdict.duplicateCreated))) LIMIT 1
      """) != nil
  }

  /// Closes the edits of a record that the device's own sync made, and we did not: the clean row says
  /// that it has sent them, and sent again they would go over what the office has corrected since.
  private func closeSentByDevice(_ creation: Int64, _ witness: CleanRow) throws {
    let sent = try connection.all(
      """
      SELECT e.id FROM edit e WHERE e.creation_id = \(creation) AND e.operation <> 'synced'
        AND \(Self.mayBeClosed)
        AND NOT EXISTS (SELECT 1 FROM seen n WHERE n.edit_id = e.id
          AND n.last_modified_ms > \(witness.lastModified))
      """)
    for id in sent.compactMap({ $0[0].integer }) { try supersede(id, by: nil) }
  }
}
