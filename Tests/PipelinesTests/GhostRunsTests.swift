import JSON
import Ledger
import Pipelines
import System
import TestSupport
import Testing

/// Records that disappear for a user over several runs: what is removed, what is kept, and what is
/// reported.
@Suite struct GhostRunsTests {
  /// The pipeline with three `soql` syncs that list all IDs at an interval of runs.
  private static func world(everyRuns: Int = 7) throws -> World {
    try World(file: IncrementalTruthTests.pipeline.get().file("truth.json")) {
      $0.replacing("\"everyRuns\":3", with: "\"everyRuns\":\(everyRuns)")
    }
  }

  private func more(_ count: Int, _ world: World) throws -> [String] {
    let ada = try world.user("ada")
    return try world.org.transaction {
      try (0..<count).map { number in
        let made = world.org.create("Account", ["Name": .string("more \(number)")], as: ada)
        return try #require(made.id)
      }
    }
  }

  private func ids(_ world: World, _ soup: String = "accounts") throws -> Set<String> {
    Set(try world.ids(soup, on: world.device("ada", as: "\(soup)\(world.server.log.count)")))
  }

  private func guarded(_ soup: String, _ world: World) -> Int {
    world.told.withLock { $0 }.count {
      if case .warning(let text) = $0 {
        text.contains("the org no longer returns") && text.contains("of soup \"\(soup)\"")
      } else {
        false
      }
    }
  }

