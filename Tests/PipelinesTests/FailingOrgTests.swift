import Bundles
import HTTP
import LocalOrg
import Pipelines
import Salesforce
import Snapshots
import TestSupport
import Testing

@Suite struct FailingOrgTests {
  let world: World
  init() throws { world = try World.withoutSharing() }

  func run(_ stages: Stage...) async throws -> RunSummary {
    try await world.run { if !stages.isEmpty { $0.stages = Set(stages) } }
  }

  /// Checks that a user's published files are complete, and that there are no others.
  func expectSound() throws {
    for id in try world.data.snapshots() {
      let directory = SnapshotDirectory(path: world.data.snapshot(id))
      for number in try directory.generations() {
        let record = try directory.record(of: number)
        try directory.verify(record)
      }
      if let current = try directory.current() {
        #expect(try directory.record(of: current.generation).digest == current.digest)
      }
    }
    #expect(try Tree.files(world.data.path).filter { $0.contains(".tmp-") } == [])
    for name in try Tree.files(world.data.path) where name.contains(".bundle.") {
      try BundleReader.verify(world.data.path + "/" + name)
    }
    #expect(try ForeignReader.violations(world.stores()) == [])
  }

  @Test func `a user whose org is unreachable is skipped, served next time`() async throws {
    let ben = try world.user("ben")
    world.server.faults.add(
      .init(kind: .retrieve, user: ben.username), nth: 2, times: 1000, .drop(afterCommit: false))
    let first = try await run()
    #expect(first.findings == [.skippedUser, .limitReached])
    #expect(first.exitStatus == .tryLater)
    #expect(
      first.snapshots.map(\.username).sorted() == ["ada@example.com", "cleo@example.com", "global"])
    #expect(world.skipped.count == 1)
    #expect(world.skipped.first?.hasPrefix("ben@example.com: ") == true)
    #expect(try world.data.generations(of: ben.id) == [])
    #expect(first.bundles.count == 4)
    try expectSound()

    world.server.faults.removeAll()
    let second = try await run()
    #expect(second.findings == [])
    #expect(second.snapshots.filter(\.changed).map(\.username) == ["ben@example.com"])
    #expect(second.bundles.count == 2)
    try expectSound()
  }

  @Test func `if a shared login ends meanwhile, a login error is reported`() async throws {
    _ = try await run()
    let device = try world.device("ada")
    let account = try #require(try world.ids("accounts", on: device).first)
    try device.edit("accounts", id: account, ["Phone": "2"], now: world.org.now())
    #expect(world.org.delete("Account", id: account, as: try world.user("admin")).errors.isEmpty)
    try world.handBack(device, as: "ada.sqlite")
    // The outcome of the record is looked up as the integration user.
    for kind in [LocalOrg.RequestKind.query, .userinfo] {
      world.server.faults.add(
        FaultMatch(kind: kind, user: "attache@example.com"), nth: 1, times: .max, .expireSession)
    }
    let summary = try await run(.ingest, .reconcile)
    #expect(summary.findings.contains(.loginFailed), "\(summary.findings)")
    #expect(!summary.findings.contains(.limitReached), "\(summary.findings)")
    world.server.faults.removeAll()
    #expect(try await run(.reconcile).verdicts == [.deletedOnServer: 1])
  }

  @Test(arguments: [
    ("text/html", "<html>"), ("application/json", #"[{"Id":"001"},{"Id":]"#),
    ("application/json", #"{"a":1}"#),
  ])
  func `a user whose org returns only HTML pages makes the status try again later`(
    type: String, body: String
  ) async throws {
    let page = ServerResponse(status: 200, headers: ["Content-Type": type], body: Array(body.utf8))
    world.server.faults.add(
      .init(kind: .retrieve, user: "ben@example.com"), times: 1000, .respond(page))
    let summary = try await run()
    #expect(summary.findings == [.skippedUser, .limitReached])
    #expect(summary.exitStatus == .tryLater)
    #expect(world.skipped.map { String($0.prefix(15)) } == ["ben@example.com"])
  }

  @Test func `an org outage during the run keeps the generations already published`() async throws {
    _ = try await run()
    let before = try Tree.entries(world.data.path + "/users")
    let admin = try world.user("admin")
    let device = try world.device("ada")
    let account = try world.ids("accounts", on: device)[0]
    #expect(world.org.update("Account", id: account, ["Phone": "8"], as: admin).errors == [])
    for kind in [RequestKind.priming, .retrieve, .query] {
      world.server.faults.removeAll()
      world.server.faults.add(.kind(kind), times: 1000, .drop(afterCommit: false))
      // The list of users, each user, or the global store, whichever is requested first.
      let outcome = await Result { try await run(.prime, .pack) }
      switch outcome {
      case .success(let summary):
        #expect(summary.findings == [.skippedUser, .limitReached], "\(kind)")
      case .failure(let error):
        #expect(PipelineError(describing: error).kind == .tryLater, "\(kind): \(error)")
      }
      #expect(try Tree.entries(world.data.path + "/users") == before, "\(kind)")
    }
    world.server.faults.removeAll()
    let last = try await run()
    #expect(last.findings == [])
    #expect(last.snapshots.contains { $0.changed })
    #expect(try world.ids("accounts", on: try world.device("ada", as: "later")).contains(account))
    try expectSound()
  }

  @Test func `a session that ends during the run is renewed`() async throws {
    // One of each kind: otherwise one could hit the retry of a request that another has hit, which
    // would correctly be reported as a login error.
    world.server.faults.add(.kind(.query), nth: 1, .expireSession)
    world.server.faults.add(.kind(.priming), nth: 2, .expireSession)
    world.server.faults.add(.kind(.retrieve), nth: 3, .expireSession)
    let summary = try await run()
    #expect(world.skipped == [])
    #expect(summary.findings == [])
    #expect(summary.snapshots.count == 4)
    #expect(world.server.faults.fired == 3)
    try expectSound()
  }

  @Test func `requests to an overloaded org are retried`() async throws {
    world.server.faults.add(.kind(.priming), times: 2, .status(503, code: "SERVER_UNAVAILABLE"))
    world.server.faults.add(
      .kind(.retrieve), nth: 2, times: 3, .status(503, code: "SERVER_UNAVAILABLE"))
    world.server.faults.add(.kind(.query), nth: 2, .truncate(bytes: 40))
    let summary = try await run()
    #expect(world.skipped == [])
    #expect(summary.findings == [])
    #expect(summary.bundles.count == 6)
    #expect(world.server.faults.fired == 6)
    try expectSound()
  }

  @Test func `an outage while edits are sent makes the status try again later`() async throws {
    _ = try await run()
    let device = try world.device("cleo")
    let account = try #require(try world.ids("accounts", on: device).last)
    try world.handBack(device, as: "cleo.sqlite", edited: account, ["Phone": "+1 555 0189"])
    world.server.faults.add(.init(user: "cleo@example.com"), times: 1000, .drop(afterCommit: false))
    let summary = try await run(.ingest, .reconcile)
    #expect(summary.findings == [.limitReached, .unsettledEdits])
    #expect(summary.exitStatus == .tryLater)
    #expect(summary.verdicts == [.notAttempted: 1])
    world.server.faults.removeAll()
    let next = try await run(.ingest, .reconcile)
    #expect(next.verdicts == [.updated: 1])
    #expect(next.exitStatus == .done)
  }
}

extension Result where Failure == any Error {
  init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
