import System
import TestSupport
import Testing

/// Two users with three phones, which sync by themselves too, and an office work on the same records,
/// and everything that can go wrong on the way does: afterwards the org holds each edit exactly once,
/// or a report names it as open; every edit is told of once as new and until it is settled; each next
/// store is what its user sees.
///
/// A history is a list of steps from one seed (`History`), data alone. `World` plays it over a whole
/// pipeline: stores edited as an app edits them, an org over HTTP, runs in this process, some of them
/// killed (`Strike`). `OrgWatch` keeps whatever stood in the org, `Book` what was done on the phones;
/// what may become of an edit is written in `Book` from the design's words, and read from the reports
/// and the org alone.
@Suite struct HistoriesTests {
  static let seed: UInt64 = 20_261_122_000

  /// Seeds that have found a fault; `FoundByHistoriesTests` has what is left of them after shrinking.
  static let found: [UInt64] = [
    777_035, 93_000_044, 93_000_048, 700_100_057, 711_200_146, 20_261_122_121, 20_261_122_223,
    20_261_122_487, 20_261_123_189, 20_261_126_166, 20_261_126_176,
  ]

  /// A directory that `ATTACHE_HISTORIES_KEEP` names gets the pipelines' data of shrunk histories.
  static let keep = ProcessEnvironment.variable("ATTACHE_HISTORIES_KEEP")

  @Test func `the histories of make test hold steps of each family`() {
    let histories = (0..<UInt64(CampaignSize.histories.count(at: .test))).map {
      History(seed: Self.seed + $0)
    }
    let kinds = Set(
      histories.flatMap { history in
        history.setup.kinds.map(\.rawValue) + history.steps.flatMap { $0.kinds.map(\.rawValue) }
      })
    for family in History.families { #expect(kinds.contains(family.kind), "\(family)") }
  }

  @Test func `no edit of a phone is lost, doubled or passed over in silence`() async throws {
    let campaign = Campaign(.histories, from: Self.seed, found: Self.found) { History(seed: $0) }
    let tally = await campaign.judge { small in
      guard let keep = Self.keep else { return }
      // Several requests at once come in another order each time.
      for number in 0..<20 {
        let kept = "\(keep)/\(small.seed)-\(number)"
        if (try? await World.run(small.history, keeping: kept)) == nil { return }
      }
    }
    // A resumed soak has counted what it played before elsewhere.
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
