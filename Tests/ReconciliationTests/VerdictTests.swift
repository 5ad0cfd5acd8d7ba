import Ledger
import Reconciliation
import Testing

struct VerdictTests {
  @Test func `only what needs nothing more is settled, and only what passes by itself waits`() {
    #expect(
      Verdict.allCases.filter(\.isSettled) == [
        .created, .updated, .deleted, .unchanged, .alreadyInOrg, .notInFieldList, .superseded,
        .discarded, .undone, .partlyUndone, .notUndone,
      ])
    #expect(
      Verdict.allCases.filter(\.isWaiting) == [
        .blocked, .notConfigured, .notAttempted, .unconfirmed,
      ])
    #expect(Verdict.allCases.filter(\.isWritten) == [.created, .updated, .deleted])
  }

  @Test func `whatever wants a person is told from what only informs`() {
    #expect(
      Finding.Kind.allCases.filter { !$0.wantsPerson } == [.returnAccepted, .returnKnown, .warning])
  }
}
