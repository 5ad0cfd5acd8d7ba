import JSON
import Ledger
import Reconciliation
import Testing

struct FieldKnowledgeTests {
  /// Adds a write of an edit on a day, with the details of its verdict.
  private func add(
    _ known: inout FieldKnowledge, edit: Int64, _ day: Int, sent: JSONObject,
    entered: JSONObject = [:], row: JSONObject, _ detail: OutcomeDetail = OutcomeDetail()
  ) {
    var write = OperationRow(
      editID: edit, action: .update, sobject: "Account", recordID: nil, payload: sent,
      expected: Settlement(.updated, detail))
    (write.serverDate, write.left) = ("2026-01-0\(day)T00:00:00.000+0000", sent)
    known.add(write, entered: entered, element: row, isSameRow: true)
  }

  @Test func `an operator's value is not the device's until the device sent it`() throws {
    var known = FieldKnowledge()
    add(&known, edit: 1, 1, sent: ["A": "typed"], entered: ["A": "typed"], row: ["A": "mine"])
    let first = try #require(known.result(isOfDevicesOwn: false))
    #expect(first.entered == ["A"])
    // An unchanged value on the device is not an edit.
    #expect(first.sent["A"] == "mine")
    add(&known, edit: 2, 2, sent: ["A": "later"], row: ["A": "later"])
    let second = try #require(known.result(isOfDevicesOwn: false))
    #expect(second.entered == [])
    #expect(second.sent["A"] == "later")
    #expect(second.given["A"] == nil)
  }

  @Test func `a device's issued value is the one before its edit's first write`() throws {
    func told(_ base: JSONValue, _ value: JSONValue) -> OutcomeDetail {
      var detail = OutcomeDetail()
      detail.fields = [FieldDifference(name: "A", base: base, device: value, server: base)]
      return detail
    }
    var known = FieldKnowledge()
    // It arrived late, and an operator has entered another value since: one edit, written twice.
    add(
      &known, edit: 1, 1, sent: ["A": "mine"], entered: ["A": "typed"], row: ["A": "mine"],
      told("issued", "mine"))
    add(
      &known, edit: 1, 2, sent: ["A": "typed"], entered: ["A": "typed"], row: ["A": "mine"],
      told("mine", "typed"))
    let both = try #require(known.result(isOfDevicesOwn: false))
    #expect(both.given["A"]?.before == "issued")
    // If the field has its issued value again, it is not an edit, and the operator's value stands.
    let choice = MergeBaseRule.choose(
      device: ["A": "issued"], deviceDate: "2025-12-31T00:00:00.000+0000", issued: nil,
      ownWrite: both, serverDate: both.date, serverFields: ["A": "typed"])
    #expect(choice.base?.fields["A"] == "issued" && choice.unseen.isEmpty)
  }
}
