import JSON
import Ledger
import MobileSync
import Salesforce

// Conflicts between edits: with those of other devices (`DeviceConflictRule`), and between those of one
// device.
extension SnapshotPlanner {
  /// The verdict of an edit that conflicts with others; nil if it may be sent.
  func deviceConflict(_ edit: OpenEdit) throws -> Settlement? {
    let history = try histories.history(of: edit)
    let claims = history.claims
    // Most records have only one edit, and nothing else has to be checked.
    if edit.unorderedWith == nil, claims.allSatisfy({ $0.editID == edit.id }) { return nil }
    let written = Set(claims.filter { $0.writtenDate != nil }.map(\.editID))
    var opponents = DeviceConflictRule.opponents(
      of: edit.claim, deviceDate: edit.modificationDate, issued: edit.issued,
      claims: claims.filter { !history.lineages.areOfOneDevice(edit.id, $0.editID) },
      policy: options.deviceConflicts)
    if let other = edit.unorderedWith, options.deviceConflicts != .lastWins {
      opponents.append(other)
    }
    opponents += try contradictions(edit)
    opponents = try opponents.filter { try !state.isApproved(edit, over: $0) }
    guard !opponents.isEmpty else { return nil }
    let comparison = try editedFields(of: edit)
    if !written.contains(edit.id), changesNothing(edit, comparison) { return nil }
    opponents = try opponents.filter { id in
      guard !written.contains(id), let other = try state.openEdit(id: id) else { return true }
      return try !changesNothing(other, editedFields(of: other))
    }
    if opponents.isEmpty { return nil }
    var detail = comparison.detail
    detail.recordID = edit.recordID
    detail.otherEdits = opponents
    return Settlement(.deviceConflict, detail)
  }

  /// The listed fields in which an edit's device may itself have sent the org's values.
  ///
  /// If its user wrote the record last and no write of attache accounts for its state, these are
  /// all of them: the device's own sync keeps the date of its copy, and nothing else shows it. If
  /// the app does not identify its installation, they are those of `unmarkedFields`.
  func doubted(_ candidate: Candidate) throws -> Set<String> {
    let edit = candidate.edit
    guard candidate.operation == .update, edit.recordID != nil,
      case .alive(let date, let fields) = candidate.server
    else { return [] }
    let history = try histories.history(of: edit)
    if let date, fields["LastModifiedById"]?.string?.recordID18 == snapshotID,
      !history.mayHaveLeft(at: date)
    {
      return Set(candidate.listed)
    }
    return history.unmarkedFields(of: edit, candidate.element, candidate.listed)
  }

  /// Whether an update has nothing to send, so that it cannot conflict.
  func changesNothing(_ edit: OpenEdit, _ comparison: FieldComparison) -> Bool {
    edit.syncOperation == .update && comparison.edited.isEmpty && !comparison.hasNoBase
  }

  /// The edits of the same record in other soups or stores of the device that contradict an edit:
  /// they set a field that both send to another value, or one deletes what the other edits.
  ///
  /// Nothing shows which of two rows of one device its user meant, so `reconcile.deviceConflicts`
  /// does not decide it either. Edits that do not contradict each other are merged: each sends the
  /// fields that were edited in it. If they came in one return, an operator's decision to send one
  /// of them is none to send the other after it.
  private func contradictions(_ edit: OpenEdit) throws -> [Int64] {
    let siblings = try siblings(of: edit).filter(\.isUnseen).map(\.edit).filter { other in
      rules.contains { $0.soup == other.soup }
    }
    if siblings.isEmpty { return [] }
    let mine = try editedFields(of: edit).edited
    return try siblings.filter { other in
      let deletes = [edit, other].count { $0.syncOperation == .delete }
      if deletes > 0 { return deletes == 1 }
      let theirs = try histories.history(of: other)
        .editedFields(of: other, rules, isSent: other.returnID != edit.returnID).edited
      return mine.contains { field in
        theirs.contains { $0.name == field.name && !FieldValue.isSame($0.device, field.device) }
      }
    }.map(\.id)
  }
  /// A device's other edits of an edit's record, in other soups and stores: those that are
  /// unresolved, or were sent after the content of the edit's row was read.
  func siblings(of edit: OpenEdit) throws -> [(edit: OpenEdit, isUnseen: Bool)] {
    if edit.recordID == nil { return [] }
    let history = try histories.history(of: edit)
    var siblings: [(OpenEdit, Bool)] = []
    for other in history.ofRecord where other.isChange && other.verdict != .superseded {
      if other.id == edit.id || other.row == edit.row { continue }
      var isUnseen = other.isUnsettled
      var counts = isUnseen
      if !isUnseen, let written = other.writtenDate {
        let date = edit.modificationDate ?? ""
        isUnseen = edit.modificationDate == nil || ServerDate.isBefore(date, written)
        // Dates have whole seconds, so with equal dates the row may have been read before the
        // write.
        counts = isUnseen || ServerDate.isSame(date, written)
      }
      guard counts, history.lineages.areOfOneDevice(edit.id, other.id),
        let sibling = try state.openEdit(id: other.id)
      else { continue }
      // In the stores of other bundles, the same row may have another number.
      if other.row.isOfSoup(edit.soup), sibling.lineage != edit.lineage { continue }
      let isSameCreation =
        sibling.creation != nil && sibling.creation?.id == edit.creation?.id
      if !isSameCreation { siblings.append((sibling, isUnseen)) }
    }
    return siblings
  }
}
