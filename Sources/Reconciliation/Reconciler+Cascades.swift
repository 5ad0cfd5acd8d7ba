import JSON
import Ledger
import MobileSync
import SQLite
import Salesforce

/// What deletions of records above its own mean for an edit, by edit.
struct Cascades {
  /// The edits that it conflicts with.
  var opponents: [Int64: Set<Int64>] = [:]
  /// Edits that conflict with one of their own device.
  var contradictions: Set<Int64> = []
  /// The deletions by its own device with which the org deletes its record, the nearest first.
  var masters: [Int64: [Int64]] = [:]
  /// By deletion: the edits with which its own device moved records away from its record.
  var leaving: [Int64: Set<Int64>] = [:]
  /// By deletion: the edits with which its own device moved records away from its record, in fields
  /// that no sync up sends.
  var unsentMoves: [Int64: Set<Int64>] = [:]
  /// References that are not sent: another user has moved the record, and the device has deleted
  /// the record that it was below.
  var kept: [Int64: Set<String>] = [:]
}

/// Deletions, and the edits below the records that they delete.
///
/// An org deletes a record's details with it. A device that deletes a record knows the details that
/// it was issued, and deletes them, too. It does not know what other devices change or add below
/// the record, nor what other users move there. Such edits conflict with the deletion, just as
/// edits of one record do.
extension Reconciler {
  /// Finds what deletions mean for the edits that the run processes.
  ///
  /// This is determined before anything is sent, for all snapshots together. Whether a record is
  /// below another one follows from the org and from the edits: a record that an edit moves there
  /// is below it, too.
  nonisolated(nonsending) func findCascades() async throws -> Cascades {
    var cascades = Cascades(masters: try state.mastersGone())
    let deletions = try state.undecidedDeletions().filter { deletion in
      try rules.contains { $0.soup == deletion.edit.soup }
        && state.settledByUndo(deletion.edit, rules) == nil
    }
    if deletions.isEmpty { return cascades }
    // A deletion that an operator has to decide concerns only its device's edits.
    let due = deletions.filter(\.isDue)
    let issued = due.compactMap(\.edit.issued).min()
    let writers = try state.writers(sentSince: issued).filter { !due.isEmpty || $0.isOpen }
    if writers.isEmpty { return cascades }
    // All deletions of one asker are looked up together: each write is read once.
    var groups: [(access: RecordReader, deletions: [UndecidedDeletion])] = []
    for (snapshotID, group) in Self.bySnapshot(deletions) {
      guard let access = try await asker(of: snapshotID) else { continue }
      if let index = groups.firstIndex(where: { $0.access === access }) {
        groups[index].deletions += group
      } else {
        groups.append((access, group))
      }
    }
    for (access, group) in groups {
      try await findCascades(of: group, writers, access, &cascades)
    }
    return cascades
  }

  private static func bySnapshot(
    _ deletions: [UndecidedDeletion]
  ) -> [(key: String, value: [UndecidedDeletion])] {
    Dictionary(grouping: deletions, by: \.edit.snapshotID).sorted { $0.key < $1.key }
  }

  /// Finds what some deletions mean for the edits below their records.
  private nonisolated(nonsending) func findCascades(
    of deletions: [UndecidedDeletion], _ writers: [CascadeWriter], _ access: RecordReader,
    _ cascades: inout Cascades
  ) async throws {
    do {
      let remade = RemadeRecords(state, access)
      var targets: [String: [UndecidedDeletion]] = [:]
      for deletion in deletions {
        guard let id = deletion.edit.target?.recordID18 else { continue }
        let current = try await remade.current(id)
        targets[current, default: []].append(deletion)
      }
      var search = CascadeSearch(state, access, remade, rules, writers)
      let found = try await search.below(Set(targets.keys), deletions.map(\.edit))
      let histories = RecordHistories(state)
      try histories.read(found.compactMap(\.writer.openEdit))
      let lineages = try state.lineages(
        of: Set(deletions.map(\.edit.id) + found.map(\.writer.edit)))
      for (writer, above) in found {
        guard let edit = writer.openEdit,
          try state.settledByUndo(edit, rules, histories.history(of: edit)) == nil
        else {
          continue
        }
        let isConcerned = try isConcerned(edit, writer, histories)
        // The nearest record first.
        for id in above.onDevice + Set(above.inOrg).subtracting(above.onDevice).sorted() {
          for deletion in targets[id] ?? [] {
            let isOwn =
              try state.device(ofEdit: deletion.edit.id) == state.device(ofEdit: edit.id)
              || lineages.areOfOneDevice(deletion.edit.id, edit.id)
            if isOwn, above.isLeft(id) {
              cascades.unsentMoves[deletion.edit.id, default: []].insert(edit.id)
            } else if !isConcerned {
              continue
            } else if isOwn {
              try relateOwn(deletion, id, to: edit, writer, above, &cascades)
            } else if deletion.isDue {
              try oppose(deletion.edit, edit, writer, &cascades)
            }
          }
        }
      }
    } catch let error as OrgError {
      // The deletion itself will report what is wrong with the object.
      try await checkAlone(error, access)
      let groups = Self.bySnapshot(deletions)
      if groups.count == 1 { return }
      // It does not hide what is below the records that other users have deleted.
      for (_, group) in groups { try await findCascades(of: group, writers, access, &cascades) }
    }
  }

