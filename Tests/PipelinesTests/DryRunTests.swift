import Returns
import System
import Testing

@Suite struct DryRunTests {
  @Test func `a dry run leaves an interrupted run to be resumed`() async throws {
    let thread = StoreThread(name: "dry run")
    let scene = try await thread.run { () throws -> KillScene? in
      try KillScene.all.get().first { $0.stage == .reconcile }
    }
    let world = try #require(scene).copy()
    let whole = try #require(scene).copy()
    let expected = try await whole.run(.reconcile)
    let death = KillPoint(event: .writes, number: 2, moment: .after)
    let killed = try await thread.run { try ChildRun(.reconcile, world, killedAt: death) }
    #expect(killed.diedInStage)

    let writes = world.server.log.writes.count
    let look = try await world.run(.reconcile) { $0.isDryRun = true }
    #expect(look.plan.count > 0)
    #expect(world.server.log.writes.count == writes)
    #expect(!Files.exists(world.data.path + "/reports") || look.report == nil)

    // The report includes the edits that the interrupted run resolved.
    #expect(try await world.run(.reconcile).verdicts == expected.verdicts)
    // One, in addition to that of the previous run, which refused a return.
    #expect(try Files.list(world.data.reports).count == 2)
    #expect(try Files.list(whole.data.reports).count == 2)
  }

  @Test func `a dry run counts returns that an interrupted run ingested`() async throws {
    let world = try World()
    try await world.runFieldDay()
    let inbox = Inbox(directory: world.data.inbox("inbox"), root: world.data.path, settleSeconds: 0)
    let now = Clock.wallMilliseconds()
    for candidate in try inbox.candidates(now: now) { _ = try inbox.take(candidate, now: now) }
    #expect(try Files.list(inbox.directory).isEmpty && !inbox.taken().isEmpty)
    let before = try Tree.entries(world.data.path)
    let look = try await world.run { $0.isDryRun = true }
    #expect(try Tree.entries(world.data.path) == before)
    let night = try await world.run()
    #expect(look.verdicts == night.verdicts && !look.verdicts.isEmpty)
    #expect(look.returns.ingested == night.returns.ingested)
  }

  @Test func `a dry run of a full run counts the inbox and does not change it`() async throws {
    let world = try World()
    try await world.runFieldDay()
    let inbox = world.data.inbox("inbox")
    try Files.copy(inbox + "/ada.sqlite", to: inbox + "/copy.sqlite")
    try DurableFile.write(Array("no store".utf8), to: inbox + "/notes.txt")
    let before = try Tree.entries(world.data.path)
    let writes = world.server.log.writes.count
    let look = try await world.run { $0.isDryRun = true }
    #expect(try Tree.entries(world.data.path) == before)
    #expect(world.server.log.writes.count == writes)
    #expect(look.plan.contains("ingest: ada.sqlite has 2 edits, 2 of them new"))
    #expect(look.plan.contains("ingest: copy.sqlite was already ingested"))
    #expect(look.plan.contains { $0.hasPrefix("ingest: notes.txt will be quarantined: ") })
    #expect(look.plan.contains { $0.hasPrefix("reconcile: update accounts ") })
    let night = try await world.run()
    #expect(look.verdicts == night.verdicts)
    #expect(look.returns.ingested == night.returns.ingested)
    #expect(look.returns.quarantined == night.returns.quarantined)
  }
}
