import Rehearsal
import TestSupport
import Testing

/// A run with many returns, counted again from the devices' stores and the org alone.
///
/// `make test` plays a small run, `make soak` a large one.
struct ManyReturnsTests {
  private static let returns = CampaignSize.returns.count
  private static let edits = CampaignSize.edits.count

  @Test func `a run's totals match its stores and org, with the fewest requests`() async throws {
    let directory = TemporaryDirectory("fleet")
    let fleet = try ReturnFleet(
      returns: Self.returns, edits: Self.edits, directory: directory.file("night"))
    try await fleet.prepare()
    try fleet.save(to: directory.file("kept"))
    let calm = try await Self.play(fleet, strikes: false)
    #expect(Double(calm) <= 1.1 * Double(fleet.leastCalls), "\(calm) of \(fleet.leastCalls)")
    try fleet.restore(from: directory.file("kept"))
    let struck = try await Self.play(fleet, strikes: true)
    // In a small run, the share of faults is larger.
    if Self.returns >= 100 {
      #expect(Double(struck) <= 1.1 * Double(fleet.leastCalls), "\(struck) of \(fleet.leastCalls)")
    }
    print("ManyReturnsTests: \(calm) and with faults \(struck) calls, least \(fleet.leastCalls)")
  }

  /// Reconciles, compares the totals, and returns the number of requests.
  private static func play(_ fleet: ReturnFleet, strikes: Bool) async throws -> Int {
    let org = try fleet.org()
    let server = try fleet.serve(org)
    defer { server.stop() }
    if strikes { fleet.strike(server) }
    let summary = try await fleet.run(server, [.reconcile], concurrency: 4)
    let calls = server.log.count
    let count = try fleet.recount(org)
    let told = summary.verdicts.reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }
    #expect(told == count.verdicts)
    #expect(told.values.reduce(0, +) == fleet.returns * fleet.edits)
    #expect(count.lost == 0 && count.doubled == 0)
    #expect(
      Set(["updated", "created", "conflict", "failed", "device conflict"]).isSubset(of: told.keys))
    return calls
  }
}
