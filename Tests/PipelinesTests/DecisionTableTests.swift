import Ledger
import Testing

/// Each way out that a verdict has is walked by a test over the whole pipeline.
@Suite struct DecisionTableTests {
  /// A verdict's way out.
  private struct Way: Hashable, CustomStringConvertible {
    var verdict: Verdict
    var kind: Decision.Kind
    var description: String { "\(verdict.rawValue): \(kind.option)" }
  }

  private static let decisions = "DecisionsTests"
  private static let writes = "DecisionsOnWritesTests"
  private static let ways = "DecisionWaysTests"

  /// The suite that closes an edit of a verdict by a way.
  private static let walked: [Verdict: [Decision.Kind: String]] = [
    .conflict: [.device: decisions, .server: decisions, .set: decisions, .again: ways],
    .clash: [
      .device: decisions, .server: decisions, .set: ways, .again: ways, .drop: ways,
    ],
    .deletedOnServer: [.device: decisions, .server: decisions, .again: ways],
    .mergedOnServer: [.device: decisions, .server: decisions, .set: decisions, .again: ways],
    .createdTwice: [.record: writes, .drop: writes, .again: ways],
    .notVisible: [.again: ways, .drop: decisions],
    .notConfigured: [.again: ways, .drop: writes],
    .blocked: [.again: ways, .set: ways, .drop: writes],
    .notPermitted: [.device: writes, .again: ways, .drop: writes],
    .held: [.device: writes, .again: ways, .drop: writes],
    .failed: [.set: writes, .record: ways, .again: ways, .drop: writes],
    .inDoubt: [.record: writes, .device: writes, .again: ways, .drop: writes],
  ]

  @Test func `each way out that is offered is walked, and no other`() {
    var offered: Set<Way> = []
    for verdict in Verdict.allCases {
      for operation in EditOperation.allCases {
        for hasRecord in [false, true] {
          let subject = DecisionRule.Subject(
            verdict: verdict, operation: operation, hasRecord: hasRecord)
          for kind in DecisionRule.possible(subject) {
            offered.insert(Way(verdict: verdict, kind: kind))
          }
        }
      }
    }
    let walked = Set(
      Self.walked.flatMap { verdict, kinds in kinds.keys.map { Way(verdict: verdict, kind: $0) } })
    #expect(offered.subtracting(walked) == [])
    #expect(walked.subtracting(offered) == [])
  }
}
