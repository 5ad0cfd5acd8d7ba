import Bundles
import JSON
import Ledger
import MobileSync
import Pipelines
import Snapshots
import Testing

@Suite struct PrimedUsersTests {
  let world: World
  init() throws { world = try World() }

  @discardableResult private func run(
    _ stages: Set<Stage> = [.prime, .pack], options change: (inout RunOptions) -> Void = { _ in }
  ) async throws -> RunSummary { try await world.runAsWritten(stages, options: change) }

  private func open() throws -> [Finding.Kind] {
    try PipelineStatus.read(world.pipeline, root: world.root).findings.map(\.kind)
  }

  @Test func `a skipped user who is primed alone later is no longer reported`() async throws {
    let ben = try world.user("ben").username
    world.server.faults.add(
      .init(kind: .priming, user: ben), times: 1000, .status(403, code: "INSUFFICIENT_ACCESS"))
    #expect(try await run().findings == [.skippedUser])
    #expect(try open() == [.userSkipped])
    // Skipped twice, that is still one user.
    let again = try await run { $0.users = [ben] }
    #expect(again.skipped == [ben] && again.waiting[.userSkipped] == 1)
    world.server.faults.removeAll()
    let later = try await run { $0.users = ["ada@example.com"] }
    #expect(later.exitStatus == .needsAttention)
    #expect(later.skipped == ["\(ben), in an earlier run"])
    #expect(try open() == [.userSkipped])
    #expect(try await run { $0.users = [ben] }.exitStatus == .done)
    #expect(try open() == [])
  }

  @Test func `a record without an ID concerns the users who see it`() {
    #expect(PipelineError(describing: SyncError(.recordWithoutID, "m")).kind == .failed)
  }

  @Test func `a global store that cannot be primed ends the run`() async throws {
    world.server.faults.add(
      .init(kind: .query, user: "attache@example.com"), nth: 2, times: 1000,
      .status(403, code: "INSUFFICIENT_ACCESS"))
    let error = await #expect(throws: (any Error).self) { try await run() }
    #expect(error.map { PipelineError(describing: $0).kind } == .authentication)
    #expect(try open().isEmpty)
  }

  @Test func `a newly selected field is fetched for all records`() async throws {
    try await run()
    try world.rewrite(
      "\"Website\", \"Industry\"", "\"Website\", \"Fax\"", in: "demo/usersyncs.json")
    #expect(try world.column("SELECT Id FROM Account").count > 0)
    try await run()
    for account in try world.device("ada").elements("accounts") {
      #expect(account["Fax"] != nil)
      #expect(account["Industry"] == nil)
    }
  }

