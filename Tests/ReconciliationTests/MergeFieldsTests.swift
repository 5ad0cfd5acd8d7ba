import JSON
import Ledger
import MobileSync
import Reconciliation
import Testing

struct MergeFieldsTests {
  private static let old = "2026-01-01T00:00:00.000+0000"
  private static let new = "2026-01-02T00:00:00.000Z"

  private static func facts(
    _ server: JSONObject, _ operation: SyncOperation = .update, mode: MergeMode = .leaveIfChanged,
    base: JSONObject? = ["A": "a", "B": "b"], device: JSONObject = ["A": "device", "B": "b"],
    date: String? = new
  ) -> Candidate {
    var facts = Candidate(
      operation: operation, mode: mode, device: device, deviceDate: old,
      issued: base.map { MergeBase(modificationDate: old, fields: $0) },
      server: .alive(date: date, fields: server), listed: ["A", "B", "C"])
    facts.mergesFields = true
    return facts
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let facts: Candidate
    let expected: String
    init(_ name: String, _ facts: Candidate, _ expected: String) {
      (testDescription, self.facts, self.expected) = (name, facts, expected)
    }
  }

  static let sent = "send update of A if unmodified since \(new), updated"

  static let cases: [Case] = [
    Case("another field changed", facts(["A": "a", "B": "office"]), sent),
    Case("an unlisted field changed", facts(["A": "a", "B": "b"]), sent),
    Case("the same field changed", facts(["A": "office", "B": "b"]), "conflict"),
    Case("both came to one value", facts(["A": "device", "B": "office"]), "already in org"),
    Case("a value that the sender may not read", facts(["B": "office"]), "conflict"),
    Case("no base", facts(["A": "a", "B": "office"], base: nil), "conflict"),
    Case(
      "a base that does not have the field",
      facts(["A": "a", "B": "office"], base: ["B": "b"]), "conflict"),
    Case("a record without a date", facts(["A": "a", "B": "office"], date: nil), "conflict"),
    Case("a deletion", facts(["A": "a", "B": "office"], .delete), "conflict"),
    Case(
      "text that was rewritten, and changed by another user",
      facts(["A": "2", "B": "b"], base: ["A": 1, "B": "b"], device: ["A": "1.0", "B": "b"]),
      "conflict"),
  ]

  @Test(arguments: cases) func `no other user's change is overwritten`(_ one: Case) {
    switch ThreeWayRule.step(one.facts) {
    case .settle(let settlement): #expect(settlement.verdict.rawValue == one.expected)
    case .send(let action, let settlement, let date):
      let condition = date.map { " if unmodified since \($0)" } ?? ""
      let fields = (ThreeWayRule.sentFields(one.facts) ?? []).sorted().joined(separator: ",")
      #expect(
        "send \(action.rawValue) of \(fields)\(condition), \(settlement.verdict.rawValue)"
          == one.expected)
    }
  }
}
