import JSON
import Ledger
import MobileSync
import SQLite
import Salesforce

extension LedgerDatabase {
  /// The fields that a device edited, as far as that is known without the org.
  package func editedFields(
    of edit: OpenEdit, _ rules: [ReconciledSync]
  ) throws -> FieldComparison {
    let element = (try? JSONValue(parsing: edit.element))?.object ?? [:]
    let listed = rules.fields(of: edit.soup, for: edit.operation == .create ? .create : .update)
    let choice = MergeBaseRule.choose(
      device: element, deviceDate: edit.modificationDate, issued: edit.base,
      ownWrite: try edit.recordID.flatMap { try ownWrite(of: edit, recordID: $0) },
      serverDate: nil, serverFields: nil)
    return FieldComparison(
      device: element, base: choice.base, server: nil, listed: listed,
      unseen: choice.unseen, earlier: choice.earlier, replaced: choice.replaced,
      doubted: try unmarkedFields(of: edit, element, listed))
  }

  /// The listed fields in which an earlier edit of the same row has another value, if the app does
  /// not identify its installation.
  ///
  /// That edit may be of the same device, whose later value is then the user's latest.
  func unmarkedFields(
    of edit: OpenEdit, _ element: JSONObject, _ listed: [String]
  ) throws -> Set<String> {
    guard edit.operation == .update else { return [] }
    let others = try connection.all(
      """
      SELECT e.id, e.element, (SELECT o.server_date FROM operation o
          WHERE o.edit_id = e.id AND o.state = \(OperationState.done) ORDER BY o.id DESC LIMIT 1),
        \(Self.isUnsettledEdit)
      FROM edit e JOIN returned r ON r.id = e.return_id
      WHERE e.store = \(edit.row.store.text) AND e.soup = \(edit.row.soup)
        AND e.entry_id = \(edit.row.soupEntryID) AND e.last_modified_ms < \(edit.lastModified)
        AND e.record_id = \(edit.serverID) AND e.operation = 'update' AND e.finding IS NULL
        AND r.stamp_id = \(edit.stampID) AND r.install IS NULL
        AND (SELECT install FROM returned WHERE id = \(edit.returnID)) IS NULL AND e.id <> \(edit.id)
      """)
    if others.isEmpty { return [] }
    let lineages = try lineages(of: Set(others.compactMap { $0[0].integer } + [edit.id]))
    var names: Set<String> = []
    for other in others {
      let isLater = other[2].text.map { written in
        edit.modificationDate.map { ServerDate.isBefore($0, written) } ?? true
      }
      guard isLater ?? (other[3].integer == 1), let id = other[0].integer,
        !lineages.areOfOneDevice(edit.id, id)
      else { continue }
      let held = (try? JSONValue(parsing: other[1].blob ?? []))?.object ?? [:]
      names.formUnion(listed.filter { !FieldValue.isSame(held[$0], element[$0]) })
    }
    return names
  }

  /// Whether attache may have left a record in its state at a date, including by a write that was
  /// not read back.
  func mayHaveLeft(_ recordID: String, at date: String) throws -> Bool {
    try connection.all(
      """
      SELECT server_date FROM operation
      WHERE result_id = \(recordID) AND state = \(OperationState.done)
      """
    ).contains { $0[0].text.map { ServerDate.isSame($0, date) } ?? true }
  }

