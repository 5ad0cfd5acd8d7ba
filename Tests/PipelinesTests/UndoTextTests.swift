import Ledger
import Pipelines
import Reports
import Testing

@Suite struct UndoTextTests {
  private func line(_ verdict: Verdict, _ detail: OutcomeDetail, _ mask: ReportMask) -> String {
    UndoText.line(
      PlannedOutcome(
        editID: 7, snapshotID: "ada", soup: SoupKey(store: StoreKey(text: ""), soup: "accounts"),
        sobject: "Account", recordID: "001", action: .update, verdict: verdict, detail: detail),
      mask)
  }

  @Test("a message of the org may quote a masked value, so a mask hides it") func masksWords() {
    var detail = OutcomeDetail.because("no account has the number 4711")
    detail.code = "INVALID_FIELD"
    for verdict in [Verdict.notUndone, .failed] {
      #expect(line(verdict, detail, ReportMask()).contains("4711"))
      #expect(!line(verdict, detail, ReportMask(showValues: false)).contains("4711"))
      #expect(!line(verdict, detail, ReportMask(mask: ["Number__c"])).contains("4711"))
    }
  }

  @Test("a mask does not hide why a change was not undone") func tellsReason() {
    let detail = OutcomeDetail.because("the record has been changed in the org")
    for verdict in [Verdict.notUndone, .notAttempted] {
      #expect(line(verdict, detail, ReportMask(mask: ["Email"])).contains("changed in the org"))
    }
  }
}
