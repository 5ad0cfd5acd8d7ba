import Returns
import System
import Testing

@Suite struct DryRunTests {
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