  @Test func `deletions held by the guard are reported in each run until decided`() async throws {
    let world = try Self.world()
    let lost = try more(14, world)
    try await world.run()
    let before = try ids(world)
    let admin = try world.user("admin")
    let kept = try ownAccounts(world)[0]
    for id in lost { #expect(world.org.delete(nil, id: id, as: admin).errors == []) }
    var first: RunSummary?
    for run in 1...3 {
      // Other changes move the cursor past the deletions.
      try world.org.moveClock(by: 86_400_000)
      let phone: JSONObject = ["Phone": .string("\(run)")]
      #expect(world.org.update("Account", id: kept, phone, as: admin).errors == [])
      let summary = try await world.run()
      first = first ?? summary
      #expect(summary.findings.contains(.guardTripped))
      #expect(summary.exitStatus == .needsAttention)
      #expect(guarded("accounts", world) == run)
      #expect(try ids(world) == before)
    }
    // A run that primes no one.
    let pack = try await world.run(.pack)
    #expect(pack.exitStatus == .needsAttention)
    let (told, report) = (try Told(world), try #require(first).run)
    #expect(told.states(report, "guards") == ["removals held"])
    let held = try #require(told.report(report)["guards"]?.array?.first)
    #expect(held["username"] == "ada@example.com")
    #expect(held["reason"]?.string?.contains("14 of 19 records") == true, "\(held)")
    #expect(told.states(pack.run, "guards").contains("removals held, as before"))
    func findings() throws -> [Finding.Kind] {
      try PipelineStatus.read(world.pipeline, root: world.root).findings.map(\.kind)
    }
    #expect(try findings() == [.removalsHeld])
    let last = try await world.run { $0.maxDeletes = Percentage(100) }
    #expect(last.exitStatus == .done && last.report == nil)
    #expect(try findings() == [])
    #expect(try ids(world) == before.subtracting(lost))
    #expect(try await world.run().findings == [])
  }

  @Test func `if a sync's id field changes in the org, the old element is a ghost`() async throws {
    let directory = TemporaryDirectory("renamed")
    try OrgTemplate.small.get().copy(to: directory.file("org"))
    let pipelines = directory.file("pipelines")
    try Tree.copy(IncrementalTruthTests.pipeline.get().path, to: pipelines)
    for (name, old, new) in [
      ("userstore.json", #"{"path":"Id","#, #"{"path":"Code__c","type":"string"},{"path":"Id","#),
      (
        "usersyncs.json", #""type":"soql","query":"SELECT Id, LastName FROM Contact LIMIT 10000""#,
        #""type":"soql","idFieldName":"Code__c","#
          + #""query":"SELECT Id, Code__c FROM Contact WHERE Code__c != null""#
      ),
    ] {
      let text = String(decoding: try Files.read(pipelines + "/" + name), as: UTF8.self)
      let changed = text.replacing(old, with: new.replacing("Code__c", with: "External_Id__c"))
      #expect(changed != text)
      try DurableFile.write(Array(changed.utf8), to: pipelines + "/" + name)
    }
    let world = try World(
      directory, file: pipelines + "/truth.json",
      change: { $0.replacing(#""everyRuns":3"#, with: #""everyRuns":4,"maxDeletes":"100%""#) })
    let ada = try world.user("ada")
    let ids = try (0..<3).map { number in
      let fields: JSONObject = ["LastName": "Coded", "External_Id__c": .string("E\(number)")]
      return try #require(world.org.create("Contact", fields, as: ada).id)
    }
    try await world.run()
    try world.org.moveClock(by: 86_400_000)
    #expect(world.org.update("Contact", id: ids[0], ["External_Id__c": "E9"], as: ada).errors == [])
    for run in 1...4 {
      #expect(try await world.run().exitStatus == .done)
      #expect(world.skipped == [])
      let codes = try world.device("ada", as: "run \(run)").elements("contacts").map {
        $0["External_Id__c"]?.string ?? ""
      }
      // As on a device, the old element stays until the IDs are listed.
      let ghost = run < 3 ? ["E0"] : []
      #expect(codes.sorted() == ghost + ["E1", "E2", "E9"], "run \(run)")
      try world.org.moveClock(by: 86_400_000)
    }
  }

  @Test func `hidden records kept by the guard are reported in each run too`() async throws {
    let world = try Self.world(everyRuns: 2)
    let lost = try more(14, world)
    try await world.run()
    let before = try ids(world)
    for id in lost { try world.org.transfer(id, to: "cleo@example.com") }
    for run in 1...3 {
      #expect(try await world.run().findings.contains(.guardTripped))
      #expect(guarded("accounts", world) == run)
      #expect(guarded("bAccounts", world) == run)
      #expect(try ids(world) == before)
      #expect(try ids(world, "bAccounts") == before)
    }
    try await world.run { $0.maxDeletes = Percentage(100) }
    #expect(try ids(world) == before.subtracting(lost))
    #expect(try ids(world, "bAccounts") == before.subtracting(lost))
    #expect(try await world.run().findings == [])
  }

  /// How many of ada's accounts disappear, out of how many, the permitted share, and whether they
  /// are removed.
  @Test(arguments: [
    (10, 20, 10, true), (11, 20, 10, false), (9, 10, 0, true), (15, 30, 50, true),
    (16, 30, 50, false),
  ])
  func `the guard permits exactly its limit`(
    _ lost: Int, _ total: Int, _ percent: Int, _ goes: Bool
  ) async throws {
    let world = try Self.world()
    // Ada sees five accounts of the small org.
    let made = try more(total - 5, world)
    let victims = Array((made + (try ownAccounts(world))).prefix(lost))
    try await world.run()
    #expect(try ids(world, "bAccounts").count == total)
    for id in victims { try world.org.transfer(id, to: "ben@example.com") }
    let summary = try await world.run { $0.maxDeletes = Percentage(percent) }
    #expect(summary.findings.contains(.guardTripped) != goes)
    let left = try ids(world, "bAccounts")
    #expect(left.count == (goes ? total - lost : total))
    #expect(try ids(world).count == left.count)
  }

  private func ownAccounts(_ world: World) throws -> [String] {
    let ada = try world.user("ada")
    let page = try world.org.query(
      "SELECT Id FROM Account WHERE OwnerId = '\(ada.id)' AND Name LIKE 'ada%'", as: ada)
    return try (JSONValue(parsing: page.records).array ?? []).compactMap { $0["Id"]?.string }
  }

  @Test(arguments: [(9, false), (11, true)])
  func `after a long pause, all ids are listed`(_ days: Int64, _ goes: Bool) async throws {
    let world = try Self.world()
    let lost = try more(1, world)[0]
    try await world.run()
    // Hidden records do not show up in a query for deleted records.
    try world.org.transfer(lost, to: "ben@example.com")
    try world.org.moveClock(by: days * 86_400_000)
    try await world.run()
    #expect(try ids(world).contains(lost) != goes)
  }

  @Test func `an incomplete list of ids removes nothing and stops the user`() async throws {
    let world = try Self.world(everyRuns: 1)
    try await world.run()
    let before = try ids(world)
    let page = #"{"totalSize":5,"done":true,"records":[{"Id":"\#(before.first ?? "")"}]}"#
    // Changed accounts are requested first, then all of their IDs.
    world.server.faults.add(
      .kind(.query), nth: 2,
      .respond(
        .init(status: 200, headers: ["Content-Type": "application/json"], body: Array(page.utf8))))
    #expect(try await world.run().findings.contains(.skippedUser))
    #expect(world.skipped.first?.contains("1 of 5 ids arrived") == true, "\(world.skipped)")
    #expect(try ids(world) == before)
    #expect(try await world.run().findings == [])
    #expect(try ids(world) == before)
  }
}
