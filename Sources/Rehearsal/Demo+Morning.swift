import JSON
import Ledger
import Pipelines
import Reports
import Review
import System

extension Demo {
  /// Resolves the remaining edits in three ways: with a file, on the command line and on the review
  /// page.
  ///
  /// Then applies the decisions in a run, and checks that the devices can install.
  mutating func morningAfter(_ pipeline: Pipeline, _ org: DemoOrg) async throws {
    chapter("The next morning: an operator decides")
    let decisions = PipelineDecisions(pipeline, root: places.snapshots)
    let open = try decisions.open().map(\.edit)
    say(CountText.of(open.count, "edit", "waits", "wait") + ".")
    let decided = open.filter { !keepsOpen || !Self.left.contains($0.verdict) }
    let byFile = decided.filter { [.conflict, .deletedOnServer].contains($0.verdict) }
    let byCommand = decided.filter { [.failed, .notVisible].contains($0.verdict) }
    let byPage = open.filter { $0.verdict == .deviceConflict }
    expect(
      byFile.count == (keepsOpen ? 1 : 2) && byCommand.count == (keepsOpen ? 0 : 2)
        && byPage.count == 2,
      "unexpected edits: \(open.map(\.verdict.rawValue))")
    try decideByFile(byFile, decisions, pipeline)
    if !byCommand.isEmpty { try decideByCommand(byCommand, decisions, pipeline) }
    try await decideOnPage(byPage, pipeline, org)
    let result = try await run(pipeline, org, [.reconcile, .prime, .pack])
    say("The next run applies the decisions:")
    for verdict in Verdict.allCases {
      if let count = result.verdicts[verdict] { say("  \(pad(count)) \(verdict.rawValue)") }
    }
    let left = result.open.values.reduce(0, +)
    expect(left == (keepsOpen ? Self.left.count : 0), "edits are open still: \(result.open)")
    let expected: [Verdict: Int] =
      keepsOpen ? [.updated: 1, .discarded: 2] : [.updated: 3, .discarded: 3]
    expect(
      result.verdicts.filter { expected[$0.key] != nil } == expected,
      "the decisions became \(result.verdicts)")
    try expectIncluded(pipeline)
    if keepsOpen {
      say("Three edits stay open. The new bundles redeliver them to their phones.")
      return
    }
    try installNewest(result, DataDirectory(root: places.snapshots, name: pipeline.name), org)
    say(
      "No edits are open. Each of the three phones can install its new bundle over its store, because"
    )
    say("the bundle contains the results of all edits that the phone returned.")
  }

  /// Checks that each phone may install its newest bundle over its last return, and that the bundle
  /// contains no open edits.
  private mutating func installNewest(
    _ night: RunSummary, _ data: DataDirectory, _ org: DemoOrg
  ) throws {
    let snapshots = night.snapshots.filter { devices[$0.username] != nil }
    expect(
      snapshots.count == devices.count,
      CountText.of(snapshots.count, "phone", "has", "have") + " a new bundle")
    for snapshot in snapshots {
      guard let device = devices[snapshot.username] else { continue }
      let bundle = try newestBundle(snapshot, device.platform, data)
      expect(try device.mayInstall(bundle), "\(snapshot.username) cannot install \(bundle)")
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
    try DurableFile.write(document.fileBytes, to: path)
    say(keepsOpen ? "One was decided by a file, with:" : "Two were decided by a file, with:")
    say("  attache decide \(pipeline.called) --file \(ShellWord.quoted(path))")
    for edit in edits { say("      edit \(edit.number), \(edit.verdict.rawValue): \(edit.soup)") }
    let entered = try decisions.enter(try DecisionFile.read(path: path), by: "operator")
    expect(
      entered.decided.count == edits.count,
      "a file decided \(CountText.of(entered.decided.count, "edit"))")
  }

  /// The verdicts of the three edits that stay open where the demo keeps some.
  private static let left: Set<Verdict> = [.conflict, .failed, .notVisible]

  /// Where the demo's files are, and how to remove them.
  func tellWhatIsLeft(_ pipeline: Pipeline, _ data: DataDirectory) {
    say("")
    say("The demo left these files in \(data.path):")
    say("  users/<id>/<generation>/   the stores and bundles of each technician")
    say("  reports/                   open report.html in a browser")
    say("  done/                      the returned stores, as they came")
    say("and the org, the phones and the pipeline file in \(places.scratch).")
    say("Show the state of the pipeline: attache status \(pipeline.called)")
    if !keepsOpen {
      say("The org has stopped. To try the commands on open edits: attache demo --keep-open")
    }
    say("Remove everything:")
    say("  rm -r \(ShellWord.quoted(data.path)) \(ShellWord.quoted(places.scratch))")
  }

  /// The commands that a user may try on the edits that stay open.
  func tellWhatToTry(_ pipeline: Pipeline, _ org: DemoOrg) throws {
    let open = try PipelineDecisions(pipeline, root: places.snapshots).open().map(\.edit)
    let called = pipeline.called
    say("")
    let edits = CountText.of(open.count, "edit", "is", "are")
    say("The org runs at \(org.server.url), and \(edits) open.")
    say("Try in another terminal:")
    say("  attache decide \(called) --list")
    for edit in open {
      let option =
        switch edit.verdict {
        case .conflict: Decision.Kind.device.option
        case .failed: "--set \"Title=Facility manager\""
        default: Decision.Kind.discard.option
        }
      say("  attache decide \(called) \(edit.number) \(option)   # \(edit.verdict.rawValue)")
    }
    say("  attache run \(called)")
    say("  attache report \(called)")
  }

  /// Resolves a title that is too long for the org, and a record that the technician can no longer
  /// see.
  private mutating func decideByCommand(
    _ edits: [ReportEdit], _ decisions: PipelineDecisions, _ pipeline: Pipeline
  ) throws {
    say("Two were decided by one command each, with:")
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
      _ = try decisions.enter([DecisionRequest(edit: edit.number, choice)], by: "operator")
    }
  }

  /// Resolves two descriptions of one visit by two technicians: the first one wins.
  private mutating func decideOnPage(
    _ edits: [ReportEdit], _ pipeline: Pipeline, _ org: DemoOrg
  ) async throws {
    say(
      "Two are the sides of one device conflict, and were decided on the review page, with:"
    )
    say("  attache review \(pipeline.called)")
    let server = try ReviewServer(
      pipeline, root: places.snapshots, variables: org.variables, by: "operator")
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
        "      edit \(planned["edit"]?.int ?? 0): plan: "
          + "\(planned["action"]?.string ?? "nothing is sent"); expected verdict: "
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
