import Ledger
import MobileSync
import Salesforce

// Device conflicts from earlier runs, after the pipeline has been configured to choose between them.
extension Reconciler {
  /// Reopens the edits of earlier device conflicts that `reconcile.deviceConflicts` sends; the others
  /// are left for an operator.
  nonisolated(nonsending) func takeUpDeviceConflicts() async throws {
    for (snapshotID, edits) in try standingDeviceConflicts() {
      let access: RecordReader?
      do {
        access = try await self.access(to: snapshotID)
      } catch let error as OrgError where error.kind == .authentication || error.kind == .permission
      {
        continue
      }
      guard let access else { continue }
      let planner = planner(snapshotID, access)
      for edit in edits {
        // An edit that was reopened counts as undecided for the others.
        try planner.histories.read([edit])
        if try cascades.opponents[edit.id] == nil && planner.deviceConflict(edit) == nil {
          try state.takeUp(edit.id)
        }
      }
    }
  }

  /// The edits that an earlier run left in a device conflict and that the policy may send, by
  /// snapshot.
  func standingDeviceConflicts() throws -> [(key: String, value: [OpenEdit])] {
    guard options.deviceConflicts != .manual else { return [] }
    let conflicts = try state.edits(.deviceConflicts).filter { edit in
      guard options.only?.contains(edit.id) != false else { return false }
      // The policy chooses one of the edits that were reported together.
      let others = try state.decidable(edit.id)?.detail.otherEdits ?? []
      return others.allSatisfy { options.deviceConflicts.sends(edit.id, over: $0) }
    }
    return Dictionary(grouping: conflicts, by: \.snapshotID).sorted { $0.key < $1.key }
  }
}
