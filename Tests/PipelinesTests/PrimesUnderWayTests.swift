import TestSupport
import Testing

@Suite struct PrimesUnderWayTests {
  /// The number of users that wait for the org at the same time in a run of three.
  private func atOnce(jobs: Int, expecting most: Int, budget: Int? = nil) async throws -> Int {
    let world = try World()
    try world.rewrite("\"platforms\":", "\"limits\": { \"jobs\": \(jobs) }, \"platforms\":")
    let gate = RequestGate(most)
    // With a budget, the first user is read alone.
    world.server.faults.add(
      .kind(.priming), nth: budget == nil ? 1 : 2, times: .max,
      .pause(afterBytes: 0, until: { gate.pass() }))
    let summary = try await world.runAllAsWritten { $0.apiBudget = budget }
    #expect(summary.findings == [])
    #expect(summary.snapshots.count == 4)
    return gate.most
  }

  @Test func `more users are requested from the org than are processed at once`() async throws {
    #expect(try await atOnce(jobs: 2, expecting: 3) == 3)
  }

  @Test func `with one job, users are primed one after another`() async throws {
    #expect(try await atOnce(jobs: 1, expecting: 1) == 1)
  }

  @Test func `with few requests left, no more users are read than processed`() async throws {
    #expect(try await atOnce(jobs: 2, expecting: 2, budget: 500) == 2)
  }
}
