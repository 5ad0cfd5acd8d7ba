import TestSupport
import Testing

/// The random histories with phones whose apps are built on the kits of `clients/`, which verify,
/// decide, install, apply deltas and return by themselves.
///
/// The rules of the histories hold as for other apps: no edit is lost, and no bundle or delta is
/// installed over one that is open. After a delta, a store has the elements of the bundle.
@Suite struct KitHistoriesTests {
  /// A history whose phones all have a kit, which counts installations and returns.
  static func history(_ seed: UInt64) -> History {
    var history = History(seed: seed)
    history.setup.kits = true
    for phone in history.setup.phones.indices { history.setup.phones[phone].marksInstall = true }
    return history
  }

  @Test func `no edit of a phone with a kit is lost or installed over`() async throws {
    let campaign = Campaign(.kits, from: 20_261_129_000) { Self.history($0) }
    let tally = await campaign.judge { await HistoriesTests.keep($0.history) }
    guard CampaignSize.kits.count >= 150, SeedLog(.kits) == nil else { return }
    for outcome in KitOutcome.allCases {
      #expect(tally.count(outcome, in: "decisions") > 0, "\(outcome.rawValue)")
    }
  }
}
