import System
import TestSupport
import Testing

/// Two users with three phones, whose apps also sync by themselves, and other users of the org work
/// on the same records while everything that can fail does.
///
/// Afterwards the org has each edit exactly once, or a report lists it as open. Every edit is
/// reported once as new, and until it is resolved. Each next store has what its user sees.
///
/// A history is a list of steps drawn from one seed (`History`), as plain data. `World` plays it
/// with a whole pipeline: stores edited as an app edits them, an org over HTTP, and runs in this
/// process, some of which are killed (`Strike`). `OrgWatch` records every value in the org, and
/// `Book` what was done on the phones. `Book` states the permitted outcomes according to the
/// design, and checks them in the reports and the org alone.
@Suite struct HistoriesTests {
  static let seed: UInt64 = 20_261_122_000

  /// Seeds that have found a fault with steps of the sixth stream.
  static let foundLater: [UInt64] = [434_000_001]

  /// Seeds that have found a fault before there was a sixth stream, whose histories stay as they
  /// were; `FoundByHistoriesTests` has their reduced forms.
  static let found: [UInt64] = [
    777_035, 93_000_044, 93_000_048, 538_900_150, 552_100_035, 649_300_058, 677_100_087,
    700_100_057, 711_200_146, 731_900_242, 881_234_025, 881_234_054, 903_700_125, 903_700_180,
    20_261_122_121, 20_261_122_223, 20_261_122_487, 20_261_123_189, 20_261_126_166, 20_261_126_176,
  ]

  /// Plays a reduced history again until it fails, and keeps its pipeline's data in the directory
  /// named by `ATTACHE_HISTORIES_KEEP`.
  static func keep(_ small: History) async {
    guard let directory = ProcessEnvironment.variable("ATTACHE_HISTORIES_KEEP") else { return }
    // Concurrent requests arrive in another order each time.
    for number in 0..<20 {
      let kept = "\(directory)/\(small.seed)-\(number)"
      if (try? await World.run(small, keeping: kept)) == nil { return }
    }
  }

  @Test func `the histories of make test contain steps of each family`() {
    let histories = (0..<UInt64(CampaignSize.histories.count(at: .test))).map {
      History(seed: Self.seed + $0)
    }
    let kinds = Set(
      histories.flatMap { history in
        history.setup.kinds.map(\.rawValue) + history.steps.flatMap { $0.kinds.map(\.rawValue) }
      })
    for family in History.families { #expect(family.kinds.isSubset(of: kinds), "\(family)") }
  }

  @Test func `no edit of a phone is lost, duplicated or left unreported`() async throws {
    let campaign = Campaign(
      .histories, from: Self.seed, found: Self.found + Self.foundLater
    ) { History(seed: $0, isKept: Self.found.contains($0)) }
    let tally = await campaign.judge { await Self.keep($0.history) }
    // A resumed soak test has counted its earlier histories elsewhere.
    guard CampaignSize.histories.count >= 150, SeedLog(.histories) == nil else { return }
    let least = CampaignSize.histories.count / 150
    func expect<K: RawRepresentable<String> & CaseIterable>(_ kinds: K.Type, _ group: String) {
      for kind in K.allCases where !History.isLeftOut(kind.rawValue) {
        #expect(tally.count(kind, in: group) >= least, "\(kind.rawValue)")
      }
    }
    expect(Step.Kind.self, "steps")
    expect(HistorySetup.Kind.self, "setups")
    expect(Mishap.Kind.self, "mishaps")
  }
}
