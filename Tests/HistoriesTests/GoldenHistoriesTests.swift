import System
import TestSupport
import Testing

/// Histories whose outcomes, writes and reports a refactoring must leave as they are.
///
/// The golden file has the digests of 300 seeds, which are the same in every round of `make soak`.
/// `ATTACHE_UPDATE_GOLDEN` writes it again.
@Suite struct GoldenHistoriesTests {
  private static let isUpdated = ProcessEnvironment.variable("ATTACHE_UPDATE_GOLDEN") != nil

  /// The seeds to play: the first ones, or those from `SEED` on; by default all for an update.
  private static var seeds: [UInt64] {
    let size = CampaignSize.golden
    let isWhole = isUpdated && ProcessEnvironment.variable(size.rawValue) == nil
    let count = isWhole ? size.count(at: .soak) : size.count
    let first = ProcessEnvironment.variable("SEED").flatMap { UInt64($0) } ?? 0
    return Array(GoldenFile.seeds.filter { $0 >= first }.prefix(count))
  }

  @Test func `what is random in a text is named in the order of its first occurrence`() {
    let (one, other) = (String(repeating: "0a", count: 32), String(repeating: "b1", count: 16))
    var names = GoldenNames(
      Array(
        """
        run 20260131T010033Z-10 at 2026-01-31T01:00:33.000Z read \(other), \(one) and \(other)
        <e:SessionHeader><sessionId>00D!a.b</sessionId> \(String(repeating: "x", count: 400)) p0-3
        """.utf8))
    let plain = """
      run run-10 at 2026-01-31T01:00:33.000Z read digest-1, digest-2 and digest-1
      <e:SessionHeader><sessionId></sessionId> 400 x p0-3
      """
    #expect(names.plain() == plain)
  }

  @Test func `a fault of a golden history occurs at a write or before all reads`() {
    for seed in GoldenFile.seeds.prefix(60) {
      let history = GoldenHistory(seed: seed, expected: nil) { _ in }.history
      #expect(history.setup.concurrency == 1)
      for case .run(_, let mishap?) in history.steps {
        switch mishap.kind {
        case .lostAnswer, .lostRequest, .lateRequest, .killAtWrite: #expect(mishap.nth <= 3)
        case .killAtEvent: #expect(mishap.nth <= 2)
        case .killAtRequest, .unavailable: Issue.record("seed \(seed): \(mishap)")
        }
      }
    }
  }

  @Test(.disabled(if: isUpdated))
  func `the golden file has each seed with a digest of each part`() throws {
    let digests = try GoldenFile().digests
    #expect(digests.keys.sorted() == GoldenFile.seeds)
    let isWhole = digests.values.allSatisfy { parts in
      parts.count == GoldenPart.allCases.count
        && parts.values.allSatisfy { $0.count == 16 && $0.allSatisfy(\.isHexDigit) }
    }
    #expect(isWhole)
  }

  @Test(.enabled(if: History.families.count == History.Family.allCases.count))
  func `each history has the outcomes, writes and reports of the golden file`() async throws {
    let golden = try GoldenFile()
    let found = Locked(golden)
    let seeds = Self.seeds
    let campaign = Campaign(.golden, seeds: seeds) { seed in
      let expected = Self.isUpdated ? nil : golden.digests[seed] ?? [:]
      return GoldenHistory(seed: seed, expected: expected) { digests in
        found.withLock { $0.digests[seed] = digests }
      }
    }
    let outcome = await campaign.run()
    print("\(CampaignSize.golden.rawValue): \(seeds.count) histories")
    for failure in outcome.failures.sorted(by: { $0.seed < $1.seed }).prefix(10) {
      Issue.record("seed \(failure.seed) (of \(outcome.failures.count)): \(failure.violation)")
    }
    if Self.isUpdated { try found.withLock { try $0.write() } }
  }
}
