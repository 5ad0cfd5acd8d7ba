import JSON
import Ledger
import Pipelines
import Reports
import System
import Testing

@Suite struct DecisionsLifeTests {
  let scene: DecisionScene
  init() throws { scene = try DecisionScene() }

  /// The ID of the last run with a report, and the text of one of its files.
  private func report(_ name: String) throws -> (run: String, text: String) {
    let run = try scene.withLedger { try $0.runs(limit: 1)[0].id }
    let path = scene.world.data.report(run) + "/" + name
    return (run, String(decoding: try Files.read(path), as: UTF8.self))
  }

  /// Records the decisions of a table in which the device's values win for every edit.
  private func enter(_ table: String) throws {
    let filled = table.replacing(",,\r\n", with: ",device,\r\n")
    #expect(filled != table)
    let file = scene.world.directory.file("filled.csv")
    try DurableFile.write(Array(filled.utf8), to: file)
    _ = try scene.decisions.enter(try DecisionFile.read(path: file), by: "grace")
  }

  @Test func `a decision outlives an interrupted run and is applied once`() async throws {
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
    #expect(try Told(scene.world).times(1) == 2)
    try await scene.expectClosed()
  }

  @Test func `a decided write without an answer is looked up, not sent again`() async throws {
    let id = try await scene.conflict()
    try scene.decide(1, .device)
    scene.world.server.faults.add(.kind(.collectionUpdate), .drop(afterCommit: true))
    scene.world.server.faults.add(.kind(.composite), .drop(afterCommit: true))
    let verdicts = try await scene.night().verdicts
    #expect(verdicts == [.updated: 1] || verdicts == [.unconfirmed: 1])
    try scene.office(id, ["Website": "https://office.example"])
    _ = try await scene.night()
    #expect(try scene.field("Phone", of: id) == "device")
    #expect(try scene.states() == ["device done"])
    try await scene.expectClosed()
  }

