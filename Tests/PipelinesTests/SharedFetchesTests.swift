import JSON
import Ledger
import LocalOrg
import MobileSync
import Pipelines
import SmartStore
import System
import Testing

/// Runs in which a record is fetched once for all users who read it alike.
@Suite struct SharedFetchesTests {
  private static let users = ["ada", "ben", "cleo"]

  /// A world in which the three users share accounts, and are primed one after the other.
  private static func world(share: String = "auto") throws -> World {
    let world = try World {
      $0.replacing(
        #""platforms":"#,
        with: #""prime": {"share": "\#(share)"}, "limits": {"jobs": 1}, "platforms":"#)
    }
    for number in 0..<60 {
      let outcome = world.org.create(
        "Account", ["Name": .string("shared \(number)"), "Phone": .string("\(number)")],
        as: try world.user("admin"))
      for user in users { try world.org.share(outcome.id ?? "", with: "\(user)@example.com") }
    }
    // The last account did not change in the second of the run.
    try world.org.moveClock(by: 1000)
    return world
  }

  /// The rows of a user's stores, without what depends on the order of arrival.
  private func rows(_ world: World, _ name: String) throws -> [String] {
    try Platform.allCases.flatMap { platform in
      let device = try world.device(name, platform, as: "\(name)-\(platform.rawValue)")
      return try VisibilityTests.soups.keys.sorted().flatMap { soup in
        try device.elements(soup).map { element in
          var object = element.object ?? [:]
          for name in ["_soupEntryId", "_soupLastModifiedDate"] { object[name] = nil }
          return soup + " " + JSONValue.object(object).text
        }.sorted()
      }
    }
  }

  @Test func `a run fetches shared records once, and makes the same stores`() async throws {
    let (shared, direct) = (try Self.world(), try Self.world(share: "never"))
    let summaries = [try await shared.run(), try await direct.run()]
    for name in Self.users {
      let rows = try rows(shared, name)
      #expect(try rows == self.rows(direct, name))
      #expect(rows.count > 2 * 60)
    }
    let costs = try summaries.map { try #require($0.costs.first { $0.stage == .prime }) }
    #expect(costs[1].used == costs[1].records && costs[0].used == costs[1].used)
    // Two users get all but their samples from the first.
    #expect(costs[0].used - costs[0].records >= 2 * (60 - RecordPool.sampleSize))
    #expect(costs[0].json["used"]?.int == Int64(costs[0].used))
    #expect(costs[0].words.contains("records used \(costs[0].used) times"))
    #expect(costs[0].requests <= costs[1].requests)
    #expect(summaries[0].findings == summaries[1].findings)
    // The orders of the next run keep users together who read alike.
    let ledger = try LedgerDatabase(path: shared.data.state)
    let classes = try Self.users.map { try ledger.noted(.readingClass(shared.user($0).id)) }
    ledger.close()
    #expect(classes[0] != nil && Set(classes).count == 1)
    // The next run finds no change, and leaves no file.
    #expect(try await shared.run().snapshots.allSatisfy { !$0.changed })
    let left = try Files.list(shared.data.path).filter { $0.hasPrefix(DurableFile.temporaryPrefix) }
    #expect(left.isEmpty)
  }

  /// A fleet of which the last user's description is read before a formula changes, and the records
  /// after it.
  private static func unlikeFleet() throws -> FleetScene {
    let scene = try FleetScene(users: 3, .soql, fields: ["LastName", "Tag__c"], jobs: 1)
    try scene.fill(shared: 54, own: 6)
    try FleetScene.tag(scene.world.org, "UPPER(LastName)")
    scene.world.server.faults.add(
      .init(kind: .query, user: "t2@example.com"), nth: 2,
      .mutate { try FleetScene.tag($0, "$User.LastName & LastName") })
    return scene
  }

  /// Checks that users have the formula's new values; the first one, who got no record of another,
  /// may have those of before.
  private func checkTags(_ scene: FleetScene) throws {
    for user in 0..<3 {
      let tags = try scene.world.device("t\(user)").elements("contacts").map {
        $0["Tag__c"]?.string ?? ""
      }
      let areRight = tags.allSatisfy { tag in
        tag.hasPrefix(FleetScene.word(user))
          || user == 0 && !tag.isEmpty && tag == tag.uppercased()
      }
      #expect(tags.count == 60 && areRight, "\(user): \(tags)")
    }
  }

  @Test func `if users read a record differently, all of them are primed separately`()
    async throws
  {
    let scene = try Self.unlikeFleet()
    let summary = try await scene.world.runAsWritten()
    #expect(summary.findings == [.unlikeRecords])
    #expect(summary.exitStatus == .needsAttention)
    #expect(summary.warnings.contains { $0.contains("read its field Tag__c differently") })
    #expect(summary.snapshots.count == 3)
    try checkTags(scene)
    let again = try await scene.world.runAsWritten()
    #expect(again.exitStatus == .done && again.findings.isEmpty)
  }

  @Test func `a run that is killed after users read a record differently primes them again later`()
    async throws
  {
    let scene = try Self.unlikeFleet()
    let (root, killed) = (scene.world.root, scene.world.directory.file("killed"))
    // The sample is compared; the last user fetches the other records.
    scene.world.server.faults.add(
      .init(kind: .query, user: "t2@example.com"), nth: 3,
      .mutate { _ in try Tree.copy(root, to: killed) })
    _ = try await scene.world.runAsWritten()
    try Files.remove(root)
    try Tree.copy(killed, to: root)
    let summary = try await scene.world.runAsWritten()
    #expect(summary.snapshots.count == 3)
    try checkTags(scene)
  }

  /// No file of the program may have more than a mebibyte, which the file of the pool exceeds.
  @Test(arguments: FleetScene.Kind.allCases)
  func `if the disk takes no more records, the users fetch the others separately`(
    _ kind: FleetScene.Kind
  ) async throws {
    let scene = try FleetScene(users: 8, kind, fields: FleetCostTests.fields)
    try scene.fill(shared: 60, own: 500)
    let run = try await scene.world.program(
      ["prime"], shell: #"ulimit -f 1024; trap '' XFSZ; exec "$@""#)
    #expect(run.status == 0, "\(run.everything)")
    #expect(run.everything.contains("the disk took no more records to share"))
    _ = try await scene.run(.never)
    for user in scene.users {
      let rows = try scene.rows(of: user, in: scene.world.data)
      #expect(try rows.count == 560 && rows == scene.rows(of: user, .never), "\(user)")
    }
  }

  @Test func `org check says what is shared and what is not`() async throws {
    let world = try Self.world()
    let check = try await OrgCheck.run(
      world.pipeline, root: world.root, variables: world.variables, sharing: true)
    let sharing = try #require(check.sharing)
    let accounts = try #require(sharing.entries.first { $0.object == "Account" })
    #expect(accounts.classes.map(\.users) == [3])
    #expect(accounts.own.isEmpty && accounts.separate.isEmpty)
    let counts = try #require(accounts.counts)
    #expect(counts.used - counts.fetched >= 2 * (60 - RecordPool.sampleSize))
    #expect(
      check.lines.contains("  syncDownBriefcase, Account: 3 users read it alike"))
    #expect(check.json["sharing"]?["share"] == "auto")
    #expect(check.json["sharing"]?["listRequests"]?.int == 3)
    let plain = try await OrgCheck.run(
      world.pipeline, root: world.root, variables: world.variables)
    #expect(plain.sharing == nil)
  }

  @Test(arguments: FleetScene.Kind.allCases)
  func `org check and a dry run say which fields are shared and which are own`(
    _ kind: FleetScene.Kind
  ) async throws {
    let scene = try FleetScene(users: 3, kind, fields: ["LastName", "Tag__c"])
    try scene.fill(shared: 54, own: 6)
    try FleetScene.tag(scene.world.org, "$User.LastName & LastName")
    let check = try await OrgCheck.run(
      scene.world.pipeline, root: scene.world.root, variables: scene.world.variables,
      sharing: true)
    let (name, own) = ("down, Contact: ", "Contact.Tag__c is a formula that reads $User.LastName")
    let fields =
      kind == .soql ? "LastModifiedDate, Id, LastName" : "LastName, Id, LastModifiedDate"
    for line in ["3 users read it alike, in \(fields)", "3 users with own values: \(own)"] {
      #expect(check.lines.contains("  " + name + line), "\(check.lines)")
    }
    let json = try #require(check.json["sharing"]?["syncs"]?.array?.first)
    #expect(json["own"]?.array?.first?["users"]?.int == 3)
    #expect(json["classes"]?.array?.first?["users"]?.int == 3)
    let summary = try await scene.world.runAsWritten { $0.isDryRun = true }
    for line in [
      "fetched once for users who read it alike: \(fields)", "own values of each user: \(own)",
    ] { #expect(summary.plan.contains("prime: " + name + line), "\(summary.plan)") }
  }
}
