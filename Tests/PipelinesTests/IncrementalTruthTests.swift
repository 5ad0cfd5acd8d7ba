import LocalOrg
import System
import Testing

/// A pipeline with three soql syncs and a briefcase: what it requests, and what it never treats as
/// deleted.
@Suite struct IncrementalTruthTests {
  let world: World
  init() throws {
    world = try World(file: Self.pipeline.get().file("truth.json"))
    // Records that changed within the overlap are read again.
    try world.org.moveClock(by: 3_600_000)
  }

  /// The pipeline's files, with all IDs listed every third run.
  static let pipeline = Result {
    func soql(_ soup: String, _ query: String) -> String {
      SmallPipeline.down(soup + "Down", soup, #"{"type":"soql","query":"\#(query)"}"#)
    }
    let briefcase = """
      {"type":"briefcase","infos":[
        {"sobjectType":"Account","fieldlist":["Name"],"soupName":"bAccounts"},
        {"sobjectType":"Contact","fieldlist":["LastName"],"soupName":"bContacts"}]}
      """
    return try SmallPipeline(
      name: "truth", soups: ["accounts", "contacts", "orders", "bAccounts", "bContacts"],
      syncs: [
        soql("accounts", "SELECT Id, Name, Phone FROM Account"),
        soql("contacts", "SELECT Id, LastName FROM Contact LIMIT 10000"),
        soql("orders", "SELECT Id, Subject FROM WorkOrder WHERE Subject != 'x' OR Status = 'New'"),
        SmallPipeline.down("briefcaseDown", "bAccounts", briefcase),
      ], more: #""platforms":["ios","android"],"prime":{"ghosts":{"everyRuns":3}}"#
    ).write()
  }

  func asked(_ body: () async throws -> Void) async rethrows -> [RequestKind: Int] {
    let before = world.server.log.counts
    try await body()
    var asked: [RequestKind: Int] = [:]
    for (kind, count) in world.server.log.counts
    where ![.token, .userinfo, .versions, .limits].contains(kind) {
      if count > before[kind, default: 0] { asked[kind] = count - before[kind, default: 0] }
    }
    return asked
  }

  func ids(_ soup: String) throws -> [String] {
    try world.ids(soup, on: world.device("ada", as: "d\(world.server.log.count)"))
  }

  @Test func `an unchanged org gets one call for all queries, and no file is written`()
    async throws
  {
    let first = try await world.run()
    #expect(first.snapshots.map(\.changed) == [true])
    #expect(first.findings == [])
    func files() throws -> [String: Tree.Entry] { try Tree.entries(world.data.path + "/users") }
    let before = try files()
    var queries: [Int] = []
    for _ in 0..<6 {
      let asked = try await asked { try await world.run() }
      #expect(Set(asked.keys).subtracting([.query]) == [.priming, .composite])
      #expect(asked[.priming] == 1)
      // The descriptions of objects for the first user, and the changes of the three queries.
      #expect(asked[.composite] == 2)
      queries.append(asked[.query] ?? 0)
    }
    // Every third run also lists the IDs of the three queries.
    #expect(queries.sorted() == [0, 0, 0, 0, 3, 3])
    #expect(try files() == before)
    #expect(world.server.log.writes == [])
  }

  @Test(arguments: [false, true])
  func `each user costs one call, which also describes the objects`(
    _ expires: Bool
  ) async throws {
    let names = ["ada", "ben", "cleo"].map { $0 + "@example.com" }
    let world = try World(file: Self.pipeline.get().file("truth.json")) {
      $0.replacing(
        #""list":["ada@example.com"]"#,
        with: #""list":["\#(names.joined(separator: #"",""#))"]"#)
    }
    try world.org.moveClock(by: 3_600_000)
    try await world.run()
    if expires { world.server.faults.add(.kind(.composite), nth: 3, .expireSession) }
    let before = world.server.log.count
    let summary = try await world.run()
    #expect(summary.snapshots.map(\.changed) == [false, false, false])
    let calls = world.server.log.entries(after: before).filter {
      ![.token, .userinfo, .versions, .limits, .priming].contains($0.kind)
    }
    #expect(Set(calls.map(\.kind)) == [.composite])
    // The first user's objects are described before, and an expired session is renewed.
    #expect(calls.count == names.count + (expires ? 2 : 1))
    #expect(Set(calls.compactMap(\.user)) == Set(names))
  }

  @Test func `only changes are fetched, deletions included`() async throws {
    try await world.run()
    let (org, admin) = (world.org, try world.user("admin"))
    let contacts = try ids("contacts")
    #expect(org.delete(nil, id: contacts[0], as: admin).errors == [])
    #expect(org.update("Contact", id: contacts[1], ["LastName": "New"], as: admin).errors == [])
    let asked = try await asked {
      let summary = try await world.run()
      let change = try #require(summary.snapshots.first?.soups.first { $0.soup == "contacts" })
      #expect(change.removed == 1)
      #expect(change.written == 1)
    }
    #expect(asked[.query] == nil)
    #expect(asked[.composite] == 2)
    #expect(asked[.priming] == 1)
    #expect(asked[.retrieve] == 1)
    #expect(try ids("contacts") == Array(contacts.dropFirst()))
  }

  @Test func `too many deletions are held until an operator allows the share`() async throws {
    let (ada, admin) = (try world.user("ada"), try world.user("admin"))
    for number in 0..<32 {
      let made = world.org.create("Account", ["Name": .string("more \(number)")], as: ada)
      #expect(made.errors == [])
    }
    try await world.run()
    let accounts = try ids("accounts")
    let lost = try accounts.filter {
      try world.record("Account", $0)["Name"]?.string?.hasPrefix("more") == true
    }.prefix(16)
    for id in lost { #expect(world.org.delete(nil, id: id, as: admin).errors == []) }
    func prime(_ words: String...) throws -> ChildProcess.Result {
      var variables = ProcessEnvironment.variables()
      variables.merge(world.variables) { $1 }
      return try ChildProcess.run(
        ChildRun.executable,
        ["prime", world.pipeline.file, "--data", world.root] + words, environment: variables)
    }
    let refused = try prime()
    #expect(refused.status == 3)
    #expect(String(decoding: refused.error, as: UTF8.self).contains("--max-deletes"))
    #expect(try prime("--max-deletes", "20%").status == 3)
    try await world.run(.pack)
    #expect(try ids("accounts") == accounts)
    let allowed = try prime("--max-deletes", "50%")
    #expect(allowed.status == 0, "\(String(decoding: allowed.error, as: UTF8.self))")
    #expect(try await world.run(.pack).bundles.count == 2)
    #expect(try ids("accounts").count == accounts.count - 16)
  }
}