  /// The result of attache's writes for an edit's lineage.
  ///
  /// Nil if there were none, or if the result of the last one is unknown and the device has a copy
  /// of the org's record to compare with.
  ///
  /// Later writes of the edit's own row are not part of its past: an edit that is processed again
  /// is decided against the org, not against what was sent after it. Nor is its prior write if an
  /// operator decides about an update that was left as a conflict and arrived late.
  package func ownWrite(of edit: OpenEdit, recordID: String) throws -> MergeBaseRule.OwnWrite? {
    let writes = try self.writes(to: recordID)
    let named = try edit.creation.flatMap { try self.named(before: edit, creation: $0.id) }
    if writes.isEmpty { return named }
    let edits = Set(writes.map(\.editID))
    let lineages = try lineages(of: edits.union([edit.id]))
    let own = try written(edits, before: edit, lineages)
    let isLeft = edit.operation == .update && edit.decision?.verdict == .conflict
    var rows: [Int64: [SQLiteValue]] = [:]
    for row in try connection.all(
      """
      SELECT e.store, e.soup, e.entry_id, e.id, e.creation_id, e.element,
        (SELECT d.detail FROM decision d WHERE d.edit_id = e.id AND d.kind = 'set'
          AND d.state = 'done' ORDER BY d.id DESC LIMIT 1)
      FROM edit e WHERE e.id IN (\(each: edits.sorted()))
      """)
    {
      rows[row[3].integer ?? 0] = row
    }
    var story = OwnWriteStory(named)
    for write in writes {
      guard let row = rows[write.editID] else { continue }
      let id = write.editID
      let isSameRow =
        rowKey(row) == edit.row || (edit.creation != nil && row[4].integer == edit.creation?.id)
        // In the stores of earlier bundles, the record's row may have had another number.
        || (!lineages.ancestry(of: edit.id).past.isEmpty && rowKey(row).isOfSoup(edit.soup))
      guard own.contains(id), !isSameRow || id <= edit.id, id != edit.id || !isLeft else {
        continue
      }
      story.add(
        write, entered: try parse(row[6].text, "a decision")["values"]?.object ?? [:],
        element: (try? JSONValue(parsing: row[5].blob ?? []))?.object, isSameRow: isSameRow)
    }
    return story.write(isOfDevicesOwn: edit.modificationDate == nil)
  }

  /// The values of a record that an operator named for an edit's row, as if attache had written
  /// them: where the device still has its values of that time, the org's value stands.
  private func named(
    before edit: OpenEdit, creation: Int64
  ) throws -> MergeBaseRule.OwnWrite? {
    guard let named = try named(creation: creation), named.edit < edit.id, let date = named.date
    else { return nil }
    var write = MergeBaseRule.OwnWrite(date: date, fields: named.left)
    for (name, value) in named.left {
      write.sent[name] = named.element[name] ?? .null
      write.entered.insert(name)
      // By naming the record, the operator declared that the device created it.
      write.given[name] = MergeBaseRule.Given(before: value)
    }
    return write
  }

  /// The edits among the given ones that belong to an edit's past: those of its device, and their
  /// predecessors, even if an earlier return of the same row was attributed to another device.
  private func written(
    _ edits: Set<Int64>, before edit: OpenEdit, _ lineages: EditLineages
  ) throws -> Set<Int64> {
    var own = edits.filter { lineages.owns(edit.id, $0) }
    for known in own where known < edit.id && own.count < edits.count {
      guard try openEdit(id: known)?.edit.row == edit.row else { continue }
      own.formUnion(edits.filter { $0 < known && lineages.owns(known, $0) })
    }
    return own
  }

  /// The fields in which a device's copy of a record has values that were undone since, because a
  /// bundle was packed between the write and the undo.
  func takenBack(
    recordID: String, device: JSONObject, deviceDate: String?
  ) throws -> Set<String> {
    let rows = try connection.all(
      """
      SELECT o.payload, o.seen, o.server_date FROM operation o
      WHERE o.result_id = \(recordID) AND o.state = \(OperationState.done) AND o.action = 'update'
        AND \(Self.isUndo())
      """)
    var names: Set<String> = []
    for row in rows {
      if let undone = row[2].text, let deviceDate, ServerDate.isBefore(undone, deviceDate) {
        continue
      }
      let undone = try parse(row[1].text, "a write").object ?? [:]
      for name in try parse(row[0].text, "a write").object?.names ?? [] {
        guard let value = device[name], FieldValue.isSame(value, undone[name]) else { continue }
        names.insert(name)
      }
    }
    return names
  }

