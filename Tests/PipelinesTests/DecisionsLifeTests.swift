import JSON
import Ledger
import LocalOrg
import Pipelines
import Reconciliation
import Rehearsal
import System
import TestSupport
import Testing

/// What becomes of decisions when runs die, devices go on and others decide too.
@Suite struct DecisionsLifeTests {
  let scene: DecisionScene

  init() throws { scene = try DecisionScene() }

  private func reports() throws -> Told { try Told(scene.world) }

  @Test func `a decision outlives a run that dies, and is carried out once`() async throws {
    let id = try await scene.conflict()
    try scene.decide(1, .device)
    let writes = scene.world.server.log.writes.count
    try await scene.world.die(.ingest, .reconcile) {
      if case .stageStarted(.reconcile) = $0 { true } else { false }
    }
    #expect(try scene.states() == ["device pending"])
    try await scene.world.die(.ingest, .reconcile) {
      if case .reportWritten = $0 { true } else { false }
    }
    #expect(try scene.states() == ["device done"])
    try scene.office(id, ["Phone": "office again"])
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "office again")
    #expect(scene.world.server.log.writes.count == writes + 1)
    let told = try reports()
    #expect(told.times(1) == 2)
    try await scene.expectClosed()
  }

  @Test func `a decided write without an answer is found out, not sent again`() async throws {
    let id = try await scene.conflict()
    try scene.decide(1, .device)
    scene.world.server.faults.add(.kind(.collectionUpdate), .drop(afterCommit: true))
    scene.world.server.faults.add(.kind(.composite), .drop(afterCommit: true))
    let verdicts = try await scene.night().verdicts
    #expect(verdicts == [.updated: 1] || verdicts == [.inDoubt: 1])
    try scene.office(id, ["Website": "https://office.example"])
    _ = try await scene.night()
    #expect(try scene.field("Phone", of: id) == "device")
    #expect(try scene.states() == ["device done"])
    try await scene.expectClosed()
  }

  @Test func `the last of several decisions about an edit holds`() async throws {
    let id = try await scene.conflict()
    try scene.decide(1, .device)
    try scene.decide(1, .server)
    #expect(try await scene.night().verdicts == [.dropped: 1])
    #expect(try scene.field("Phone", of: id) == "office")
    #expect(try scene.states() == ["device withdrawn", "server done"])
    // What is settled is decided no more.
    let error = #expect(throws: PipelineError.self) { try scene.decide(1, .device) }
    #expect(error?.reason?.contains("it is settled (dropped)") == true)
  }

  @Test func `a later hand-back stands for what was decided about an earlier one`() async throws {
    try await scene.world.run()
    let device = try scene.world.device("ada")
    let id = try scene.account(device)
    try device.edit("accounts", id: id, ["Phone": "one"], now: scene.world.org.now())
    try scene.office(id, ["Phone": "office"])
    try scene.world.handBack(device, as: "one.sqlite")
    #expect(try await scene.night().verdicts == [.conflict: 1])
    try scene.decide(1, .device)
    try device.edit("accounts", id: id, ["Phone": "two"], now: scene.world.org.now() + 60_000)
    try scene.world.handBack(device, as: "two.sqlite")
    #expect(try await scene.night().verdicts == [.superseded: 1, .conflict: 1])
    #expect(try scene.states() == ["device withdrawn"])
    let error = #expect(throws: PipelineError.self) { try scene.decide(1, .device) }
    #expect(error?.reason?.contains("edit 1") == true)
    try scene.decide(2, .device)
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "two")
    try await scene.expectClosed(handback: 2)
  }

  @Test func `one refused request of several leaves all undecided`() async throws {
    _ = try await scene.conflict()
    let error = #expect(throws: PipelineError.self) {
      try scene.decisions.enter(
        [
          DecisionRequest(edit: 1, .whole(.device)), DecisionRequest(edit: 99, .whole(.device)),
        ], by: "grace")
    }
    #expect(error?.code == "decide.refused")
    #expect(error?.reason == "edit 99: there is no edit of this number")
    #expect(try scene.states() == [])
    // Of a selection what is possible is decided.
    let result = try scene.decisions.enter(
      [], .init([.conflict, .failed], .whole(.server)), by: "grace")
    #expect(result.decided.map(\.edit) == [1] && result.refused.isEmpty)
    let other = try scene.decisions.enter([], .init([.conflict], .whole(.drop)), by: "grace")
    #expect(other.decided.isEmpty && other.refused.map(\.edit) == [1])
  }

  @Test
  func `a decision by verdict leaves what a colleague has decided, one by number replaces it`()
    async throws
  {
    _ = try await scene.conflict()
    try scene.decide(1, .device)
    let all = try scene.decisions.enter(
      [], .init([.conflict], .whole(.server)), by: "hopper")
    #expect(all.decided.isEmpty)
    #expect(all.refused.first?.reason.contains("grace has decided") == true)
    #expect(try scene.states() == ["device pending"])
    // Her own she may change in the same way.
    let own = try scene.decisions.enter([], .init([.conflict], .whole(.server)), by: "grace")
    #expect(own.decided.map(\.edit) == [1])
    let named = try scene.decisions.enter(
      [DecisionRequest(edit: 1, .whole(.device))], by: "hopper")
    #expect(named.replaced.map(\.pending.by) == ["grace"])
    #expect(try scene.states() == ["device withdrawn", "server withdrawn", "device pending"])
  }

  @Test func `a run of the decided edits alone leaves the others for the next`() async throws {
    let id = try await scene.conflict()
    let device = try scene.world.device("ada", as: "second")
    let other = try scene.account(device, 1)
    try device.edit("accounts", id: other, ["Phone": "second"], now: scene.world.org.now())
    try scene.world.handBack(device, as: "second.sqlite")
    try await scene.world.run(.ingest)
    try scene.decide(1, .device)
    let only = try scene.decisions.affected(by: [1])
    let run = try await scene.world.run(.reconcile) { $0.only = only }
    #expect(run.verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
    #expect(try scene.field("Phone", of: other) == "+1 555 0100")
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: other) == "second")
  }

  @Test func `a dry run of decisions says what the run does, and decides nothing`() async throws {
    for (decision, verdict) in [(Decision.device, Verdict.updated), (.server, .dropped)] {
      let scene = try DecisionScene()
      _ = try await scene.conflict()
      let dry = try await scene.world.run(.reconcile) {
        $0.isDryRun = true
        $0.decisions = [EditDecision(1, decision)]
        $0.only = [1]
      }
      #expect(dry.verdicts == [verdict: 1])
      #expect(try scene.states() == [])
      try scene.decide(1, decision)
      #expect(try await scene.night().verdicts == dry.verdicts)
    }
  }

  @Test func `every report says what was decided, by whom, and what came of it`() async throws {
    _ = try await scene.conflict()
    try scene.decide(1, .server)
    let run = try await scene.world.run(.ingest, .reconcile)
    let place = scene.world.data.report(run.run)
    func text(_ name: String) throws -> String {
      String(decoding: try Files.read(place + "/" + name), as: UTF8.self)
    }
    let json = try JSONValue(parsing: try Files.read(place + "/report.json"))
    #expect(json["decisions"] == ["carried out": 1])
    let decision = json["records"]?[0]?["decision"]
    #expect(decision?["decision"] == "server" && decision?["by"] == "grace")
    #expect(
      decision?["fate"] == "carried out" && decision?["time"]?.string?.hasPrefix("20") == true)
    #expect(try text("report.html").contains("Decided by <b>grace</b> on <time datetime=\"20"))
    #expect(try text("report.html").contains("Decisions carried out: <strong>1</strong>"))
    #expect(try text("records.csv").contains(",grace,server: carried out,new,"))
  }

  @Test func `a report shows the commands that decide, and its table is one to decide in`()
    async throws
  {
    let id = try await scene.conflict()
    let run = try scene.withLedger { try $0.runs(limit: 1)[0].id }
    let place = scene.world.data.report(run)
    let page = String(decoding: try Files.read(place + "/report.html"), as: UTF8.self)
    let called = scene.world.pipeline.called
    #expect(page.contains("<code>attache decide \(called) 1 --take device</code>"))
    let json = try JSONValue(parsing: try Files.read(place + "/report.json"))
    #expect(
      json["records"]?[0]?["commands"]?[1]?.string
        == "attache decide \(called) 1 --take server")
    let table = String(decoding: try Files.read(place + "/conflicts.csv"), as: UTF8.self)
    let filled = table.replacing(",,\r\n", with: ",device,\r\n")
    #expect(filled != table)
    let file = scene.world.directory.file("filled.csv")
    try DurableFile.write(Array(filled.utf8), to: file)
    _ = try scene.decisions.enter(try DecisionFile.read(path: file), by: "grace")
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
  }

  @Test func `a table that names the files of long values decides by them`() async throws {
    let (ours, theirs) = (
      String(repeating: "ours, ", count: 1000), String(repeating: "theirs, ", count: 1000)
    )
    let id = try await scene.conflict(["Description": .string(ours)])
    try scene.office(id, ["Description": .string(theirs)])
    try scene.decide(1, .again)
    #expect(try await scene.night().verdicts == [.conflict: 1])
    let run = try scene.withLedger { try $0.runs(limit: 1)[0].id }
    let place = scene.world.data.report(run)
    #expect(try Files.list(place + "/values").count == 2)
    for name in try Files.list(place) where name != "values" {
      #expect(try !String(decoding: Files.read(place + "/" + name), as: UTF8.self).contains(ours))
    }
    let table = String(decoding: try Files.read(place + "/conflicts.csv"), as: UTF8.self)
    let file = scene.world.directory.file("filled.csv")
    try DurableFile.write(
      Array(table.replacing(",,\r\n", with: ",device,\r\n").utf8), to: file)
    _ = try scene.decisions.enter(try DecisionFile.read(path: file), by: "grace")
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Description", of: id)?.string?.hasPrefix("ours, ours") == true)
  }

  @Test func `a table from a report before the org moved is refused with the new values`()
    async throws
  {
    let id = try await scene.conflict()
    let run = try scene.withLedger { try $0.runs(limit: 1)[0].id }
    let old = scene.world.data.report(run) + "/conflicts.csv"
    try scene.office(id, ["Phone": "newer"])
    try scene.decide(1, .again)
    #expect(try await scene.night().verdicts == [.conflict: 1])
    let table = String(decoding: try Files.read(old), as: UTF8.self)
    let file = scene.world.directory.file("filled.csv")
    try DurableFile.write(
      Array(table.replacing(",,\r\n", with: ",device,\r\n").utf8), to: file)
    let error = #expect(throws: PipelineError.self) {
      try scene.decisions.enter(try DecisionFile.read(path: file), by: "grace")
    }
    #expect(error?.reason?.contains("the last report has newer") == true)
  }

  @Test(arguments: ["recordId", "user", "foundBy", "device"])
  func `a table whose rows are of other edits than their numbers say is refused`(
    _ column: String
  ) async throws {
    let id = try await scene.conflict()
    let run = try scene.withLedger { try $0.runs(limit: 1)[0].id }
    let table = try Files.read(scene.world.data.report(run) + "/conflicts.csv")
    let theirs = [
      "recordId": (id, "001000000000001AAA"), "user": ("ada@", "ben@"),
      "foundBy": (run, "20200101T000000Z-1"), "device": (",device,office,", ",other,office,"),
    ]
    let (own, other) = try #require(theirs[column])
    let filled = String(decoding: table, as: UTF8.self)
      .replacing(own, with: other).replacing(",,\r\n", with: ",device,\r\n")
    let file = scene.world.directory.file("filled.csv")
    try DurableFile.write(Array(filled.utf8), to: file)
    let error = #expect(throws: PipelineError.self) {
      try scene.decisions.enter(try DecisionFile.read(path: file), by: "grace")
    }
    #expect(error?.reason?.contains("of another pipeline or of before a recovery") == true)
    #expect(error?.reason?.contains(column) == true)
    #expect(try scene.states().isEmpty)
  }
}
