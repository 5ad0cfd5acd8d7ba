import JSON
import Ledger
import MobileSync
import SQLite
import Salesforce
import System

extension RecordHistory {
  /// The fields that a device edited, as far as that is known without the org.
  ///
  /// - Parameters:
  ///   - element: The parsed element of the edit, if the caller has it.
  ///   - isSent: Whether what was sent of the edit itself counts as no longer edited.
  package func editedFields(
    of edit: OpenEdit, _ rules: [ReconciledSync], _ element: JSONObject? = nil, isSent: Bool = true
  ) -> FieldComparison {
    let element = element ?? (try? Self.element(of: edit, in: self)) ?? [:]
    let listed = rules.fields(of: edit.soup, for: edit.operation == .create ? .create : .update)
    let choice = MergeBaseRule.choose(
      device: element, deviceDate: edit.modificationDate, issued: edit.base,
      ownWrite: ownWrite(of: edit, isSent: isSent), serverDate: nil, serverFields: nil)
    return FieldComparison(
      device: element, base: choice.base, server: nil, listed: listed,
      unseen: choice.unseen, earlier: choice.earlier, replaced: choice.replaced,
      doubted: unmarkedFields(of: edit, element, listed))
  }

  /// The listed fields in which an earlier edit of the same row has another value, if the app does
  /// not identify its installation.
  ///
  /// That edit may be of the same device, whose later value is then the user's latest.
  func unmarkedFields(
    of edit: OpenEdit, _ element: JSONObject, _ listed: [String]
  ) -> Set<String> {
    guard edit.operation == .update, entry(edit.id)?.install == nil else { return [] }
    var names: Set<String> = []
    for other in entries where other.id != edit.id && other.operation == .update && other.isRead {
      guard other.row == edit.row, other.lastModified < edit.lastModified, other.recordID != nil,
        other.recordID == edit.serverID, other.stampID == edit.stampID, other.install == nil
      else { continue }
      let isLater = other.serverDate.map { written in
        edit.modificationDate.map { ServerDate.isBefore($0, written) } ?? true
      }
      guard isLater ?? other.isUnsettled, !lineages.areOfOneDevice(edit.id, other.id) else {
        continue
      }
      let held = other.element ?? [:]
      names.formUnion(listed.filter { !FieldValue.isSame(held[$0], element[$0]) })
    }
    return names
  }

  /// Whether attache may have left the record in its state at a date, including by a write that was
  /// not read back.
  func mayHaveLeft(at date: String) -> Bool {
    writes.contains { $0.serverDate.map { ServerDate.isSame($0, date) } ?? true }
  }

  /// The result of attache's writes for an edit's lineage.
  ///
  /// Nil if there were none, or if the result of the last one is unknown and the device has a copy
  /// of the org's record to compare with.
  ///
  /// Later writes of the edit's own row are not part of its past: an edit that is processed again
  /// is decided against the org, not against what was sent after it. Nor is its prior write if an
  /// operator decides about an update that was left as a conflict and arrived late.
  package func ownWrite(of edit: OpenEdit, isSent: Bool = true) -> FieldKnowledge? {
    if edit.recordID == nil { return nil }
    let writes = writes.filter { $0.action != .delete }
    let named = namedWrite(before: edit)
    if writes.isEmpty { return named }
    let own = written(Set(writes.map(\.editID)), before: edit)
    let isLeft = !isSent || edit.operation == .update && edit.decision?.verdict == .conflict
    let hasPast = !lineages.ancestry(of: edit.id).past.isEmpty
    var known = named ?? FieldKnowledge()
    for write in writes {
      guard let entry = entry(write.editID) else { continue }
      let id = write.editID
      let isSameRow =
        entry.row == edit.row || (edit.creation != nil && entry.creationID == edit.creation?.id)
        // In the stores of earlier bundles, the record's row may have had another number.
        || (hasPast && entry.row.isOfSoup(edit.soup))
      guard own.contains(id), !isSameRow || id <= edit.id, id != edit.id || !isLeft else {
        continue
      }
      known.add(
        write, entered: entry.entered, element: entry.element, isSameRow: isSameRow)
    }
    return known.result(isOfDevicesOwn: edit.modificationDate == nil)
  }

