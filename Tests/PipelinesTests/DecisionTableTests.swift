import Ledger
import Testing

@Suite struct DecisionTableTests {
  @Test(arguments: DecisionRow.Setting.allCases) func `each edit ends as its row says`(
    _ setting: DecisionRow.Setting
  ) async throws { try await DecisionPlay(setting).play() }

  @Test func `exactly the decisions that a verdict offers resolve its edits`() {
    var offered: Set<DecisionRow.Way> = []
    for verdict in Verdict.allCases {
      for operation in EditOperation.allCases {
        for hasRecord in [false, true] {
          let subject = DecisionRule.Subject(
            verdict: verdict, operation: operation, hasRecord: hasRecord)
          offered.formUnion(
            DecisionRule.possible(subject).map { .init(verdict: verdict, kind: $0) })
        }
      }
    }
    #expect(Set(DecisionTable.rows.flatMap(\.ways)) == offered)
  }
}
