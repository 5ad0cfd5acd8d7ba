import Bundles
import Ledger
import LocalOrg
import MobileSync
import Pipelines
import SmartStore
import Snapshots
import System
import Testing

@Suite struct ChangedPipelineTests {
  let world: World
  init() throws { world = try World() }

  @discardableResult func run(
    _ stages: Set<Stage> = [.prime, .pack], options change: (inout RunOptions) -> Void = { _ in }
  ) async throws -> RunSummary { try await world.runAsWritten(stages, options: change) }

  func failBen(_ kind: RequestKind = .priming) throws {
    world.server.faults.add(
      .init(kind: kind, user: try world.user("ben").username), times: 1000,
      .status(403, code: "INSUFFICIENT_ACCESS"))
  }

  @Test func `a bundle does not include a return whose edits it lacks`() async throws {
    try await run()
    let device = try world.device("ben")
    let account = try #require(try world.ids("accounts", on: device).last)
    try world.handBack(device, as: "ben.sqlite", edited: account, ["Phone": "+1 555 0142"])
    try failBen()
    let summary = try await run(Set(Stage.allCases))
    #expect(summary.verdicts == [.updated: 1])
    #expect(summary.findings.contains(.skippedUser))
    #expect(summary.bundles == [])
    #expect(try BundleReader.inspect(world.bundle("ben")).includes == [])

    world.server.faults.removeAll()
    try await run()
    #expect(try BundleReader.inspect(world.bundle("ben")).includes.count == 1)
  }

  @Test func `a user not primed since a platform was added gets no bundle for it`() async throws {
    try world.rewrite("[\"ios\", \"android\"]", "[\"ios\"]")
    try await run()
    try world.rewrite("[\"ios\"]", "[\"ios\", \"android\"]")
    try failBen()
    let summary = try await run()
    #expect(summary.bundles.count == 4)
    #expect(
      summary.warnings.contains(
        "ben@example.com: the newest generation lacks a store that was added to the pipeline; "
          + "no bundle of it is written before the user is primed again"))
    #expect(throws: (any Error).self) { try world.bundle("ben", .android) }
    #expect(try BundleReader.inspect(world.bundle("ada", .android)).stores.count == 2)
  }

  @Test func `a changed format is packed at once`() async throws {
    try await run()
    try world.rewrite("tar.zst", "zip")
    let first = try BundleReader.inspect(world.bundle("ada"))
    let days = try #require(first.expires) - first.created
    try world.org.moveClock(by: 3 * 86_400_000)
    let summary = try await run()
    #expect(summary.bundles.count == 6)
    #expect(summary.bundles.allSatisfy { $0.hasSuffix(".bundle.2.zip") })
    // Its validity counts from now, not from the generation's time.
    let path = try #require(
      summary.bundles.first { $0.hasPrefix(try world.snapshot("ada")) && $0.contains("/ios.") })
    let second = try BundleReader.inspect(path)
    #expect(second.generation == first.generation)
    #expect(second.created >= first.created + 3 * 86_400_000)
    #expect(second.expires == second.created + days)
    #expect(try await run().bundles == [])
  }

  @Test func `a redefined store is rebuilt, and current names it`() async throws {
    try await run()
    let directory = SnapshotDirectory(path: try world.snapshot("ada"))
    #expect(try directory.current()?.generation == 1)
    let schema = Files.parent(of: world.pipeline.file) ?? "."
    let path = schema + "/demo/userstore.json"
    let text = String(decoding: try Files.read(path), as: UTF8.self)
    let index = "{ \"path\": \"Name\", \"type\": \"string\" },"
    #expect(text.contains(index))
    try DurableFile.write(
      Array(text.replacing(index, with: index + index.replacing("Name", with: "Website")).utf8),
      to: path)
    #expect(try await run().snapshots.count { $0.changed } == 3)
    #expect(try directory.current()?.generation == 2)
    #expect(try directory.current()?.digest == directory.record(of: 2).digest)
    let store = try Store(opening: world.device("ada").storePath, readOnly: true)
    #expect(try store.indexSpecs(of: "accounts").map(\.path).contains("Website"))
    try store.close()
    #expect(try await run().snapshots.allSatisfy { !$0.changed })
  }

  @Test func `a redefined sync up reaches the devices even if the org is unchanged`() async throws {
    try await run()
    let fields = #""fieldlist": ["Name", "Phone""#
    try world.rewrite(
      fields + #", "Website", "Description"]"#, fields + "]", in: "demo/usersyncs.json")
    try await run()
    let store = try Store(opening: world.device("ada").storePath, readOnly: true)
    let sync = try SyncsSoup.states(in: store).first { $0.name == "syncUpAccounts" }
    #expect(sync?.options["fieldlist"] == ["Name", "Phone"])
    try store.close()
  }

  @Test func `a snapshot read as another user is read again from scratch`() async throws {
    try await run()
    try world.rewrite("attache@example.com", "admin@example.com")
    let summary = try await run()
    let global = try #require(summary.snapshots.first { $0.id == SnapshotID.global })
    #expect(global.changed)
    #expect(global.soups.first?.fetched == 3)
    #expect(try await run().snapshots.allSatisfy { !$0.changed })
  }

  @Test func `a dry run leaves no trace`() async throws {
    let plan = try await run(Set(Stage.allCases)) { $0.isDryRun = true }
    #expect(!plan.plan.isEmpty)
    #expect(!Files.exists(world.root))
    try await run()
    let device = try world.device("ada")
    let account = try #require(try world.ids("accounts", on: device).last)
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "+1 555 0142"])
    try await run([.ingest])
    let before = try Tree.entries(world.data.path)
    #expect(try await run(Set(Stage.allCases)) { $0.isDryRun = true }.verdicts == [.updated: 1])
    #expect(try Tree.entries(world.data.path) == before)
    #expect(world.server.log.writes == [])
  }

  @Test func `a ledger older than the published generations is refused`() async throws {
    try await run()
    let backup = world.directory.file("backup.sqlite")
    try Files.copy(world.data.state, to: backup)
    try await run()
    let admin = try world.user("admin")
    let account = try world.ids("accounts", on: world.device("ada"))[0]
    #expect(world.org.update("Account", id: account, ["Phone": "8"], as: admin).errors == [])
    try await run()
    try Files.remove(world.data.state)
    try Files.copy(backup, to: world.data.state)
    let error = await #expect(throws: PipelineError.self) { try await run() }
    #expect(error?.code == "ledger.behind")
    #expect(error?.kind == .configuration)
  }
}
