import Pipelines
import Rehearsal
import Testing

@Suite struct PrunedValuesTests {
  /// The edits of a run, with which nothing can be compared 45 days later, and their phone.
  private struct Story {
    let scene: DecisionScene
    let phone: Device
    let account: String
    let run: String
    let last: RunSummary
    init(keeps days: Int) async throws {
      scene = try KeepingTests.scene()
      let world = scene.world
      try world.rewrite(#""runsDays": 40"#, "\"runsDays\": \(days)")
      phone = try await scene.phone()
      account = try scene.edited(phone)
      _ = try phone.create(
        "accounts", type: "Account", ["Name": "Made in the field"], localID: "local_made",
        now: world.org.now())
      try world.handBack(phone, as: "ada.sqlite")
      let sent = try await world.runAllAsWritten()
      #expect(sent.verdicts == [.updated: 1, .created: 1])
      run = sent.run
      // Another phone has a newer bundle, so nothing depends on the first.
      try world.org.moveClock(by: KeepingTests.day)
      let newer = try world.device("ada", as: "ada-2")
      try newer.edit("accounts", id: scene.account(newer, 2), ["Phone": "2"], now: world.org.now())
      try world.handBack(newer, as: "newer.sqlite")
      _ = try await world.runAllAsWritten()
      try world.org.moveClock(by: 45 * KeepingTests.day)
      last = try await world.runAllAsWritten()
    }
  }

  @Test func `the values of resolved edits expire, and every command says so`() async throws {
    let story = try await Story(keeps: 40)
    let world = story.scene.world
    #expect(story.last.pruned.count(.values) == 2 && story.last.pruned.count(.run) > 0)
    let told = try await world.program(["explain"], ["1"])
    #expect(told.status == 0 && told.output.contains("edit 1; its values are pruned"))
    #expect(told.output.contains("edit 1 has the verdict updated in run \(story.run)"))
    #expect(!told.output.contains("→"))
    let report = try await world.program(["report"], [story.run])
    #expect(report.status == 0 && report.messages.contains("the values of 2 edits are pruned"))
    #expect(report.messages.contains("the report of run \(story.run) is pruned"))
    let undo = try await world.program(["reconcile", "undo"], [story.run])
    #expect(undo.status == 3 && undo.messages.contains("are pruned (keep.runsDays)"))
    #expect(undo.output.contains("has nothing to undo"))
  }

  @Test func `a late return has the same result whether or not values are pruned`() async throws {
    var told: [[String]] = []
    for days in [40, 4000] {
      let story = try await Story(keeps: days)
      let world = story.scene.world
      #expect((story.last.pruned.count(.values) > 0) == (days == 40))
      let before = try story.scene.count("SELECT Id FROM Account")
      // What it returned before, and another edit of a record that it had edited.
      try story.phone.edit("accounts", id: story.account, ["Phone": "later"], now: world.org.now())
      try world.handBack(story.phone, as: "late.sqlite")
      let (verdicts, edits) = try await story.scene.night()
      told.append(edits.map { "\($0.number) \($0.verdict) \($0.recordID ?? "")" })
      #expect(verdicts[.created] == nil)
      #expect(try story.scene.count("SELECT Id FROM Account") == before)
      #expect(try story.scene.field("Phone", of: story.account) == "later")
    }
    #expect(told[0].map { $0.prefix(20) } == told[1].map { $0.prefix(20) })
  }
}
