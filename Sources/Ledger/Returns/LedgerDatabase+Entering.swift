import JSON
import MobileSync
import SQLite
import SmartStore

extension LedgerDatabase {
  /// Records one edit: identifies its record, and relates it to the known edits of that record.
  func enter(
    _ edit: Edit, content: String, _ entry: Ingest
  ) throws {
    let carried = try carried(edit, in: entry.row)
    var edit = edit
    if let carried { edit.base = try base(of: edit, carried) }
    let creation = try creation(of: edit, carried, entry)
    let sighting = Sighting(
      lineage: entry.row.lineage, handback: entry.row.handback, row: edit.row,
      lastModified: edit.lastModified, content: content)
    let versions = try versions(of: edit, creation: creation, carried, entry)
    // With nothing to compare, the digest of the user's values is not needed.
    let value = versions.isEmpty ? "" : ElementContent.value(of: edit.element)
    let disposition = SupersessionRule.disposition(
      of: sighting, value: value, ancestry: entry.ancestry, versions: versions,
      laterHandbackStands: hasLaterHandback(entry, soup: edit.row))
    if case .known(let known, let isSavedAgain) = disposition {
      entry.result.known += 1
      try note(sighting, of: known, returnID: entry.row.id)
      // The edit was saved again unchanged: the next run decides it again.
      if isSavedAgain, try !hasArrivedLate(known) { try takeUp(known) }
      return
    }
    try insert(edit, content: content, creation: creation, entry)
    let id = connection.lastInsertRowID
    switch disposition {
    case .known: break
    case .new(let superseding):
      entry.result.new += 1
      for earlier in superseding { try supersede(earlier, by: id) }
      // The edit replaces a redelivered one, or the device's earlier change of it.
      if let carried, !superseding.isEmpty { try decideByMending(id, edit, carried, entry) }
    case .superseded(let by):
      entry.result.superseded += 1
      try supersede(id, by: by)
      // If it is the same edit, a fork owns it as well.
      if let same = versions.first(where: { $0.editID == by && $0.wasSeen(as: sighting) }) {
        try note(sighting, of: same.editID, returnID: entry.row.id)
      }
    case .unordered(let with):
      entry.result.unordered += 1
      try connection.run("UPDATE edit SET unordered_with = \(with) WHERE id = \(id)")
    }
  }

  /// Records that a return still has an unresolved edit, which stays the same edit.
  func note(
    _ sighting: Sighting, of edit: Int64, returnID: Int64
  ) throws {
    try connection.run(
      """
      INSERT OR IGNORE INTO sighting VALUES (\(returnID), \(edit), \(sighting.row.store.text),
        \(sighting.row.soup), \(sighting.row.soupEntryID), \(sighting.lastModified),
        \(sighting.content))
      """)
  }

  private func insert(
    _ edit: Edit, content: String, creation: Int64?, _ entry: Ingest
  ) throws {
    try connection.run(
      """
      INSERT INTO edit (return_id, lineage_id, store, soup, entry_id, created_ms,
        last_modified_ms, operation, sobject, record_id, local_id, creation_id,
        modification_date, content, element, base, finding, state)
      VALUES (\(entry.row.id), \(entry.row.lineage), \(edit.row.store.text),
        \(edit.row.soup), \(edit.row.soupEntryID), \(edit.created), \(edit.lastModified),
        \(edit.operation.rawValue), \(edit.sobject), \(edit.serverID), \(edit.localID),
        \(creation), \(edit.modificationDate), \(content), \(edit.element),
        \(edit.base.map(MergeBaseText.text)), \(edit.finding), 'open')
      """)
    entry.note(edit, creation: creation)
  }

  // MARK: identity

  /// The creation that an edit belongs to: found by the complete identity while the record has its
  /// local ID, and by the row after it has got an ID.
  ///
  /// A redelivered edit belongs to the same creation as before. An edit with a finding belongs to
  /// the known creation of its row, but starts none.
  private func creation(
    of edit: Edit, _ carried: CarriedRow?, _ entry: Ingest
  ) throws -> Int64? {
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
    let made = entry.hasCreations ? try connection.integer(known) : nil
    if let id = try made ?? creation(ofUnknownCarried: edit, entry) { return id }
    guard edit.finding == nil else { return nil }
    try connection.run(
      """
      INSERT INTO creation (stamp_id, store, soup, entry_id, created_ms, local_id)
      VALUES (\(entry.row.stampID), \(edit.row.store.text), \(edit.row.soup),
        \(edit.row.soupEntryID), \(edit.created), \(local))
      """)
    entry.hasCreations = true
    return connection.lastInsertRowID
  }

