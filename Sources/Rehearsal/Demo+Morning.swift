import JSON
import Ledger
import Pipelines
import Reconciliation
import Review
import System

extension Demo {
  /// Resolves the remaining edits in three ways: with a file, on the command line and on the review
  /// page.
  ///
  /// Then applies the decisions in a run, and checks that the devices can install.
  mutating func morningAfter(_ pipeline: Pipeline, _ org: DemoOrg) async throws {
    chapter("The morning after: a person decides")
    let decisions = PipelineDecisions(pipeline, root: places.snapshots)
    let open = try decisions.open().map(\.edit)
    say("\(open.count) edits wait.")
    let byFile = open.filter { [.conflict, .deletedOnServer].contains($0.verdict) }
    let byCommand = open.filter { [.failed, .notVisible].contains($0.verdict) }
    let byPage = open.filter { $0.verdict == .deviceConflict }
    expect(
      byFile.count == 2 && byCommand.count == 2 && byPage.count == 2,
      "nobody thought of these edits: \(open.map(\.verdict.rawValue))")
    try decideByFile(byFile, decisions, pipeline)
    try decideByCommand(byCommand, decisions, pipeline)
    try await decideOnPage(byPage, pipeline, org)
    let result = try await run(pipeline, org, [.reconcile, .prime, .pack])
    say("The next run carries the decisions out:")
    for verdict in Verdict.allCases {
      if let count = result.verdicts[verdict] { say("  \(pad(count)) \(verdict.rawValue)") }
    }
    expect(result.open.isEmpty, "edits are open still: \(result.open)")
    expect(
      result.verdicts == [.updated: 3, .discarded: 3], "the decisions became \(result.verdicts)")
    try expectIncluded(pipeline)
    try installNewest(result, DataDirectory(root: places.snapshots, name: pipeline.name), org)
    say("Nothing is open any more, and the three phones install their new bundles over what they")
    say("handed back: no row waits in them.")
  }

  /// Checks that each phone may install its newest bundle over its last return, and that the bundle
  /// contains no open edits.
  private mutating func installNewest(
    _ night: RunSummary, _ data: DataDirectory, _ org: DemoOrg
  ) throws {
    let snapshots = night.snapshots.filter { devices[$0.username] != nil }
    expect(snapshots.count == devices.count, "\(snapshots.count) phones have a new bundle")
    for snapshot in snapshots {
      guard let device = devices[snapshot.username] else { continue }
      let bundle = try newestBundle(snapshot, device.platform, data)
      expect(try device.mayInstall(bundle), "\(snapshot.username) may not install \(bundle)")
      let place = places.scratch + "/devices/\(snapshot.username)-morning"
      let next = try Device.install(bundle, device.platform, into: place, now: org.org.now())
      let waiting = try next.dirtyElements()
      expect(waiting.isEmpty, "\(snapshot.username) has open rows: \(waiting)")
    }
  }

  /// Resolves the conflict with the device's values, and lets a deletion in the org stand.
  private mutating func decideByFile(
    _ edits: [ReportEdit], _ decisions: PipelineDecisions, _ pipeline: Pipeline
  ) throws {
    let path = places.scratch + "/decisions.json"
    let list = edits.map { edit -> JSONValue in
      let decision: Decision.Kind = edit.verdict == .conflict ? .device : .server
      return ["edit": JSONValue(edit.number), "decision": .string(decision.rawValue)]
    }
    let document: JSONValue = ["format": 1, "decisions": .array(list)]
    try DurableFile.write(document.bytes(pretty: true, sortedKeys: false), to: path)
    say("Two are decided by a file:")
    say("  attache decide \(pipeline.called) --file \(ShellWord.quoted(path))")
    for edit in edits { say("      edit \(edit.number), \(edit.verdict.rawValue): \(edit.soup)") }
    let entered = try decisions.enter(try DecisionFile.read(path: path), by: "the office")
    expect(entered.decided.count == edits.count, "a file decided \(entered.decided.count) edits")
  }

  /// Resolves a title that is too long for the org, and a record that the technician can no longer
  /// see.
  private mutating func decideByCommand(
    _ edits: [ReportEdit], _ decisions: PipelineDecisions, _ pipeline: Pipeline
  ) throws {
    say("Two are decided with a command each:")
    for edit in edits {
      let (choice, option): (DecisionRequest.Choice, String) =
        edit.verdict == .failed
        ? (
          .fields(["Title": .value("Facility manager")], rest: .device),
          "--set \"Title=Facility manager\""
        ) : (.whole(.discard), Decision.Kind.discard.option)
      say(
        "  attache decide \(pipeline.called) \(edit.number) \(option)"
          + "   # \(edit.verdict.rawValue): \(edit.soup)")
      _ = try decisions.enter([DecisionRequest(edit: edit.number, choice)], by: "the office")
    }
  }

  /// Resolves two descriptions of one visit by two technicians: the first one wins.
  private mutating func decideOnPage(
    _ edits: [ReportEdit], _ pipeline: Pipeline, _ org: DemoOrg
  ) async throws {
    say(
      "Two contradict each other, and are decided side by side on the page that one command serves:"
    )
    say("  attache review \(pipeline.called)")
    let server = try ReviewServer(
      pipeline, root: places.snapshots, variables: org.variables, by: "the office")
    let visit = try await ReviewVisit(server.address)
    let listed = try await visit.get("edits")["edits"]?.array ?? []
    let numbers = edits.map(\.number)
    let contradicting = listed.filter { $0["verdict"] == .string(Verdict.deviceConflict.rawValue) }
    expect(
      contradicting.compactMap { $0["edit"]?.int } == numbers, "the page lists \(contradicting)")
    let list = numbers.map { number -> JSONValue in
      let side = number == numbers.first ? Decision.Side.device : .server
      return ["edit": JSONValue(number), "decision": .string(side.rawValue)]
    }
    let body: JSONValue = ["decisions": .array(list)]
    let plan = try await visit.work("plan", body)["planned"]?.array ?? []
    for planned in plan {
      say(
        "      edit \(planned["edit"]?.int ?? 0): "
          + "\(planned["action"]?.string ?? "nothing is sent") → "
          + (planned["verdict"]?.string ?? ""))
    }
    let decided = try await visit.post("decide", body)["decided"]?.int ?? 0
    expect(decided == 2, "the page decided \(decided) edits")
    await server.stop()
  }

  /// Checks that the newest bundles include every technician's return.
  mutating func expectIncluded(_ pipeline: Pipeline) throws {
    let data = DataDirectory(root: places.snapshots, name: pipeline.name)
    let ledger = try data.openLedger()
    defer { ledger.close() }
    for snapshot in try ledger.snapshotRows() where snapshot.id != SnapshotID.global {
      let included = snapshot.included.map(\.handback)
      expect(included == [1], "the bundle of \(snapshot.username ?? "") includes \(included)")
    }
  }
}
