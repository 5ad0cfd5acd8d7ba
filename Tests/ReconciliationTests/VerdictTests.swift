import Ledger
import Testing

struct VerdictTests {
  @Test func `only final verdicts are resolved, and only temporary ones wait`() {
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

  @Test func `verdicts that need an operator are separate from those that only inform`() {
    #expect(
      Finding.Kind.allCases.filter { !$0.wantsPerson } == [.returnAccepted, .returnKnown, .warning])
  }
}