  /// Whether an edit was sent, or has something to send that a deletion above its record affects.
  private func isConcerned(
    _ edit: OpenEdit, _ writer: CascadeWriter, _ histories: RecordHistories
  ) throws -> Bool {
    guard rules.contains(where: { $0.soup == edit.soup }), writer.claim.verdict != .notInFieldList
    else { return false }
    guard edit.syncOperation == .update, writer.claim.writtenDate == nil else { return true }
    let comparison = try histories.history(of: edit).editedFields(of: edit, rules)
    return !comparison.edited.isEmpty || comparison.hasNoBase
  }

  /// Records what a deletion by an edit's own device means for the edit.
  ///
  /// The device deletes what it knew below the record, and its own new records. Another record there
  /// was moved there, by the device or by another user, and is not deleted without a decision.
  private func relateOwn(
    _ deletion: UndecidedDeletion, _ id: String, to edit: OpenEdit, _ writer: CascadeWriter,
    _ above: RecordsAbove, _ cascades: inout Cascades
  ) throws {
    let isWritten = writer.claim.writtenDate != nil
    let issued = above.issued?.contains(id)
    switch (above.inOrg.contains(id), above.onDevice.contains(id), issued ?? true) {
    case (true, true, true):
      if !isWritten { cascades.masters[edit.id, default: []].append(deletion.edit.id) }
    case (_, false, _) where issued == true:
      if !isWritten { cascades.leaving[deletion.edit.id, default: []].insert(edit.id) }
    case (false, true, _) where issued == true:
      if !isWritten { cascades.kept[edit.id, default: []].formUnion(above.unmoved) }
    default:
      // A record that a write of an earlier return moved there was known to be there.
      guard deletion.isDue, !isWritten || edit.returnID == deletion.edit.returnID else { return }
      let sends = try state.isApproved(deletion.edit, over: edit.id)
      let isApproved = edit.decision?.isApproval == true && !sends
      cascades.contradictions.formUnion([edit.id, deletion.edit.id])
      if !sends { cascades.opponents[deletion.edit.id, default: []].insert(edit.id) }
      if !isWritten, !isApproved {
        cascades.opponents[edit.id, default: []].insert(deletion.edit.id)
      }
    }
  }

  /// Records the conflict of a deletion and another device's edit below its record, unless the
  /// policy decides between them.
  private func oppose(
    _ deletion: OpenEdit, _ edit: OpenEdit, _ writer: CascadeWriter, _ cascades: inout Cascades
  ) throws {
    let isWritten = writer.claim.writtenDate != nil
    if isWritten, !writer.claim.isNews(toBundleOf: deletion.issued) { return }
    let sends = try state.isApproved(deletion, over: edit.id)
    let isStanding = { (edit: OpenEdit, other: RecordClaim) in
      !DeviceConflictRule.opponents(
        of: edit.claim, deviceDate: nil, issued: edit.issued, claims: [other],
        policy: self.options.deviceConflicts
      ).isEmpty
    }
    var claim = writer.claim
    // The deletion would destroy the edit's change, whatever the edit waits for.
    if !isWritten { claim.verdict = nil }
    if !sends, isStanding(deletion, claim) {
      cascades.opponents[deletion.id, default: []].insert(edit.id)
    }
    let isApproved = edit.decision?.isApproval == true && !sends
    if !isWritten, !isApproved, isStanding(edit, deletion.claim) || sends {
      cascades.opponents[edit.id, default: []].insert(deletion.id)
    }
  }
}

extension OpenEdit {
  /// The ID by which a device knows its record; the record may have been recreated under another
  /// ID.
  fileprivate var target: String? { creation == nil ? serverID ?? recordID : recordID }
}
