import JSON
import Ledger
import Pipelines
import Reconciliation
import System

extension Demo {
  /// Ends what the night left as `attache decide` does, lets a run carry it out, and looks whether the
  /// devices may install.
  mutating func morningAfter(_ pipeline: Pipeline, _ org: DemoOrg) async throws {
    chapter("The morning after: a person decides")
    let decisions = PipelineDecisions(pipeline, root: places.snapshots)
    let open = try decisions.open()
    say("\(open.count) edits wait. Each is ended with one command:")
    var requests: [DecisionRequest] = []
    let clashes = open.map(\.edit).filter { $0.verdict == .clash }.map(\.number)
    for edit in open.map(\.edit) {
      guard let (choice, option) = choice(for: edit, isFirst: edit.number == clashes.first) else {
        expect(false, "nobody thought of an edit that is \(edit.verdict.rawValue)")
        continue
      }
      requests.append(DecisionRequest(edit: edit.number, choice))
      say(
        "  attache decide \(pipeline.name) \(edit.number) \(option)"
          + "   # \(edit.verdict.rawValue): \(edit.soup)")
    }
    let entered = try decisions.enter(requests, by: "the office")
    expect(entered.decided.count == open.count, "\(entered.decided.count) edits were decided")
    let result = try await run(pipeline, org, [.reconcile, .prime, .pack])
    say("The next run carries the decisions out:")
    for verdict in Verdict.allCases {
      if let count = result.verdicts[verdict] { say("  \(pad(count)) \(verdict.rawValue)") }
    }
    expect(result.open.isEmpty, "edits are open still: \(result.open)")
    try expectIncluded(pipeline)
    say("Nothing is open any more, and the new bundles may be installed over what came home.")
  }

  /// What a person decides about an edit, and how the command line writes it.
  ///
  /// Of the two edits of one description the first one stands.
  private func choice(
    for edit: ReportEdit, isFirst: Bool
  ) -> (DecisionRequest.Choice, String)? {
    switch edit.verdict {
    case .conflict: (.whole(.device), Decision.Kind.device.option)
    case .clash:
      isFirst
        ? (.whole(.device), Decision.Kind.device.option)
        : (.whole(.server), Decision.Kind.server.option)
    case .deletedOnServer: (.whole(.server), Decision.Kind.server.option)
    case .notVisible: (.whole(.drop), Decision.Kind.drop.option)
    case .failed:
      (
        .fields(["Title": .value("Facility manager")], rest: .device),
        "--set \"Title=Facility manager\""
      )
    default: nil
    }
  }

  /// Every technician's hand-back is in the newest bundles.
  private mutating func expectIncluded(_ pipeline: Pipeline) throws {
    let data = DataDirectory(root: places.snapshots, name: pipeline.name)
    let ledger = try data.openLedger()
    defer { ledger.close() }
    for snapshot in try ledger.snapshotRows() where snapshot.id != SnapshotID.global {
      let included = snapshot.included.map(\.handback)
      expect(included == [1], "the bundle of \(snapshot.username ?? "") includes \(included)")
    }
  }
}
