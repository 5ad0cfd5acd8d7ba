import Ledger
import TestSupport
import Testing

/// The histories notice when a rule is missing: one fails without the rule that holds with it.
///
/// Each rule is left out from shortly before the seed that showed it last, which is no promise of the
/// generator's: a change of it may need other places to begin. `make soak` alone plays these; mutants prove
/// the same of single rules.
@Suite struct NeededRulesTests {
  @Test(
    .enabled(if: CampaignSize.neededRules.count > 0),
    arguments: [
      (LeftOut.Rule.laterEdits, History.Focus.retry, 80 as UInt64),
      (.unacknowledgedCreates, .mishap, 45),
      (.forks, .restore, 8), (.verdictsOfDeadRuns, .mishap, 0),
    ])
  func `without one of the rules a history fails that holds with it`(
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

  /// Whether a history that failed holds with all rules.
  private static func holds(_ history: History) async -> Bool {
    await LeftOut.$rules.withValue([]) { (try? await history.play()) != nil }
  }
}