  @Test func `one impossible decision refuses all decisions of its request`() async throws {
    _ = try await scene.conflict(["Phone": "device", "Description": "mine"])
    let device = DecisionRequest(edit: 1, .whole(.device))
    let refused: [(DecisionRequest, String)] = [
      (DecisionRequest(edit: 99, .whole(.device)), "edit 99: no edit has this number"),
      (
        DecisionRequest(edit: 1, .fields(["Description": .text("ours")], rest: nil)),
        "Phone also differs: add --set Phone=VALUE, or --take SIDE"
      ),
      (
        DecisionRequest(edit: 1, .fields(["Rating": .text("Hot")], rest: nil)),
        "Rating is not sent by the sync up of accounts"
      ),
      (
        DecisionRequest(edit: 1, .whole(.device), shown: ["Phone": .cell("older")]),
        "the last report has office"
      ),
    ]
    for (request, reason) in refused {
      let error = #expect(throws: PipelineError.self) {
        try scene.decisions.enter([device, request], by: "grace")
      }
      #expect(error?.code == "decide.refused" && error?.reason?.contains(reason) == true)
    }
    #expect(try scene.states() == [])
    // The last of several decisions counts.
    try scene.decide(1, .device, shown: ["Phone": .value("office")])
    try scene.decide(1, .server)
    #expect(try await scene.night().verdicts == [.discarded: 1])
    #expect(try scene.states() == ["device withdrawn", "server done"])
    let error = #expect(throws: PipelineError.self) { try scene.decide(1, .device) }
    #expect(error?.reason?.contains("it is resolved (discarded)") == true)
  }

  @Test func `only a decision by number replaces a colleague's`() async throws {
    _ = try await scene.conflict()
    func all(_ decision: Decision, by name: String) throws -> PipelineDecisions.Result {
      try scene.decisions.enter([], .init([.conflict, .failed], .whole(decision)), by: name)
    }
    let impossible = try all(.discard, by: "grace")
    #expect(impossible.decided.isEmpty && impossible.refused.map(\.edit) == [1])
    try scene.decide(1, .device)
    let other = try all(.server, by: "hopper")
    #expect(other.decided.isEmpty)
    #expect(other.refused.first?.reason.contains("grace already decided") == true)
    #expect(try scene.states() == ["device pending"])
    // Her own decision she may change in the same way.
    let own = try all(.server, by: "grace")
    #expect(own.decided.map(\.edit) == [1] && own.refused.isEmpty)
    let named = try scene.decisions.enter([DecisionRequest(edit: 1, .whole(.device))], by: "hopper")
    #expect(named.replaced.map(\.by) == ["grace"])
    #expect(try scene.states() == ["device withdrawn", "server withdrawn", "device pending"])
  }

  @Test func `a run of the decided edits leaves the others for the next run`() async throws {
    let id = try await scene.conflict()
    let device = try scene.world.device("ada", as: "second")
    let other = try scene.account(device, 1)
    try device.edit("accounts", id: other, ["Phone": "second"], now: scene.world.org.now())
    try scene.world.handBack(device, as: "second.sqlite")
    try await scene.world.run(.ingest)
    try scene.decide(1, .device)
    let only = try scene.decisions.affected(by: [1])
    #expect(try await scene.world.run(.reconcile) { $0.only = only }.verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
    #expect(try scene.field("Phone", of: other) == "+1 555 0100")
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: other) == "second")
  }

  @Test func `a dry run of decisions shows what the run does and records nothing`() async throws {
    _ = try await scene.conflict()
    for (decision, verdict) in [(Decision.device, Verdict.updated), (.server, .discarded)] {
      let dry = try await scene.world.run(.reconcile) {
        $0.isDryRun = true
        $0.decisions = [PendingDecision(1, decision)]
        $0.only = [1]
      }
      #expect(dry.verdicts == [verdict: 1])
      #expect(try scene.states() == [])
    }
  }

  @Test func `a fix of a field that is no longer sent needs a new decision`() async throws {
    let scene = try CarriedScene()
    let (phone, id) = try await scene.carriedConflict()
    try phone.fix("accounts", id: id, ["Phone": "mended"], now: scene.later(30))
    try scene.world.rewrite(
      #"["Name", "Phone", "Website", "Description"], "mergeMode""#,
      #"["Name", "Website", "Description"], "mergeMode""#, in: "demo/usersyncs.json")
    try scene.handBack(phone, as: "two.sqlite")
    let verdicts = try await scene.scene.night().verdicts
    #expect(
      verdicts[.conflict] == 1 && verdicts[.notInFieldList] == nil && verdicts[.updated] == nil)
    #expect(try scene.scene.field("Phone", of: id) == "office")
    #expect(try scene.scene.states() == ["device moved"])
  }

  /// A report shows the commands and the files of long values.
  ///
  /// Its table decides as long as its values are the org's and its rows are the edits'. The next
  /// report shows the decisions.
  @Test func `a report's table decides its own edits as long as its values hold`() async throws {
    let (ours, theirs) = (
      String(repeating: "ours, ", count: 1000), String(repeating: "theirs, ", count: 1000)
    )
    let id = try await scene.conflict(["Phone": "device", "Description": .string(ours)])
    let called = scene.world.pipeline.called
    #expect(
      try report("report.html").text.contains(
        "<code>attache decide \(called) 1 <span class=\"o\">--take device</span></code>"))
    let records = try JSONValue(parsing: Array(report("report.json").text.utf8))["records"]
    #expect(records?[0]?["commands"]?[1]?.string == "attache decide \(called) 1 --take server")
    let (run, old) = try report("conflicts.csv")
    for (column, own, other) in [
      ("recordId", id, "001000000000001AAA"), ("user", "ada@", "ben@"),
      ("foundBy", run, "20200101T000000Z-1"), ("device", ",device,office,", ",other,office,"),
    ] {
      let error = #expect(throws: PipelineError.self) { try enter(old.replacing(own, with: other)) }
      #expect(error?.reason?.contains("from another pipeline or from before a recovery") == true)
      #expect(error?.reason?.contains(column) == true)
    }
    try scene.office(id, ["Phone": "newer", "Description": .string(theirs)])
    #expect(try scene.states() == [])
    try scene.decide(1, .retry)
    #expect(try await scene.night().verdicts == [.conflict: 1])
    let error = #expect(throws: PipelineError.self) { try enter(old) }
    #expect(error?.reason?.contains("the last report") == true)
    let (second, table) = try report("conflicts.csv")
    let place = scene.world.data.report(second)
    #expect(try Files.list(place + "/values").count == 2)
    for name in try Files.list(place) where name != "values" {
      #expect(try !report(name).text.contains(ours))
    }
    try enter(table)
    #expect(try await scene.world.run(.ingest, .reconcile).verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
    #expect(try scene.field("Description", of: id)?.string?.hasPrefix("ours, ours") == true)
    let json = try JSONValue(parsing: Array(report("report.json").text.utf8))
    #expect(json["decisions"] == ["applied": 1])
    let decision = json["records"]?[0]?["decision"]
    #expect(decision?["decision"] == "device" && decision?["by"] == "grace")
    #expect(decision?["fate"] == "applied" && decision?["time"]?.string?.hasPrefix("20") == true)
    let page = try report("report.html").text
    #expect(page.contains("Decided by <b>grace</b> on <time datetime=\"20"))
    #expect(page.contains("Decisions applied: <strong>1</strong>"))
    #expect(try report("records.csv").text.contains(",grace,device: applied,new,"))
  }
}
