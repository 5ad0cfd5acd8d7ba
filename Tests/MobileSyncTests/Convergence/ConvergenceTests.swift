import TestSupport
import Testing

/// Two devices and other users change the same records, syncs run in both directions, and every
/// kind of fault is injected.
///
/// In the end all stores must equal the org, and each edit must be in the org or in a report.
@Suite struct ConvergenceTests {
  static let seed: UInt64 = 20_261_121_000

  @Test func `two clients converge, and no edit is lost`() async throws {
    let tally = await Campaign(.convergence, from: Self.seed) { History(seed: $0) }.judge()
    // A resumed campaign has counted its earlier histories elsewhere.
    guard CampaignSize.convergence.count >= 120, SeedLog(.convergence) == nil else { return }
    for kind in Mishap.Kind.allCases {
      #expect(
        tally.count(kind, in: "mishaps") >= CampaignSize.convergence.count / 12, "\(kind.rawValue)")
    }
  }

  /// Whether one of the first sixty histories fails with the given message after a change.
  private func fails(
    _ isMeant: @escaping @Sendable (String) -> Bool,
    _ change: @escaping @Sendable (inout History) -> Void
  ) async -> Bool {
    let campaign = Campaign(
      first: Self.seed, count: 60, endsAt: { isMeant($0.violation.description) }
    ) { seed in
      var history = History(seed: seed)
      change(&history)
      return history
    }
    return await campaign.run().failures.contains { isMeant($0.violation.description) }
  }

  @Test func `without the overlap the clients diverge`() async {
    #expect(
      await fails({ $0.contains("lacks the record") || $0.contains("old values") }) {
        $0.setup.overlapSeconds = 0
      })
  }

  @Test func `without deduplication edits are reverted`() async {
    #expect(
      await fails({ $0.contains("no one else had changed") }) {
        $0.setup.deduplicates = false
        $0.setup.downMode = .overwrite
      })
  }
}
