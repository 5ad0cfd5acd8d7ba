import JSON
import Pipelines
import Testing

@Suite struct DryRunForecastTests {
  private func look(_ world: World, _ stages: Stage...) async throws -> RunSummary {
    let stages = stages.isEmpty ? Set(Stage.allCases) : Set(stages)
    return try await world.runAsWritten(stages) { $0.isDryRun = true }
  }

  private func expected(_ summary: RunSummary, _ stage: String) throws -> JSONValue {
    try #require(summary.json["expected"]?.array?.first { $0["stage"]?.string == stage })
  }

  private func number(_ value: JSONValue, _ name: String) throws -> Int {
    Int(try #require(value[name]?.int))
  }

  private func products(_ world: World) throws -> Int {
    let admin = try world.user("admin")
    let page = try world.org.query("SELECT Id FROM Product2 WHERE IsActive = true", as: admin)
    return try #require(try JSONValue(parsing: page.records).array).count
  }

  @Test func `before the first run, the forecast contains what can be counted`() async throws {
    let world = try World()
    let count = try products(world)
    let summary = try await look(world)
    let prime = try expected(summary, "prime")
    #expect(try number(prime, "records") == count)
    #expect(prime["atLeast"] == true)
    #expect(prime["bytes"] == .null)
    #expect(prime["last"] == .null)
    #expect(
      summary.plan.contains(
        "prime: syncDownProducts into products for the global store: \(count) records to read"))
    #expect(summary.plan.contains { $0.hasPrefix("prime: at least ") })
    let night = try await world.runAllAsWritten()
    let spent = try #require(night.costs.first { $0.stage == .prime })
    #expect(try number(prime, "requests") <= spent.requests)
    #expect(spent.bytes > 0)
    #expect(spent.records == night.snapshots.flatMap(\.soups).reduce(0) { $0 + $1.fetched })
  }

  @Test func `an unchanged run is forecast like the last, and changes are counted`() async throws {
    let world = try World()
    for _ in 0..<2 { _ = try await world.runAllAsWritten() }
    let admin = try world.user("admin")
    for number in 0..<30 {
      let made = world.org.create(
        "Product2", ["Name": .string("new \(number)"), "IsActive": true], as: admin)
      #expect(made.errors == [])
    }
    let before = world.server.log.count
    let summary = try await look(world, .prime, .pack)
    // One count query, as the user who fetches the countable records.
    let log = world.server.log.entries(after: before)
    #expect(log.count { $0.soql?.lowercased().contains("count()") == true } <= 1)
    #expect(log.allSatisfy { $0.kind != .priming && $0.kind != .retrieve })
    let prime = try expected(summary, "prime")
    #expect(prime["atLeast"] == false)
    let night = try await world.runAsWritten([.prime, .pack])
    let spent = try #require(night.costs.first { $0.stage == .prime })
    #expect(try number(prime, "records") == spent.records)
    #expect(abs(try number(prime, "requests") - spent.requests) <= 1)
    let bytes = try number(prime, "bytes")
    #expect(bytes > spent.bytes / 2 && bytes < spent.bytes * 2, "\(bytes) of \(spent.bytes)")
    let last = try #require(prime["last"])
    #expect(last["seconds"]?.double != nil)
    #expect(
      summary.plan.contains {
        $0.hasPrefix("prime: for comparison, the last run: ") && $0.contains(" s (run ")
      })
  }

  @Test func `a user who was never primed makes the forecast a lower bound`() async throws {
    let world = try World()
    _ = try await world.runAllAsWritten { $0.users = ["ada@example.com"] }
    let prime = try expected(try await look(world), "prime")
    #expect(prime["atLeast"] == true)
    #expect(try number(try #require(prime["last"]), "records") > 0)
  }

  @Test func `the forecast of open edits includes the requests of their writes`() async throws {
    let world = try World()
    try await world.runFieldDay()
    let summary = try await look(world)
    let reconcile = try expected(summary, "reconcile")
    #expect(try number(reconcile, "records") == summary.planned.count)
    #expect(summary.plan.contains { $0.hasPrefix("reconcile: about ") })
    let night = try await world.run()
    let spent = try #require(night.costs.first { $0.stage == .reconcile })
    #expect(abs(try number(reconcile, "requests") - spent.requests) <= 2)
  }

  @Test func `a user who cannot be counted is reported, and the dry run continues`() async throws {
    let world = try World()
    world.server.faults.add(
      .init(kind: .composite, user: "attache@example.com"), nth: 2, times: 1000,
      .status(500, code: "UNKNOWN_EXCEPTION"))
    let summary = try await look(world)
    #expect(summary.warnings.count == 1)
    #expect(summary.warnings.first?.contains("records could not be counted") == true)
    #expect(try expected(summary, "prime")["atLeast"] == true)
  }
}
