import Ledger
import MobileSync
import Salesforce

// Device conflicts from earlier runs, after the pipeline has been configured to choose between
// them.
extension Reconciler {
  /// Reopens the edits of earlier device conflicts that `reconcile.deviceConflicts` sends; the
  /// others are left for an operator.
  nonisolated(nonsending) func takeUpClashes() async throws {
    for (snapshotID, edits) in try standingClashes() {
      let access: RecordReader?
      do {
        access = try await self.access(to: snapshotID)
      } catch let error as OrgError where error.kind == .authentication || error.kind == .permission
      {
        continue
      }
      guard let access else { continue }
      let planner = planner(snapshotID, access)
      for edit in edits where try planner.clash(edit) == nil { try state.takeUp(edit.id) }
    }
  }

  /// The edits that an earlier run left in a device conflict and that the policy may send, by
  /// snapshot.
  func standingClashes() throws -> [(snapshotID: String, edits: [OpenEdit])] {
    guard options.acrossSnapshots != .report else { return [] }
    var found: [(String, [OpenEdit])] = []
    for snapshotID in try state.snapshotsWithClashes() {
      let edits = try state.clashes(snapshotID: snapshotID).filter { clash in
        guard options.only?.contains(clash.edit.id) != false else { return false }
        // The policy chooses one of the edits that were reported together.
        return clash.others.allSatisfy { options.acrossSnapshots.sends(clash.edit.id, over: $0) }
      }
      if !edits.isEmpty { found.append((snapshotID, edits.map(\.edit))) }
    }
    return found
  }
}