  /// Adds to a write's verdict the fields in which the org has another value than the one sent, for
  /// example a number that it rounded or a text that its rules changed.
  func noteKept(_ operation: OperationRow, record: JSONObject, run: String) throws {
    let kept = operation.payload.compactMap { name, sent -> FieldDifference? in
      guard let held = record[name], !FieldValue.isSame(sent, held) else { return nil }
      return FieldDifference(name: name, base: nil, device: sent, server: held)
    }
    if kept.isEmpty { return }
    let names = kept.map(\.name).joined(separator: ", ")
    try amend(operation.editID, run: run) { detail in
      detail.kept = kept
      detail.message = detail.message ?? "the org has another value than the one sent in \(names)"
    }
  }

  /// Adds a message to the verdict that a run gave to an edit.
  func noteWords(_ words: String, beside edit: Int64, run: String) throws {
    try amend(edit, run: run) { detail in
      detail.message = [detail.message, words].compactMap(\.self).joined(separator: "; ")
    }
  }

  /// Changes the details of the verdict that a run gave to an edit, if it gave one.
  func amend(_ edit: Int64, run: String, _ change: (inout OutcomeDetail) -> Void) throws {
    guard
      let text = try connection.text(
        "SELECT detail FROM outcome WHERE run_id = \(run) AND edit_id = \(edit)")
    else { return }
    var detail = OutcomeDetail(json: try parse(text, "a verdict"))
    change(&detail)
    try connection.run(
      """
      UPDATE outcome SET detail = \(detail.json.text) WHERE run_id = \(run) AND edit_id = \(edit)
      """)
  }

  /// A device's other edits of an edit's record, in other soups and stores: those that are
  /// unresolved, or were sent after the content of the edit's row was read.
  func siblings(of edit: OpenEdit) throws -> [(edit: OpenEdit, isUnseen: Bool)] {
    guard let recordID = edit.recordID else { return [] }
    let rows = try connection.all(
      """
      SELECT e.store, e.soup, e.entry_id, e.id, \(Self.isUnsettledEdit),
        (SELECT coalesce(o.server_date, 'unknown') FROM operation o
          WHERE o.edit_id = e.id AND o.state = \(OperationState.done) ORDER BY o.id DESC LIMIT 1)
      FROM edit e
      WHERE e.operation <> 'synced' AND e.finding IS NULL AND e.verdict IS NOT \(Verdict.superseded)
        AND e.id <> \(edit.id) AND e.id IN (\(Self.edits(of: recordID, formerID: edit.serverID)))
      ORDER BY e.id
      """)
    if rows.isEmpty { return [] }
    let lineages = try lineages(of: Set(rows.compactMap { $0[3].integer } + [edit.id]))
    var siblings: [(OpenEdit, Bool)] = []
    for row in rows where rowKey(row) != edit.row {
      var isUnseen = row[4].integer == 1
      var counts = isUnseen
      if !isUnseen, let written = row[5].text {
        let date = edit.modificationDate ?? ""
        isUnseen = edit.modificationDate == nil || ServerDate.isBefore(date, written)
        // Dates have whole seconds, so with equal dates the row may have been read before the
        // write.
        counts = isUnseen || ServerDate.isSame(date, written)
      }
      guard counts, let id = row[3].integer, lineages.areOfOneDevice(edit.id, id),
        let sibling = try openEdit(id: id)?.edit
      else { continue }
      // In the stores of other bundles, the same row may have another number.
      if rowKey(row).isOfSoup(edit.soup), sibling.lineage != edit.lineage { continue }
      let isSameCreation =
        sibling.creation != nil && sibling.creation?.id == edit.creation?.id
      if !isSameCreation { siblings.append((sibling, isUnseen)) }
    }
    return siblings
  }
}
