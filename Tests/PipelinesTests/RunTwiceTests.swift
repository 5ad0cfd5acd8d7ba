import System
import Testing

@Suite struct RunTwiceTests {
  let world: World
  init() throws { world = try World() }

  /// Everything that was published: stores, bundles, descriptions and issued records.
  func published() throws -> [String: Tree.Entry] {
    var entries: [String: Tree.Entry] = [:]
    for part in ["users", "global", "issued"] {
      for (name, entry) in try Tree.entries(world.data.path + "/" + part) {
        entries[part + "/" + name] = entry
      }
    }
    return entries
  }

  @Test func `running the pipeline twice changes nothing`() async throws {
    let first = try await world.run()
    #expect(world.skipped == [])
    #expect(first.snapshots.map(\.changed) == [true, true, true, true])
    #expect(first.bundles.count == 6)
    let before = try published()
    #expect(before.keys.count { $0.hasSuffix("/current") } == 4)
    for _ in 0..<2 {
      let summary = try await world.run()
      #expect(summary.snapshots.map(\.changed) == [false, false, false, false])
      #expect(summary.bundles == [])
      #expect(summary.findings == [])
    }
    #expect(try published() == before)
    #expect(world.server.log.writes == [])
  }

  @Test func `a run after a reconciliation changes nothing either`() async throws {
    let device = try await world.primed("ada")
    let account = try #require(try world.ids("accounts", on: device).last)
    try device.edit("accounts", id: account, ["Phone": "+1 555 0142"], now: world.org.now())
    try device.create(
      "contacts", type: "Contact", ["LastName": "Newman", "AccountId": .string(account)],
      localID: "local_1", now: world.org.now())
    #expect(try await world.run(device, as: "ada.sqlite").verdicts == [.updated: 1, .created: 1])
    let (before, writes) = (try published(), world.server.log.writes)
    #expect(writes.count == 2)
    let again = try await world.run()
    #expect(again.bundles == [])
    #expect(again.verdicts == [:])
    #expect(try published() == before)
    #expect(world.server.log.writes == writes)
  }

  @Test func `ingesting the same return twice sends nothing`() async throws {
    let (device, account) = try await world.primed("ben", .android, first: "accounts")
    try device.edit("accounts", id: account, ["Phone": "+1 555 0143"], now: world.org.now())
    try device.delete(
      "contacts", id: try #require(try world.ids("contacts", on: device).first),
      now: world.org.now())
    let copy = world.directory.file("ben.db")
    try device.handBack(to: copy, now: world.org.now())
    try Files.copy(copy, to: world.data.inbox("inbox") + "/ben.db")
    let first = try await world.run(.ingest, .reconcile)
    #expect(first.returns.ingested == 1)
    #expect(first.verdicts == [.updated: 1, .deleted: 1])
    let (writes, records) = (world.server.log.writes, try world.org.dump())
    #expect(writes.count == 2)

    try Files.copy(copy, to: world.data.inbox("inbox") + "/ben-again.db")
    let second = try await world.run(.ingest, .reconcile)
    #expect(second.returns.known == 1)
    #expect(second.returns.ingested == 0)
    let third = try await world.run(.ingest, .reconcile) { $0.files = [copy] }
    #expect(third.returns.known == 1)
    #expect(second.verdicts == [:])
    #expect(third.verdicts == [:])
    #expect(world.server.log.writes == writes)
    #expect(try world.org.dump() == records)
    #expect(try Tree.files(world.data.inbox("inbox")) == [])
  }
}
