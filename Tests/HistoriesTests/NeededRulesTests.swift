import Ledger
import TestSupport
import Testing

/// The histories notice a missing rule: without the rule, one fails that passes with it.
///
/// Each rule is left out starting shortly before the seed that last showed it. This depends on the
/// generator: a change of it may require other starting points. Only `make soak` plays these;
/// mutants do the same for single rules.
@Suite struct NeededRulesTests {
  @Test(
    .enabled(if: CampaignSize.neededRules.count > 0),
    arguments: [
      (LeftOut.Rule.laterEdits, History.Focus.retry, 80 as UInt64),
      (.unacknowledgedCreates, .mishap, 45),
      (.forks, .restore, 8), (.verdictsOfDeadRuns, .mishap, 0),
    ])
  func `without one of the rules a history fails that passes with it`(
    _ rule: LeftOut.Rule, _ focus: History.Focus, after skipped: UInt64
  ) async {
    let campaign = Campaign(
      first: HistoriesTests.seed &+ skipped, count: CampaignSize.neededRules.count,
      endsAt: { await Self.holds($0.history) }
    ) { History(seed: $0, focus: focus) }
    let found = await LeftOut.$rules.withValue([rule]) { await campaign.run() }
    var shown = 0
    for failure in found.failures where await Self.holds(failure.history) { shown += 1 }
    #expect(shown > 0)
  }

  /// Whether a failed history passes with all rules.
  private static func holds(_ history: History) async -> Bool {
    await LeftOut.$rules.withValue([]) { (try? await history.play()) != nil }
  }
}
