import HTTP
import JSON
import Ledger
import LocalOrg
import Pipelines
import System
import Testing

/// How a run handles what its org lacks: before anything is sent or fetched, and without losing a
/// return.
@Suite struct RunPreflightTests {
  private let world: World
  init() throws { world = try World.withoutSharing() }

  private static let fetching: Set<RequestKind> = [
    .query, .queryMore, .search, .priming, .retrieve, .recent, .bulkCreate,
  ]

  @discardableResult private func run(
    _ world: World, _ stages: Stage..., options change: (inout RunOptions) -> Void = { _ in }
  ) async throws -> RunSummary {
    let stages = stages.isEmpty ? Set(Stage.allCases) : Set(stages)
    return try await world.runAsWritten(stages, options: change)
  }

  private func problems(_ world: World, _ stages: Stage...) async throws -> [String] {
    let error = await #expect(throws: Problems.self) {
      try await world.runAsWritten(stages.isEmpty ? Set(Stage.allCases) : Set(stages))
    }
    #expect(error.map { PipelineError(describing: $0).kind } == .configuration)
    return (error?.list ?? []).map { "\($0.line):\($0.column) \($0.message); \($0.fix)" }
  }

  /// A phone of ada's with a changed account in the inbox; the account's ID.
  private func edited(_ world: World) async throws -> String {
    try await run(world)
    let device = try world.device("ada")
    let id = try #require(try world.ids("accounts", on: device).first)
    try world.handBack(device, as: "ada.sqlite", edited: id, ["Phone": "+1 555 0199"])
    return id
  }

  private func refuse(
    _ world: World, _ part: Int, to user: String, status: Int = 404, code: String = "NOT_FOUND"
  ) {
    world.server.faults.add(
      .init(kind: .composite, user: user + "@example.com"), times: 1000,
      .refusePart(part, status: status, code: code))
  }

  // MARK: missing for all users

  @Test func `nine faults end a run with their locations before any fetch`() async throws {
    let world = try PreflightTests.world(PreflightTests.mistakes)
    let error = await #expect(throws: Problems.self) { try await world.run() }
    try PreflightTests.expectMistakes(error?.list ?? [])
    let kinds = world.server.log.entries.map(\.kind)
    #expect(kinds.allSatisfy { !Self.fetching.contains($0) })
    // Both users are asked: one request each, a second one for relationship paths, and once for the
    // list of objects.
    #expect(kinds.count { $0 == .composite } <= 4)
    #expect(kinds.count { $0 == .describeGlobal } == 1)
    #expect(kinds.count { $0 == .describe } == 0)
  }

  @Test func `an unknown name in a sync down stops the prime after the edits`() async throws {
    let id = try await edited(world)
    let before = world.server.log.count
    let reports = try Files.list(world.data.reports).count
    let generations = try world.data.generations(of: world.user("ada").id)
    try world.rewrite(
      "\"BillingCity\"],\n            \"soupName\"", "\"BillingCty\"],\n            \"soupName\"",
      in: "demo/usersyncs.json")
    let found = try await problems(world)
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("12:") == true)
    #expect(
      found.first?.hasSuffix(
        "Account has no field \"BillingCty\" for this user; did you mean \"BillingCity\"?") == true)
    let log = world.server.log.entries(after: before)
    #expect(log.allSatisfy { $0.kind != .priming && $0.kind != .queryMore })
    #expect(try world.data.generations(of: world.user("ada").id) == generations)
    #expect(try Files.list(world.data.inbox("inbox")) == [])
    #expect(try world.record("Account", id)["Phone"] == "+1 555 0199")
    #expect(try Files.list(world.data.reports).count == reports + 1)
    // Each prime reports it, even with nothing to send.
    #expect(try await problems(world) == found)
    #expect(try await problems(world, .prime) == found)
    #expect(try await run(world, .ingest, .reconcile).verdicts == [:])
  }

  @Test func `an unknown name in a sync up stops the run before edits lose it`() async throws {
    let id = try await edited(world)
    let list = "[\"Name\", \"Phone\", \"Website\", \"Description\"]"
    let wrong = list.replacing("Phone", with: "Phne")
    try world.rewrite(list, wrong, in: "demo/usersyncs.json")
    for stages in [Set(Stage.allCases), [.ingest, .reconcile], [.reconcile]] {
      let error = await #expect(throws: Problems.self) { try await world.runAsWritten(stages) }
      #expect(error?.list.map(\.message) == ["Account has no field \"Phne\" for this user"])
    }
    #expect(world.server.log.writes.isEmpty)
    try world.rewrite(wrong, list, in: "demo/usersyncs.json")
    #expect(try await run(world).verdicts == [.updated: 1])
    #expect(try world.record("Account", id)["Phone"] == "+1 555 0199")
  }

  /// The org accepts names in any case; a row has one spelling.
  @Test(arguments: [
    (
      #"["Name", "Phone", "Website", "Description"]"#,
      #"["Name", "PHONE", "Website", "Description"]"#, "Phone", "PHONE"
    ),
    (
      #""target": { "createFieldlist""#,
      #""target": { "modificationDateFieldName": "lastmodifieddate", "createFieldlist""#,
      "LastModifiedDate", "lastmodifieddate"
    ),
  ])
  func `a name in different case stops the run before an edit loses its field`(
    _ old: String, _ new: String, _ spelt: String, _ written: String
  ) async throws {
    let id = try await edited(world)
    try world.rewrite(old, new, in: "demo/usersyncs.json")
    for stages in [Set(Stage.allCases), [.reconcile]] {
      let error = await #expect(throws: Problems.self) { try await world.runAsWritten(stages) }
      #expect(error.map { PipelineError(describing: $0).kind } == .configuration)
      let words = (error?.list ?? []).map { "\($0.message); \($0.fix)" }
      #expect(
        words == [
          "Account has the field \"\(spelt)\", but the rows of a soup would use "
            + "\"\(written)\"; write \"\(spelt)\""
        ])
    }
    #expect(world.server.log.writes.isEmpty)
    try world.rewrite(new, old, in: "demo/usersyncs.json")
    #expect(try await run(world).verdicts == [.updated: 1])
    #expect(try world.record("Account", id)["Phone"] == "+1 555 0199")
  }

  /// The demo's pipeline for ada alone, without an integration user.
  private static func alone(_ text: String) -> String {
    text.replacing(",\n      \"integrationUser\": \"attache@example.com\"", with: "")
      .replacing(
        /"users": \{[^}]*\{[^}]*\}\s*\}/,
        with: #""users": { "list": ["ada@example.com"] }"#
      )
      .replacing(/,\s*\{\s*"scope": "global"[^}]*\}/, with: "")
  }

  @Test(arguments: [true, false])
  func `a decision applied at once is checked in the org`(_ hasIntegration: Bool) async throws {
    let world = try World(change: { hasIntegration ? $0 : Self.alone($0) })
    let id = try await DecisionScene(world).conflict()
    let list = "[\"Name\", \"Phone\", \"Website\", \"Description\"]"
    let wrong = list.replacing("Website", with: "Websit")
    try world.rewrite(list, wrong, in: "demo/usersyncs.json")
    let before = world.server.log.count
    let decided = try await world.program(["decide"], ["1", "--take", "device", "--now"])
    #expect(decided.status == 4, "\(decided.everything)")
    #expect(decided.everything.contains("Account has no field \"Websit\" for this user"))
    #expect(world.server.log.entries(after: before).allSatisfy { !$0.isWrite })
    try world.rewrite(wrong, list, in: "demo/usersyncs.json")
    #expect(try await run(world, .reconcile).verdicts == [.updated: 1])
    #expect(try world.record("Account", id)["Phone"] == "device")
  }

  @Test func `a right that the integration user lacks stops the run`() async throws {
    try world.rewrite("ProductCode", "ProductCde", in: "demo/globalsyncs.json")
    let found = try await problems(world)
    #expect(found.count == 1)
    #expect(found.first?.contains("did you mean \"ProductCode\"?") == true)
  }

  // MARK: missing for some users

  @Test func `a user with fewer rights is skipped, with everything that is missing`() async throws {
    // The first and the second object of the briefcase.
    refuse(world, 0, to: "ben")
    refuse(world, 1, to: "ben")
    let summary = try await run(world)
    #expect(summary.findings == [.skippedUser])
    #expect(summary.exitStatus == .needsAttention)
    #expect(
      summary.snapshots.map(\.username).sorted()
        == ["ada@example.com", "cleo@example.com", "global"])
    #expect(world.skipped.count == 1)
    let told = try #require(world.skipped.first)
    #expect(told.hasPrefix("ben@example.com: the user has no access to what the syncs fetch"))
    #expect(told.contains("usersyncs.json:11:"))
    #expect(told.contains("usersyncs.json:16:"))
    #expect(
      world.server.log.entries.allSatisfy {
        $0.kind != .priming || $0.user?.hasPrefix("ben") != true
      })
    // Once it is fixed in the org, the next run serves ben.
    world.server.faults.removeAll()
    #expect(try await run(world).findings == [])
  }

  @Test func `users who lack different rights are skipped individually`() async throws {
    refuse(world, 0, to: "ada")
    refuse(world, 1, to: "ben")
    refuse(world, 2, to: "cleo")
    #expect(try await run(world).findings == [.skippedUser])
    #expect(world.skipped.count == 3)
    #expect(Set(world.skipped.map { $0.prefix(3) }) == ["ada", "ben", "cle"])
  }

  @Test func `a missing right to send edits is reported and stops no one`() async throws {
    try world.rewrite(
      "[\"Title\", \"Phone\", \"MobilePhone\"]", "[\"Title\", \"LastModifiedById\"]",
      in: "demo/usersyncs.json")
    let summary = try await run(world)
    #expect(summary.findings == [])
    #expect(summary.snapshots.count == 4)
    #expect(summary.warnings.count == 1)
    #expect(
      summary.warnings.first?.contains("this user cannot edit Contact.LastModifiedById") == true)
  }

  // MARK: cost

  @Test func `objects are described in exactly one request per user`() async throws {
    let id = try await edited(world)
    let before = world.server.log.count
    #expect(try await run(world).verdicts == [.updated: 1])
    let log = world.server.log.entries(after: before).filter { !$0.isWrite }
    #expect(log.count { $0.kind == .describe || $0.kind == .describeGlobal } == 0)
    let asked = log.filter { $0.kind == .composite }.compactMap(\.user).sorted()
    #expect(asked == ["ada", "attache", "ben", "cleo"].map { $0 + "@example.com" })
    #expect(try world.record("Account", id)["Phone"] == "+1 555 0199")
    // With nothing to send or fetch, no one is asked.
    let quiet = world.server.log.count
    try await run(world, .ingest, .reconcile, .pack)
    #expect(world.server.log.entries(after: quiet).allSatisfy { $0.kind != .composite })
  }

  @Test func `a run with a small budget makes progress in every run`() async throws {
    // One after the other, or all of them would be cut off halfway.
    try world.rewrite("\"platforms\":", "\"limits\": { \"jobs\": 1 }, \"platforms\":")
    func primed() throws -> Int {
      try world.data.snapshots().filter { try !world.data.generations(of: $0).isEmpty }.count
    }
    var nights = 0
    while try primed() < 4 {
      nights += 1
      try #require(nights < 10)
      _ = try? await run(world) { $0.apiBudget = 20 }
      // Records seeded a moment ago would be fetched again by each run.
      try world.org.moveClock(by: 86_400_000)
    }
    #expect(nights > 1)
  }

  @Test func `a user who was interrupted is served before users with later turns`() async throws {
    try world.rewrite("\"platforms\":", "\"limits\": { \"jobs\": 1 }, \"platforms\":")
    try await run(world)
    let ada = try world.user("ada").id
    for (cutOff, order) in [(100, ["ben", "cleo", "ada"]), (99, ["ada", "ben", "cleo"])] {
      do {
        let ledger = try LedgerDatabase(path: world.data.state)
        let now = try #require(try ledger.noted(.primed(ada))) + 1000
        for user in ["ada", "ben", "cleo"] {
          let id = try world.user(user).id
          try ledger.store(user == "ada" ? now : now + 100, as: .primed(id))
          try ledger.store(1, as: .primingRun(id))
        }
        try ledger.store(now + Int64(cutOff), as: .cutOff(ada))
      }
      try world.org.moveClock(by: 86_400_000)
      let before = world.server.log.count
      try await run(world)
      var users: [String] = []
      for entry in world.server.log.entries(after: before) where entry.kind == .priming {
        let name = String(entry.user?.prefix { $0 != "@" } ?? "")
        if users.last != name { users.append(name) }
      }
      #expect(users == order)
    }
  }

  // MARK: unresponsive orgs

  private static let page = ServerResponse(
    status: 200, headers: ["Content-Type": "text/html"], body: Array("<html></html>".utf8))

  @Test(arguments: [
    Faults.Action.status(500, code: "UNKNOWN_EXCEPTION"), .respond(page), .drop(afterCommit: false),
    .limitExceeded, .refusePart(1, status: 500, code: "UNKNOWN_EXCEPTION"),
  ])
  func `an org that describes nothing does not stop a run`(_ trouble: Faults.Action) async throws {
    world.server.faults.add(.kind(.composite), times: 1000, trouble)
    let summary = try await run(world)
    #expect(summary.findings == [])
    #expect(summary.snapshots.count == 4)
    #expect(summary.warnings.count == 1)
    #expect(
      summary.warnings.first?.hasPrefix("the syncs could not be validated against the org") == true)
    // The first user who is asked finds out.
    #expect(world.server.log.counts[.composite, default: 0] <= 7)
  }

  @Test func `a session that ends before its user is asked is renewed`() async throws {
    for user in ["ada", "ben", "cleo"] {
      world.server.faults.add(.init(kind: .composite, user: user + "@example.com"), .expireSession)
    }
    let summary = try await run(world)
    #expect(world.server.faults.fired == 3)
    #expect(summary.warnings == [])
    #expect(summary.findings == [])
    #expect(summary.snapshots.count == 4)
  }
}
