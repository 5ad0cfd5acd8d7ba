import JSON
import Ledger
import Pipelines
import Rehearsal
import Returns
import System
import Testing

@Suite struct KeepingTests {
  static let day: Int64 = 86_400_000
  let scene: DecisionScene
  var world: World { scene.world }
  init() throws { scene = try Self.scene() }

  /// A pipeline with bundles valid for 10 days that keeps little for long.
  static func scene() throws -> DecisionScene {
    try DecisionScene {
      $0.replacing(
        #""format": "tar.zst" }"#, with: #""format": "tar.zst", "expiresAfterDays": 10 }"#
      ).replacing(
        #""inbox": {"#,
        with: #"""
          "keep": { "generations": 1, "issuedRecordDays": 20, "returnedDays": 30, "runsDays": 40 },
            "inbox": {
          """#)
    }
  }

  /// A run after some days in which another user changes one of ada's accounts, so that there is
  /// something new.
  @discardableResult
  private func night(days: Int64 = 1, _ stages: Stage...) async throws -> RunSummary {
    try world.org.moveClock(by: days * Self.day)
    let ada = try world.user("ada").id
    let id = try first("SELECT Id FROM Account WHERE OwnerId = '\(ada)' ORDER BY Id DESC LIMIT 1")
    try scene.office(id, ["Website": .string("https://office.example/\(world.org.now())")])
    return try await world.run { if !stages.isEmpty { $0.stages = Set(stages) } }
  }

  private func first(_ soql: String) throws -> String {
    let found = try JSONValue(parsing: world.org.query(soql, as: world.user("admin")).records)
    return try #require(found.array?.first?["Id"]?.string)
  }

  private func files(_ generation: Int) throws -> [String] {
    let directory = world.data.generation(generation, of: try world.user("ada").id)
    return Files.exists(directory) ? try Files.list(directory) : []
  }

  private func hasIssued(_ generation: Int) throws -> Bool {
    Files.exists(world.data.issued(generation, of: try world.user("ada").id))
  }

  private func plan() throws -> KeepPlan {
    try KeepWork.prune(world.pipeline, root: world.root, isDryRun: true)
  }

  /// The reasons why something of ada's is kept.
  private func reasons(_ generation: Int) throws -> [String] {
    let ada = try world.user("ada").id
    return try plan().staying.first {
      $0.kind == .issued && $0.snapshot == ada && $0.id == String(generation)
    }?.because ?? []
  }

  private func handBack(_ device: Device, as name: String = "ada.sqlite") throws {
    try device.handBack(to: world.data.inbox("inbox") + "/" + name, now: world.org.now())
  }

  @Test func `a run keeps the newest stores and the older issued records`() async throws {
    let device = try await scene.phone()
    #expect(try files(1).contains("ios"))
    #expect(try await night().pruned.count(.generation) == 1)
    #expect(try files(1) == ["generation.json", "pruned.json"])
    #expect(try files(2).contains("ios") && hasIssued(1) && hasIssued(2))
    #expect(try reasons(1).first?.hasPrefix("its bundle is valid until ") == true)
    // The device of the older generation is compared with its issued records.
    let (untouched, touched) = (try scene.account(device, 0), try scene.account(device, 1))
    try device.edit("accounts", id: untouched, ["Phone": "device"], now: world.org.now())
    try device.edit("accounts", id: touched, ["Phone": "device"], now: world.org.now())
    try scene.office(touched, ["Phone": "office"])
    try handBack(device)
    let (verdicts, edits) = try await scene.night()
    #expect(verdicts == [.updated: 1, .conflict: 1])
    #expect(edits.allSatisfy { !$0.detail.hasNoBase })
    #expect(edits.first { $0.verdict == .conflict }?.detail.fields.first?.base != nil)
  }

  @Test func `issued records that can no longer return are removed, and a late return has no base`()
    async throws
  {
    let device = try await scene.phone()
    try await night()
    try await night(days: 19)
    #expect(try hasIssued(1) && files(1) == ["generation.json", "pruned.json"])
    // Nothing shows that it has a newer bundle, and nothing that it has this one.
    let run = try await night(days: 1)
    #expect(run.pruned.count(.issued) > 0)
    // The names of its soups are still needed.
    #expect(try !hasIssued(1) && files(1) == ["generation.json", "pruned.json"] && hasIssued(2))
    let (untouched, touched) = (try scene.account(device, 0), try scene.account(device, 1))
    for id in [untouched, touched] {
      try device.edit("accounts", id: id, ["Phone": "device"], now: world.org.now())
    }
    try scene.office(touched, ["Phone": "office"])
    try handBack(device)
    let late = try await night(.ingest, .reconcile)
    #expect(late.verdicts == [.updated: 1, .conflict: 1])
    let conflict = try scene.edits(of: late.run).first { $0.verdict == .conflict }
    #expect(conflict?.detail.hasNoBase == true)
    #expect(
      late.warnings.contains {
        $0.contains("the issued records of generation 1 are no longer kept")
      })
    #expect(try scene.field("Phone", of: touched) == "office")
  }

  @Test func `the source of an open edit is kept until its device has moved on`() async throws {
    _ = try await scene.conflict()
    for _ in 0..<3 { try await night(days: 15) }
    let came = "edit 1, which is open, came from it"
    let last = "it was returned last, and nothing shows that its device has a newer one"
    #expect(try reasons(1) == [came, last])
    #expect(try hasIssued(1) && files(1) == ["generation.json", "pruned.json"])
    try scene.decide(1, .server)
    try await night()
    #expect(try reasons(1) == [last])
    let newer = try world.device("ada", as: "ada-2")
    try newer.edit("accounts", id: scene.account(newer, 1), ["Phone": "2"], now: world.org.now())
    try handBack(newer)
    try await night()
    #expect(try !hasIssued(1) && files(1) == ["generation.json", "pruned.json"])
  }

  @Test func `a generation that redelivers an open edit is kept for comparison`() async throws {
    _ = try await scene.conflict()
    try await night()
    let carrying = try #require(try world.data.generations(of: world.user("ada").id).last)
    try await night()
    try await night(days: 30)
    #expect(try reasons(carrying) == ["edit 1, which is open, is redelivered in it"])
    #expect(try hasIssued(carrying))
  }

  @Test func `a global generation's issued records stay while its bundle is valid`() async throws {
    try await world.run()
    let product = try first("SELECT Id FROM Product2 WHERE IsActive = true LIMIT 1")
    try world.org.moveClock(by: Self.day)
    try scene.office(product, ["Name": "Another"], "Product2")
    try await world.run()
    try await night()
    func stay() throws -> KeepPlan.Item? {
      try plan().staying.first { $0.kind == .issued && $0.snapshot == SnapshotID.global }
    }
    #expect(try stay()?.because.first?.hasPrefix("its bundle is valid until") == true)
    try await night(days: 30)
    #expect(!Files.exists(world.data.issued(1, of: SnapshotID.global)))
    #expect(Files.exists(world.data.issued(2, of: SnapshotID.global)))
  }

  @Test func `a processed return is removed after its days, and stays known`() async throws {
    let device = try await scene.phone()
    _ = try scene.edited(device)
    try handBack(device)
    #expect(try await world.run().verdicts == [.updated: 1])
    let store = world.directory.file("copy.sqlite")
    try Files.copy(device.storePath, to: store)
    #expect(try Files.list(world.data.done).count == 1)
    try await night(days: 29)
    #expect(try Files.list(world.data.done).count == 1)
    try await night(days: 1)
    #expect(try Files.list(world.data.done) == [])
    try Files.copy(store, to: world.data.inbox("inbox") + "/again.sqlite")
    let again = try await night()
    #expect(again.returns.known == 1 && again.verdicts == [:])
    try await night(.pack)
    #expect(try Files.list(world.data.done) == [])
  }

  @Test func `a run without the org makes nothing older, whatever the clock says`() async throws {
    try await world.run()
    try await night()
    // The org's clock is months behind this machine's.
    #expect(world.org.now() + 30 * Self.day < Clock.wallMilliseconds())
    #expect(try await world.run(.pack).pruned.isEmpty)
    #expect(try hasIssued(1))
  }

  @Test func `the reason of a refused return that was removed by hand is removed`() async throws {
    try await world.run()
    for name in ["x", "y"] {
      try DurableFile.write(
        Array("no store \(name)".utf8), to: world.data.inbox("inbox") + "/\(name).sqlite")
    }
    #expect(try await world.run().returns.quarantined == 2)
    let taken = try #require(try Quarantine.list(world.data.quarantine).first)
    try Files.remove(world.data.quarantine + "/" + taken.sha256)
    #expect(try ReasonFile.digests(in: world.data.quarantine).count == 2)
    try await night(days: 1)
    #expect(try !ReasonFile.digests(in: world.data.quarantine).contains(taken.sha256))
    #expect(try ReasonFile.digests(in: world.data.quarantine).count == 1)
  }

  @Test func `a refused return is kept whatever its age`() async throws {
    try await world.run()
    try DurableFile.write(Array("no store".utf8), to: world.data.inbox("inbox") + "/x.sqlite")
    #expect(try await world.run().returns.quarantined == 1)
    try await night(days: 4000)
    #expect(try Quarantine.list(world.data.quarantine).count == 1)
    let item = try #require(try plan().staying.first { $0.kind == .quarantined })
    #expect(item.name == "x.sqlite" && item.because == ["no operator has released or discarded it"])
  }
}
