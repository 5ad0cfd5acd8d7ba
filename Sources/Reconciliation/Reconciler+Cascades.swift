import JSON
import Ledger
import MobileSync
import SQLite
import Salesforce

/// Deletions, and the edits of other devices below the records that they delete.
///
/// An org deletes a record's details with it. A device that deletes a record knows the details that
/// it was issued, but not what other devices change or add below the record. Such edits conflict
/// with the deletion, just as edits of one record do.
extension Reconciler {
  /// By edit: the edits that it conflicts with, of those that the run processes.
  ///
  /// This is determined before anything is sent, for all snapshots together. Whether a record is
  /// below another one follows from the org and from the edits: a record that an edit moves there
  /// is below it, too.
  nonisolated(nonsending) func findCascades() async throws -> [Int64: [Int64]] {
    let deletions = try state.undecidedDeletions()
    if deletions.isEmpty { return [:] }
    let issued = deletions.compactMap(\.edit.issued).min()
    let writers = try state.writers(sentSince: issued)
    if writers.isEmpty { return [:] }
    var opponents: [Int64: Set<Int64>] = [:]
    let groups = Dictionary(grouping: deletions, by: \.snapshotID)
    for (snapshotID, group) in groups.sorted(by: { $0.key < $1.key }) {
      let deletions = group.map(\.edit)
      guard let access = try await asker(of: snapshotID) else { continue }
      do {
        let remade = RemadeRecords(state, access)
        var targets: [String: [OpenEdit]] = [:]
        for deletion in deletions {
          guard let id = deletion.target?.recordID18 else { continue }
          let current = try await remade.current(id)
          targets[current, default: []].append(deletion)
        }
        var search = CascadeSearch(state, access, remade, rules, writers)
        for (writer, above) in try await search.below(Set(targets.keys), deletions) {
          let all = Set(above.inOrg + above.onDevice)
          for deletion in targets.filter({ all.contains($0.key) }).values.joined() {
            try oppose(deletion, writer, &opponents)
          }
        }
      } catch let error as OrgError {
        // The deletion itself will report what is wrong with the object.
        try await checkAlone(error, access)
      }
    }
    return opponents.mapValues { $0.sorted() }
  }

  /// Records the conflict of a deletion and an edit below its record, unless they come from one
  /// device or the policy decides between them.
  private func oppose(
    _ deletion: OpenEdit, _ writer: CascadeWriter, _ opponents: inout [Int64: Set<Int64>]
  ) throws {
    guard let edit = try state.openEdit(id: writer.edit)?.edit,
      rules.contains(where: { $0.soup == edit.soup }),
      try state.device(ofEdit: deletion.id) != state.device(ofEdit: edit.id),
      try !state.areOfOneDevice(deletion.id, state.ancestry(ofEdit: deletion.id), edit.id)
    else { return }
    if edit.syncOperation == .update, writer.claim.writtenDate == nil {
      let comparison = try state.editedFields(of: edit, rules)
      if comparison.edited.isEmpty, !comparison.hasNoBase { return }
    }
    let isWritten = writer.claim.writtenDate != nil
    if isWritten, !writer.claim.isNews(toBundleOf: deletion.issued) { return }
    let sends = deletion.decision?.decision.sends == true
    let isStanding = { (edit: OpenEdit, other: RecordClaim) in
      !DeviceConflictRule.opponents(
        of: edit.claim, deviceDate: nil, issued: edit.issued, claims: [other],
        policy: self.options.deviceConflicts
      ).isEmpty
    }
    var claim = writer.claim
    // The deletion would destroy the edit's change, whatever the edit waits for.
    if !isWritten { claim.verdict = nil }
    if !sends, isStanding(deletion, claim) { opponents[deletion.id, default: []].insert(edit.id) }
    let isApproved = edit.decision?.decision.sends == true && !sends
    if !isWritten, !isApproved, isStanding(edit, deletion.claim) || sends {
      opponents[edit.id, default: []].insert(deletion.id)
    }
  }
}

extension OpenEdit {
  /// The ID by which a device knows its record; the record may have been recreated under another
  /// ID.
  fileprivate var target: String? { creation == nil ? serverID ?? recordID : recordID }
}

extension SnapshotPlanner {
  /// The verdict of an edit that conflicts with a deletion above it, or of a deletion with edits
  /// below it.
  func cascade(_ edit: OpenEdit) throws -> Settlement? {
    guard let others = cascades[edit.id] else { return nil }
    let deletes = edit.syncOperation == .delete
    var detail = OutcomeDetail.because(
      deletes
        ? "the org would also delete what other devices have written below it"
        : "another device has deleted a record, and the org would delete this one with it")
    detail.recordID = edit.recordID
    detail.otherEdits = others
    if !deletes {
      let comparison = try editedFields(of: edit)
      (detail.fields, detail.outside) = (comparison.edited, comparison.outside)
      detail.hasNoBase = comparison.hasNoBase
    }
    return Settlement(.deviceConflict, detail)
  }
}