  /// The creation of a row redelivered by a generation that this ledger does not know, because the
  /// ledger was restored from a backup since.
  ///
  /// Such a row was created at the time of the edit with the same local ID.
  private func creation(ofUnknownCarried edit: Edit, _ entry: Ingest) throws -> Int64? {
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

  /// Two devices may have created a row in the same millisecond; then the lineage decides.
  private func creation(
    ofRow row: RowKey, created: Int64, serverID: String, _ entry: Ingest
  ) throws -> Int64? {
    if let carried = try carried(row, in: entry.row) {
      return serverID == carried.recordID ? nil : try creation(of: carried)
    }
    guard entry.hasCreations else { return nil }
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
      return lineages.contains { $0[0].integer == entry.row.lineage }
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

  // MARK: returns

  /// Whether the lineage has a later return that contains the soup.
  func hasLaterHandback(_ entry: Ingest, soup: RowKey) -> Bool {
    entry.laterSoups.contains(soup.inSoup)
  }

  /// Closes the edits that an earlier return of the lineage left unresolved and that this one no
  /// longer has: the device has resolved them itself.
  ///
  /// Exceptions are a record that has a duplicate, which is still in the org, and a row that is now
  /// older than the edit. Such a row comes from a backup and says nothing about the edit.
  ///
  /// A row that is an edit of another record no longer has the edit: the device's own sync has made
  /// that record, because the edit's was deleted.
  func closeEarlierHandbacks(_ entry: Ingest, _ edits: [Edit]) throws {
    guard let handback = entry.row.handback else { return }
    let open = try connection.all(
      """
      SELECT n.store, n.soup, n.entry_id, e.id, r.lineage_id, r.handback, n.last_modified_ms,
        e.record_id
      FROM seen n JOIN edit e ON e.id = n.edit_id JOIN returned r ON r.id = n.return_id
        JOIN returned_soup s ON s.return_id = \(entry.row.id) AND s.store = +n.store
          AND s.soup = +n.soup
      WHERE r.stamp_id = \(entry.row.stampID) AND r.handback < \(handback)
        AND e.operation <> 'synced' AND \(Self.mayBeClosed)
        AND NOT \(Self.hasOlderRow(
          "\(entry.row.id)", of: "n", entry: "n.entry_id", than: "n.last_modified_ms"))
      """)
    let clean = Dictionary(
      entry.row.witnesses.map { ($0.row, $0) }, uniquingKeysWith: { first, _ in first })
    let records = Dictionary(
      edits.map { ($0.row, $0.serverID) }, uniquingKeysWith: { first, _ in first })
    for row in open {
      let owned = entry.ancestry.owns(
        lineage: row[4].integer ?? 0, handback: row[5].integer)
      guard owned, let id = row[3].integer else { continue }
      if let record = records[rowKey(row)] {
        guard let record, let former = row[7].text, record != former else { continue }
      }
      if let witness = clean[rowKey(row)],
        witness.lastModified == row[6].integer || !entry.row.compared.contains(witness.row.inSoup),
        try isUnflagged(id, entry)
      {
        try note(stillThere(witness, entry), of: id, returnID: entry.row.id)
      } else if let witness = clean[rowKey(row)], try isUnsure(rowKey(row), entry) {
        try note(stillThere(witness, entry), of: id, returnID: entry.row.id)
      } else {
        try supersede(id, by: nil)
      }
    }
  }

  /// Whether a row was issued as an edit to an app that sets no flags, so that a clean row does not
  /// show that the edit was discarded.
  private func isUnsure(_ place: RowKey, _ entry: Ingest) throws -> Bool {
    try entry.row.compared.contains(place.inSoup) && carried(place, in: entry.row) != nil
  }

  /// Whether an edit was found by comparison (`reconcile.detectEdits`) because its app had not
  /// flagged it.
  ///
  /// That it is no longer found does not show that it was discarded if the row is unchanged or no
  /// comparison was made.
  private func isUnflagged(_ edit: Int64, _ entry: Ingest) throws -> Bool {
    guard let platform = Platform(rawValue: entry.row.platform),
      let bytes = try connection.first(
        "SELECT element FROM edit WHERE id = \(edit) AND operation = 'update'")?[0].blob,
      let element = try? JSONValue(parsing: bytes)
    else { return false }
    return !LocalState(element: element, platform: platform).isLocal
  }

  /// The sighting of an edit in a row that is not dirty; it has no content, as it was not compared.
  func stillThere(_ witness: CleanRow, _ entry: Ingest) -> Sighting {
    Sighting(
      lineage: entry.row.lineage, handback: entry.row.handback, row: witness.row,
      lastModified: witness.lastModified, content: "")
  }

  // MARK: the device's own sync

  /// Records a row that has an ID: a clean row of the return, or a row of another return of its
  /// installation.
  ///
  /// If the ledger has it as a record created on the device, the device has sent the record itself.
  /// A duplicate is reported once. `isOfOther`: the row is from another return, where it may have
  /// been edited since.
  func noteOwnSync(
    _ witness: CleanRow, isOfOther: Bool = false, _ entry: Ingest
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
      // Two devices have the row, and each has sent it by itself.
      try connection.run("UPDATE creation SET record_id = \(first) WHERE id = \(creation)")
      ours = first
    }
    guard let ours else {
      return try closeSentByDevice(creation, witness, isOfOther: isOfOther, entry)
    }
    if ours == serverID { return }
    if try isToldTwice(creation, serverID) { return }
    let edit = Edit(
      row: witness.row, created: witness.created, lastModified: witness.lastModified,
      element: Array("{}".utf8), operation: .synced, serverID: serverID, localID: row[2].text)
    try insert(edit, content: "", creation: creation, entry)
    entry.result.new += 1
  }

  /// The row of a new record in an earlier return of the same installation, clean or edited since.
  ///
  /// The device had sent the record by itself and was then restored from a backup, or an older copy
  /// of its store arrived late.
  func sentBefore(_ edit: Edit, _ entry: Ingest) throws -> CleanRow? {
    guard entry.hasReturns, edit.operation == .create, edit.finding == nil,
      edit.serverID == nil
    else { return nil }
    // Without marks, a redelivered row may be of any device that has the bundle.
    if entry.row.install == nil, try carried(edit.row, in: entry.row) != nil { return nil }
    let found = try connection.first(
      """
      SELECT w.last_modified_ms, w.server_id FROM returned r JOIN (
        SELECT return_id, last_modified_ms, server_id, store, soup, entry_id, created_ms FROM witness
        UNION ALL SELECT return_id, last_modified_ms, record_id, store, soup, entry_id, created_ms FROM edit
          WHERE operation IN ('update', 'delete')) w ON w.return_id = r.id
      WHERE r.stamp_id IN (\(list: entry.stampIDs)) AND r.id <> \(entry.row.id)
        AND r.install IS \(entry.row.install) AND w.store = \(edit.row.store.text)
        AND w.soup = \(edit.row.soup) AND w.entry_id = \(edit.row.soupEntryID)
        AND w.created_ms = \(edit.created) AND w.server_id IS NOT NULL
      ORDER BY w.last_modified_ms DESC LIMIT 1
      """)
    guard let found, let date = found[0].integer else { return nil }
    return CleanRow(
      row: edit.row, created: edit.created, lastModified: date, serverID: found[1].text)
  }

  /// Whether a duplicate has been reported, or will be by the next run.
  ///
  /// An edit with the duplicate's ID that the device has since resolved by itself is not reported.
  private func isToldTwice(_ creation: Int64, _ serverID: String) throws -> Bool {
    try connection.integer(
      """
      SELECT 1 FROM edit e WHERE e.creation_id = \(creation) AND (
        e.record_id = \(serverID) AND (e.operation = 'synced' OR e.state <> 'closed') OR EXISTS (
          SELECT 1 FROM outcome x WHERE x.edit_id = e.id AND x.verdict = \(Verdict.duplicateCreated)
            AND \(serverID) IN (x.detail ->> '$.recordId', x.detail ->> '$.otherId'))) LIMIT 1
      """) != nil
  }

  /// Closes the edits of a record that the device's own sync created and attache did not.
  ///
  /// The row's ID shows that its device has sent what it had before it knew the ID: the earlier
  /// edits of its installation, and those of its past, which its bundle redelivered in the row.
  /// Sending these again would overwrite later corrections in the org. An edit that has the ID was
  /// made after that: only a clean row of its own lineage shows that the device has sent it, too.
  ///
  /// Another device that has the same new row did not send it. Without marks, a row that was not
  /// redelivered is taken to be of one device, and a redelivered row may be of any device that has
  /// the bundle.
  private func closeSentByDevice(
    _ creation: Int64, _ witness: CleanRow, isOfOther: Bool, _ entry: Ingest
  ) throws {
    let carried = try carried(witness.row, in: entry.row)
    let (install, wasCarried) = (entry.row.install, carried != nil)
    let sent = try connection.all(
      """
      SELECT e.id, e.record_id IS NULL, NOT \(wasCarried) AND r.install IS NULL,
        EXISTS (SELECT 1 FROM seen n JOIN returned s ON s.id = n.return_id
          WHERE n.edit_id = e.id AND s.stamp_id IN (\(list: entry.stampIDs))
            AND (s.install = \(install)
              OR NOT \(wasCarried) AND (s.install IS NULL OR \(install) IS NULL)))
      FROM edit e JOIN returned r ON r.id = e.return_id
      WHERE e.creation_id = \(creation) AND e.operation <> 'synced' AND \(Self.mayBeClosed)
        AND NOT EXISTS (SELECT 1 FROM seen n WHERE n.edit_id = e.id
          AND n.last_modified_ms > \(witness.lastModified))
      """)
    let lineages = try lineages(
      of: Set(sent.compactMap { $0[0].integer } + [carried?.edit].compactMap(\.self)))
    var ancestry = entry.ancestry
    if let id = carried?.edit {
      ancestry.past = [Ancestry.Past(edit: id, ancestry: lineages.ancestry(of: id))]
    }
    for row in sent {
      guard let id = row[0].integer else { continue }
      let hasID = row[1].integer != 1
      if hasID, isOfOther { continue }
      let isOfDevice = row[hasID ? 2 : 3].integer == 1
      let sightings = lineages.ancestry(of: id).sightings
      if !isOfDevice && !ancestry.owns(id, seen: sightings) { continue }
      try supersede(id, by: nil)
    }
  }
}
