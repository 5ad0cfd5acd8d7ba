import Ledger
import Testing

/// The histories notice when a rule is missing: one fails without the rule that holds with it.
///
/// Each rule is left out from shortly before the seed that showed it last, which is no promise of the
/// generator's: a change of it may need other places to begin.
@Suite struct NeededRulesTests {
  @Test(
    arguments: [
      (LeftOut.Rule.laterEdits, History.Focus.retry, 80 as UInt64),
      (.unacknowledgedCreates, .mishap, 45),
      (.forks, .restore, 8), (.verdictsOfDeadRuns, .mishap, 0),
    ])
  func `without one of the rules a history fails that holds with it`(
    _ rule: LeftOut.Rule, _ focus: History.Focus, after skipped: UInt64
  ) async {
    let found = await LeftOut.$rules.withValue([rule]) {
      await Campaign(
        first: HistoriesTests.seed &+ skipped, count: 200, focus: focus,
        endsAt: { await Self.holds($0) }
      ).run()
    }
    var shown = 0
    for failure in found.failures where await Self.holds(failure) {
      shown += 1
      print("without \(rule.rawValue), seed \(failure.seed): \(failure.violation)")
    }
    #expect(shown > 0)
  }

  /// Whether a history that failed holds with all rules.
  private static func holds(_ failure: Campaign.Failure) async -> Bool {
    await LeftOut.$rules.withValue([]) {
      if case .success = await Campaign.attempt(failure.history) { true } else { false }
    }
  }
}
