import Ledger
import MobileSync
import Salesforce

// Clashes of earlier nights, where the pipeline says by now which edit of one is sent.
extension Reconciler {
  /// Opens the edits of earlier nights' clashes that `acrossSnapshots` sends; the others stay where they
  /// are, for a person.
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

  /// The edits that an earlier night left in a clash and that the policy may send, by snapshot.
  func standingClashes() throws -> [(snapshotID: String, edits: [OpenEdit])] {
    guard options.acrossSnapshots != .report else { return [] }
    var found: [(String, [OpenEdit])] = []
    for snapshotID in try state.snapshotsWithClashes() {
      let edits = try state.clashes(snapshotID: snapshotID).filter { clash in
        guard options.only?.contains(clash.edit.id) != false else { return false }
        // Of several that were told with it, the policy means one.
        return clash.others.allSatisfy { options.acrossSnapshots.sends(clash.edit.id, over: $0) }
      }
      if !edits.isEmpty { found.append((snapshotID, edits.map(\.edit))) }
    }
    return found
  }
}