  @Test func `a later bundle of a generation is as long valid as the first`() async throws {
    let id = try world.user("ada").id
    func manifest(_ summary: RunSummary) throws -> Manifest {
      let path = summary.bundles.first { $0.contains(id) && $0.contains("ios.bundle.") }
      return try BundleReader.inspect(try #require(path))
    }
    let first = try manifest(try await run())
    let days: Int64 = 3 * 24 * 3_600_000
    try world.org.moveClock(by: days)
    try world.rewrite("tar.zst", "zip")
    let second = try manifest(try await run())
    #expect(second.generation == first.generation)
    #expect(second.created >= first.created + days)
    #expect(
      try #require(second.expires) - second.created == first.expires.map { $0 - first.created })
  }

  @Test func `if the org allows no more writes, the status is try again later`() async throws {
    try await run()
    let device = try world.device("ada")
    let account = try #require(try world.ids("accounts", on: device).first)
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "1"])
    world.server.faults.add(.writes, times: 1000, .limitExceeded)
    let summary = try await run([.ingest, .reconcile])
    #expect(summary.findings.contains(.limitReached))
    #expect(summary.verdicts == [.notAttempted: 1])
    #expect(summary.exitStatus == .tryLater)
    world.server.faults.removeAll()
    #expect(try await run([.reconcile]).verdicts == [.updated: 1])
  }

  @Test func `current names each user's newest generation`() async throws {
    try await run()
    let admin = try world.user("admin")
    let account = try #require(try world.ids("accounts", on: world.device("ada")).first)
    #expect(world.org.update("Account", id: account, ["Phone": "8"], as: admin).errors == [])
    try await run()
    for id in try world.data.snapshots() {
      let directory = SnapshotDirectory(path: world.data.snapshot(id))
      let newest = try #require(try directory.generations().last)
      let current = try #require(try directory.current())
      #expect(current.generation == newest)
      #expect(try directory.record(of: newest).digest == current.digest)
    }
    #expect(try world.data.generations(of: world.user("ada").id).count == 2)
  }

  @Test func `a bundle of unchanged data is renewed before it expires`() async throws {
    let first = try manifest("ada", of: try await run())
    try world.org.moveClock(by: 10 * Self.day)
    #expect(try await run().bundles.isEmpty)
    try world.org.moveClock(by: 26 * Self.day)
    let second = try manifest("ada", of: try await run())
    #expect(second.generation == first.generation)
    #expect(try #require(second.expires) >= world.org.now() + 34 * Self.day)
    #expect(try await run().bundles.isEmpty)
  }

  @Test func `a former user gets no later bundle with the old records`() async throws {
    try await run()
    let ben = try world.user("ben")
    let admin = try world.user("admin")
    try world.rewrite(
      "Profile.Name = 'Field Technician'",
      "Profile.Name = 'Field Technician' AND Username <> 'ben@example.com'")
    try world.org.moveClock(by: Self.day)
    let product = try #require(try world.column("SELECT Id FROM Product2 LIMIT 1").first)
    #expect(world.org.update("Product2", id: product, ["Name": "New"], as: admin).errors == [])
    let bundles = try await run().bundles
    let ada = try world.user("ada").id
    #expect(bundles.contains { $0.contains(ada) })
    #expect(!bundles.contains { $0.contains(ben.id) })
  }

  @Test func `a renamed user gets a bundle with the new name`() async throws {
    let first = try manifest("ada", of: try await run())
    let ada = try world.user("ada")
    let admin = try world.user("admin")
    let outcome = world.org.update(
      "User", id: ada.id, ["Username": "lovelace@example.com"], as: admin)
    #expect(outcome.errors == [])
    let path = try #require(
      try await run().bundles.first { $0.contains(ada.id) && $0.contains("ios.bundle.") })
    #expect(try BundleReader.inspect(path).usernameDigest != first.usernameDigest)
  }

  @Test func `a user who needs more requests than are left does not block others`() async throws {
    try world.rewrite("\"platforms\":", "\"limits\": { \"jobs\": 1 }, \"platforms\":")
    let page = try world.org.query(
      "SELECT Id, Username FROM User WHERE IsActive = true AND Profile.Name = 'Field Technician' "
        + "ORDER BY Id", as: world.user("admin"))
    let users = try JSONValue(parsing: page.records).array ?? []
    let ids = users.compactMap { $0["Id"]?.string }
    world.server.faults.add(
      .init(kind: .priming, user: try #require(users.first?["Username"]?.string)), times: 10_000,
      .shortPage(records: 1))
    for _ in 0..<8 { _ = try? await run { $0.apiBudget = 20 } }
    func isPrimed(_ id: String) throws -> Bool {
      try world.data.snapshots().contains(id) && !world.data.generations(of: id).isEmpty
    }
    #expect(try !isPrimed(ids[0]))
    #expect(try ids.dropFirst().allSatisfy(isPrimed))
  }
  private static let day: Int64 = 86_400_000

  private func manifest(_ name: String, of summary: RunSummary) throws -> Manifest {
    let id = try world.user(name).id
    let path = summary.bundles.first { $0.contains(id) && $0.contains("ios.bundle.") }
    return try BundleReader.inspect(try #require(path))
  }

  @Test func `a renamed user sends under the new name in the next run`() async throws {
    try await run()
    let device = try world.device("ada")
    let account = try #require(try world.ids("accounts", on: device).first)
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "+1 555 0188"])
    let (ada, ben) = (try world.user("ada"), try world.user("ben"))
    let admin = try world.user("admin")
    // Her former name belongs to another user by now.
    for (id, name) in [(ada.id, "lovelace"), (ben.id, "ada")] {
      let renamed: JSONObject = ["Username": .string(name + "@example.com")]
      #expect(world.org.update("User", id: id, renamed, as: admin).errors == [])
    }
    let summary = try await world.runAllAsWritten()
    #expect(summary.verdicts == [.updated: 1])
    #expect(summary.exitStatus == .done)
    #expect(try world.record("Account", account)["LastModifiedById"]?.string == ada.id)
    let ledger = try LedgerDatabase(path: world.data.state)
    defer { ledger.close() }
    #expect(try ledger.snapshotRow(id: ada.id)?.username == "lovelace@example.com")
    #expect(try ledger.snapshotRow(id: ben.id)?.username == "ada@example.com")
  }
}