  /// The values of a record that an operator named for an edit's row, as if attache had written
  /// them: where the device still has its values of that time, the org's value stands.
  private func namedWrite(before edit: OpenEdit) -> FieldKnowledge? {
    guard let named, named.edit < edit.id, let date = named.date else { return nil }
    var known = FieldKnowledge(date: date, fields: named.left)
    for (name, value) in named.left {
      known.sent[name] = named.element[name] ?? .null
      known.entered.insert(name)
      // By naming the record, the operator declared that the device created it.
      known.given[name] = .init(before: value)
    }
    return known
  }

  /// The edits among the given ones that belong to an edit's past: those of its device, and their
  /// predecessors, even if an earlier return of the same row was attributed to another device.
  private func written(_ edits: Set<Int64>, before edit: OpenEdit) -> Set<Int64> {
    var own = edits.filter { lineages.owns(edit.id, $0) }
    for known in own where known < edit.id && own.count < edits.count {
      guard entry(known)?.row == edit.row else { continue }
      own.formUnion(edits.filter { $0 < known && lineages.owns(known, $0) })
    }
    return own
  }

  /// The fields in which a device's copy of the record has values that were undone since, because a
  /// bundle was packed between the write and the undo.
  func takenBack(device: JSONObject, deviceDate: String?) -> Set<String> {
    var names: Set<String> = []
    for write in writes where write.action == .update && write.purpose == .undo {
      if let undone = write.serverDate, let deviceDate, ServerDate.isBefore(undone, deviceDate) {
        continue
      }
      let undone = write.seen?.object ?? [:]
      for name in write.payload.names {
        guard let value = device[name], FieldValue.isSame(value, undone[name]) else { continue }
        names.insert(name)
      }
    }
    return names
  }

  /// The org's date of the record after attache's last write to it; nil if it was not read, or if
  /// another user wrote in between.
  ///
  /// To undo a creation deletes the whole record. Its date is only known if each later write of
  /// attache found the date that the previous one had left, and was read back at once. Otherwise
  /// another user may have changed the record in fields that attache does not see.
  func leftDate(by change: OperationRow) -> String? {
    let writes = writes.filter { $0.id >= change.id }
    guard let last = writes.last, last.left != nil else { return nil }
    guard change.action == .create else { return last.serverDate }
    var before: String?
    for write in writes {
      // The time of a write that the ledger did not record is unknown.
      guard !write.isPresumed, let date = write.serverDate,
        let sent = write.lastSentMilliseconds ?? write.sentMilliseconds,
        let written = Dates.milliseconds(iso8601: date),
        written <= sent + OperationRow.writeMilliseconds
      else { return nil }
      if let before {
        guard let seen = write.dateBefore, ServerDate.isSame(seen, before) else { return nil }
      }
      before = date
    }
    return before
  }
}

extension LedgerDatabase {
  /// The fields that a device edited, as far as that is known without the org.
  func editedFields(of edit: OpenEdit, _ rules: [ReconciledSync]) throws -> FieldComparison {
    try history(of: .init(edit)).editedFields(of: edit, rules)
  }

  /// Adds to a write's verdict the fields in which the org has another value than the one sent, for
  /// example a number that it rounded or a text that its rules changed.
  func noteKept(_ operation: OperationRow, record: JSONObject, run: String) throws {
    let kept = operation.payload.compactMap { name, sent -> FieldDifference? in
      guard let held = record[name], !FieldValue.isKept(sent, as: held) else { return nil }
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
    try amend(edit, run: run) { $0.add(words) }
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
}
