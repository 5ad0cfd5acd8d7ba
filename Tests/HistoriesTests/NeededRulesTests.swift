import Reconciliation
import Testing

/// The histories notice when a rule is missing: one fails without the rule that holds with it.
@Suite struct NeededRulesTests {
  @Test(
    arguments: [
      (LeftOut.Rule.forks, History.Focus.restore), (.verdictsOfDeadRuns, .mishap),
    ])
  func `without one of the rules a history fails that holds with it`(
    _ rule: LeftOut.Rule, _ focus: History.Focus
  ) async {
    let found = await LeftOut.$rules.withValue([rule]) {
      await Campaign(
        first: HistoriesTests.seed, count: 200, focus: focus, endsAt: { await Self.holds($0) }
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
