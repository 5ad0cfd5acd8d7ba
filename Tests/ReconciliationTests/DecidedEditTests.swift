import JSON
import Ledger
import MobileSync
import Reconciliation
import Testing

struct DecidedEditTests {
  static let old = "2026-01-01T00:00:00.000+0000"
  static let new = "2026-01-02T00:00:00.000Z"

  /// An edit, its verdict, and the fields that are sent.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let facts: Candidate
    let verdict: Verdict
    let action: SyncUpAction?
    let sent: Set<String>?
    init(
      _ name: String, _ facts: Candidate, _ verdict: Verdict, _ action: SyncUpAction? = nil,
      sent: Set<String>? = nil
    ) {
      (testDescription, self.facts, self.verdict) = (name, facts, verdict)
      (self.action, self.sent) = (action, sent)
    }

    init(_ name: String, _ facts: Candidate, sends sent: Set<String>) {
      self.init(name, facts, .updated, .update, sent: sent)
    }
  }

  private static func server(_ a: JSONValue = "server", _ b: JSONValue = "b") -> ServerRecord {
    .alive(date: new, fields: ["A": a, "B": b])
  }

  private static let later = server("later")
  private static let moved = server("server", "later")

  private static func facts(
    _ decision: Decision, _ operation: SyncOperation = .update, _ server: ServerRecord = server(),
    shown: JSONObject = ["A": "server"], verdict: Verdict = .conflict,
    base: JSONObject? = ["A": "a", "B": "b"], mode: MergeMode = .leaveIfChanged
  ) -> Candidate {
    var facts = Candidate(
      operation: operation, mode: mode, device: ["A": "device", "B": "b"], deviceDate: old,
      issued: base.map { MergeBase(modificationDate: old, fields: $0) }, server: server,
      listed: ["A", "B"])
    facts.edit.decision = PendingDecision(
      1, decision, by: "grace", verdict: verdict, shown: shown)
    return facts
  }

  /// A value is entered in a field that neither the device nor its base has.
  private static func beside(_ value: JSONValue, shown: JSONObject = ["A": "server"]) -> Candidate {
    var facts = facts(
      .set(["C": "x"], rest: .server), .update,
      .alive(date: new, fields: ["A": "server", "B": "b", "C": value]), shown: shown)
    facts.listed.append("C")
    return facts
  }

  /// An edit of a merged record that was decided to go into the surviving record.
  private static func merged(
    _ remaining: JSONObject? = ["A": "server"], into master: String = "m",
    shown: JSONObject = ["A": "server"]
  ) -> Candidate {
    var facts = facts(
      .device, .update, .merged(into: master), shown: shown, verdict: .mergedOnServer)
    facts.edit.decision?.otherID = "m"
    facts.remaining = remaining.map { (new, $0) }
    return facts
  }

  private static func deleted(_ decision: Decision, _ server: ServerRecord) -> Candidate {
    facts(decision, .update, server, shown: [:], verdict: .deletedOnServer)
  }

  /// An edit whose field A was removed from the field lists after the decision.
  private static func unlisted(
    _ decision: Decision, _ operation: SyncOperation = .update, _ server: ServerRecord = server(),
    shown: JSONObject = ["A": "server"], verdict: Verdict = .conflict
  ) -> Candidate {
    var facts = facts(decision, operation, server, shown: shown, verdict: verdict)
    facts.listed = ["B"]
    facts.edit.decision?.edited = ["A"]
    return facts
  }

  private static let fieldCases = [
    Case("the device's edit of an unlisted field", unlisted(.device), .conflict),
    Case(
      "an unlisted field that holds it already",
      unlisted(.device, .update, server("device"), shown: [:]), .notInFieldList),
    Case("the org's value of an unlisted field", unlisted(.server), .discarded),
    Case("a value for an unlisted field", unlisted(.set(["A": "x"], rest: .server)), .conflict),
    Case(
      "a value, and for the rest the device's, which is unlisted",
      unlisted(.set(["B": "x"], rest: .device)), .conflict),
    Case(
      "a value, and for the rest the org's, which is unlisted",
      unlisted(.set(["B": "x"], rest: .server)), sends: ["B"]),
    Case(
      "a deleted record whose edited field is unlisted",
      unlisted(.device, .update, .deleted, shown: [:], verdict: .deletedOnServer), .deletedOnServer),
    Case(
      "a value in a new record for an unlisted field",
      unlisted(.set(["A": "x"], rest: .device), .create, shown: [:], verdict: .failed), .failed),
    Case("a value that was entered", facts(.set(["A": "both"], rest: .device)), sends: ["A"]),
    Case("a value next to the edit", facts(.set(["B": "x"], rest: .device)), sends: ["A", "B"]),
    Case(
      "a value, and the org's for the rest", facts(.set(["B": "x"], rest: .server)), sends: ["B"]),
    Case(
      "the device's own value, entered over a value that was emptied in the org",
      facts(.set(["A": "device"], rest: .server), .update, server(.null), shown: ["A": .null]),
      sends: ["A"]),
    Case(
      "an empty value, entered where the org's is empty",
      facts(.set(["A": .null], rest: .server), .update, server(.null), shown: ["A": .null]),
      .alreadyInOrg),
    Case("a value that the org holds", facts(.set(["A": "server"], rest: .server)), .alreadyInOrg),
    Case(
      "a value over one that moved and was not shown",
      facts(.set(["B": "x"], rest: .server), .update, moved), .conflict),
    Case(
      "a value over one of a field that the device never had and was not shown",
      beside("theirs"), .conflict),
    Case(
      "a value over one of a field that the device never had, as shown",
      beside("theirs", shown: ["A": "server", "C": "theirs"]), sends: ["C"]),
    Case("a value into an empty field that the device never had", beside(.null), sends: ["C"]),
  ]

  private static let wholeCases = [
    Case("the device's edit, over what was shown", facts(.device), sends: ["A"]),
    Case("OVERWRITE sends no more than the edit", facts(.device, mode: .overwrite), sends: ["A"]),
    Case("a value that moved", facts(.device, .update, later), .conflict),
    Case(
      "a field next to the edit that moved and was shown",
      facts(.device, .update, moved, shown: ["A": "server", "B": "b2"]), .conflict),
    Case(
      "a field next to the edit that moved and was not shown", facts(.device, .update, moved),
      sends: ["A"]),
    Case("another user's value that was never shown", facts(.device, shown: [:]), .conflict),
    Case(
      "no one's value that was never shown", facts(.device, .update, server("a"), shown: [:]),
      sends: ["A"]),
    Case(
      "without a base every value has to be shown", facts(.device, .update, moved, base: nil),
      .conflict),
    Case(
      "without a base, all shown",
      facts(.device, .update, moved, shown: ["A": "server", "B": "later"], base: nil),
      sends: ["A", "B"]),
    Case(
      "what the org holds by now", facts(.device, .update, server("device"), shown: [:]),
      .alreadyInOrg), Case("the org's values, as shown", facts(.server), .discarded),
    Case("the org's values, moved", facts(.server, .update, later), .conflict),
    Case(
      "the org's values in a device conflict, changed by the other edit",
      facts(.server, .update, later, verdict: .deviceConflict), .discarded),
    Case("a deletion, as shown", facts(.device, .delete), .deleted, .delete),
    Case("a deletion of what was not shown", facts(.device, .delete, moved), .conflict),
    Case("a deletion of what is deleted", facts(.device, .delete, .deleted), .alreadyInOrg),
    Case("the org's record instead of a deletion", facts(.server, .delete), .discarded),
    Case("a deleted record, recreated", deleted(.device, .deleted), .created, .create),
    Case("a deleted record, left", deleted(.server, .deleted), .discarded),
    Case("a deleted record that was restored since", deleted(.device, server()), .conflict),
    Case(
      "a record that was deleted after the decision", facts(.device, .update, .deleted),
      .deletedOnServer),
    Case(
      "a merged record, left",
      facts(.server, .update, .merged(into: "m"), shown: [:], verdict: .mergedOnServer), .discarded),
    Case("into the merge survivor", merged(), sends: ["A"]),
    Case("into a merge survivor that changed", merged(["A": "later"]), .mergedOnServer),
    Case("into a merge survivor that is not visible", merged(nil), .mergedOnServer),
    Case("into another record than was shown", merged(into: "other"), .mergedOnServer),
    Case("into a record that was not shown", merged(shown: [:]), .mergedOnServer),
    Case("into a record that holds it already", merged(["A": "device"], shown: [:]), .alreadyInOrg),
    Case("a record that is hidden since", facts(.device, .update, .hidden), .notVisible),
    Case(
      "a record that cannot be read",
      facts(.device, .update, .unknown(code: "X", message: "no"), mode: .overwrite), .failed),
    Case("the rules decide again", facts(.retry), .conflict),
    Case("a new record", facts(.device, .create), .created, .create),
  ]

  @Test(arguments: fieldCases + wholeCases)
  func `a decision is valid for the values that were shown`(_ one: Case) {
    switch ThreeWayRule.step(one.facts) {
    case .settle(let settlement): #expect(settlement.verdict == one.verdict && one.action == nil)
    case .send(let action, let settlement, let date):
      #expect(settlement.verdict == one.verdict && action == one.action)
      #expect(date == (action == .create ? nil : Self.new))
    }
    if let sent = one.sent { #expect(ThreeWayRule.sentFields(one.facts) == sent) }
  }

  @Test func `the device's own value does not count as entered`() {
    for device in [JSONValue.null, "", "device", 1, true] {
      let field = FieldDifference(name: "A", base: nil, device: device, server: nil)
      #expect(field.entering(device).entered == nil)
      #expect(field.entering(device).sent == device)
      #expect(field.entering("other").entered == "other")
    }
    let absent = FieldDifference(name: "A", base: nil, device: nil, server: nil)
    #expect(absent.entering(.null).entered == .some(.null))
  }

  @Test func `changed values are reported with the org's current ones`() {
    guard
      case .settle(let settlement) = ThreeWayRule.step(
        Self.facts(.device, .update, Self.server("later")))
    else {
      Issue.record("it is sent")
      return
    }
    #expect(settlement.detail.fields.map(\.server) == ["later"])
    #expect(settlement.detail.message?.hasPrefix("grace decided to send the device's edit") == true)
  }

  @Test func `a field that is no longer sent is reported with the org's value`() {
    guard case .settle(let settlement) = ThreeWayRule.step(Self.unlisted(.device)) else {
      Issue.record("it is sent")
      return
    }
    #expect(settlement.detail.fields.map(\.name) == ["A"])
    #expect(settlement.detail.fields.map(\.server) == ["server"])
    #expect(settlement.detail.outside == [])
    #expect(settlement.detail.message?.contains("no sync up sends A any more") == true)
  }

  @Test func `a value that was not shown is shown when the decision is asked again`() {
    guard case .settle(let settlement) = ThreeWayRule.step(Self.beside("theirs")) else {
      Issue.record("it is sent")
      return
    }
    #expect(settlement.detail.fields.first { $0.name == "C" }?.server == "theirs")
  }
}
