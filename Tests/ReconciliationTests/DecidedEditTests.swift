import JSON
import Ledger
import MobileSync
import Reconciliation
import Testing

/// What becomes of an edit that somebody has decided about, by what the org holds.
struct DecidedEditTests {
  static let old = "2026-01-01T00:00:00.000+0000"
  static let new = "2026-01-02T00:00:00.000Z"

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let facts: EditFacts
    let expected: String
    var sent: Set<String>?
    var testDescription: String { name }
  }

  private static func server(_ a: JSONValue = "server", _ b: JSONValue = "b") -> ServerRecord {
    .alive(date: new, fields: ["A": a, "B": b])
  }

  private static func facts(
    _ decision: Decision, _ operation: SyncOperation = .update, _ server: ServerRecord = server(),
    shown: JSONObject = ["A": "server"], verdict: Verdict = .conflict,
    base: JSONObject? = ["A": "a", "B": "b"], mode: MergeMode = .leaveIfChanged
  ) -> EditFacts {
    var facts = EditFacts(
      operation: operation, mode: mode, device: ["A": "device", "B": "b"], deviceDate: old,
      issued: base.map { MergeBase(modificationDate: old, fields: $0) }, server: server,
      listed: ["A", "B"])
    facts.decision = PendingDecision(decision, by: "grace", verdict: verdict, shown: shown)
    return facts
  }

  /// A value is entered in a field that neither the device nor its base has.
  private static func beside(
    _ value: JSONValue, shown: JSONObject = ["A": "server"]
  ) -> EditFacts {
    var facts = facts(
      .set(["C": "x"], rest: .server), .update,
      .alive(date: new, fields: ["A": "server", "B": "b", "C": value]), shown: shown)
    facts.listed.append("C")
    return facts
  }

  /// An edit of a record that was merged, decided to go into the one that remained.
  private static func merged(
    _ remaining: JSONObject? = ["A": "server"], into master: String = "m",
    shown: JSONObject = ["A": "server"]
  ) -> EditFacts {
    var facts = facts(
      .device, .update, .merged(into: master), shown: shown, verdict: .mergedOnServer)
    facts.decision?.otherID = "m"
    facts.remaining = remaining.map { RemainingRecord(date: new, fields: $0) }
    return facts
  }

  /// An edit whose field A left the lists after it was decided.
  private static func unlisted(
    _ decision: Decision, _ operation: SyncOperation = .update, _ server: ServerRecord = server(),
    shown: JSONObject = ["A": "server"], verdict: Verdict = .conflict
  ) -> EditFacts {
    var facts = facts(decision, operation, server, shown: shown, verdict: verdict)
    facts.listed = ["B"]
    facts.decision?.edited = ["A"]
    return facts
  }

  static let cases: [Case] = [
    Case(
      name: "the device's edit, of a field that is not sent any more",
      facts: unlisted(.device), expected: "conflict"),
    Case(
      name: "a field that is not sent any more, and holds it already",
      facts: unlisted(.device, .update, server("device"), shown: [:]), expected: "filtered"),
    Case(
      name: "the org's value of a field that is not sent any more",
      facts: unlisted(.server), expected: "dropped"),
    Case(
      name: "a value for a field that is not sent any more",
      facts: unlisted(.set(["A": "x"], rest: .server)), expected: "conflict"),
    Case(
      name: "a value, and for the rest the device's, which is not sent any more",
      facts: unlisted(.set(["B": "x"], rest: .device)), expected: "conflict"),
    Case(
      name: "a value, and for the rest the org's, which is not sent any more",
      facts: unlisted(.set(["B": "x"], rest: .server)),
      expected: "send update if unmodified since \(new), updated", sent: ["B"]),
    Case(
      name: "a deleted record, of which what was edited is not sent any more",
      facts: unlisted(.device, .update, .deleted, shown: [:], verdict: .deletedOnServer),
      expected: "deleted on server"),
    Case(
      name: "a value in a new record for a field that is not sent any more",
      facts: unlisted(.set(["A": "x"], rest: .device), .create, shown: [:], verdict: .failed),
      expected: "failed"),
    Case(
      name: "the device's edit, over what was shown", facts: facts(.device),
      expected: "send update if unmodified since \(new), updated", sent: ["A"]),
    Case(
      name: "under OVERWRITE no more than the edit is sent",
      facts: facts(.device, mode: .overwrite),
      expected: "send update if unmodified since \(new), updated", sent: ["A"]),
    Case(
      name: "a value that moved", facts: facts(.device, .update, server("later")),
      expected: "conflict"),
    Case(
      name: "a field beside the edit that moved and was shown",
      facts: facts(.device, .update, server("server", "later"), shown: ["A": "server", "B": "b2"]),
      expected: "conflict"),
    Case(
      name: "a field beside the edit that moved and was not shown",
      facts: facts(.device, .update, server("server", "later")),
      expected: "send update if unmodified since \(new), updated", sent: ["A"]),
    Case(
      name: "somebody's value that was never shown", facts: facts(.device, shown: [:]),
      expected: "conflict"),
    Case(
      name: "nobody's value that was never shown",
      facts: facts(.device, .update, server("a"), shown: [:]),
      expected: "send update if unmodified since \(new), updated", sent: ["A"]),
    Case(
      name: "without a base every value has to be shown",
      facts: facts(.device, .update, server("server", "later"), base: nil), expected: "conflict"),
    Case(
      name: "without a base, all shown",
      facts: facts(
        .device, .update, server("server", "later"), shown: ["A": "server", "B": "later"],
        base: nil), expected: "send update if unmodified since \(new), updated", sent: ["A", "B"]),
    Case(
      name: "what the org holds by now",
      facts: facts(.device, .update, server("device"), shown: [:]),
      expected: "already there"),
    Case(name: "the org's values, as shown", facts: facts(.server), expected: "dropped"),
    Case(
      name: "the org's values, moved", facts: facts(.server, .update, server("later")),
      expected: "conflict"),
    Case(
      name: "the org's values in a clash, moved by the other edit",
      facts: facts(.server, .update, server("later"), verdict: .clash), expected: "dropped"),
    Case(
      name: "a value that was entered", facts: facts(.set(["A": "both"], rest: .device)),
      expected: "send update if unmodified since \(new), updated", sent: ["A"]),
    Case(
      name: "a value beside the edit", facts: facts(.set(["B": "x"], rest: .device)),
      expected: "send update if unmodified since \(new), updated", sent: ["A", "B"]),
    Case(
      name: "a value, and the org's for the rest", facts: facts(.set(["B": "x"], rest: .server)),
      expected: "send update if unmodified since \(new), updated", sent: ["B"]),
    Case(
      name: "the device's own value, entered over a value that was emptied in the org",
      facts: facts(
        .set(["A": "device"], rest: .server), .update, server(.null), shown: ["A": .null]),
      expected: "send update if unmodified since \(new), updated", sent: ["A"]),
    Case(
      name: "an empty value, entered where the org's is empty",
      facts: facts(.set(["A": .null], rest: .server), .update, server(.null), shown: ["A": .null]),
      expected: "already there"),
    Case(
      name: "a value that the org holds", facts: facts(.set(["A": "server"], rest: .server)),
      expected: "already there"),
    Case(
      name: "a value over one that moved and was not shown",
      facts: facts(.set(["B": "x"], rest: .server), .update, server("server", "later")),
      expected: "conflict"),
    Case(
      name: "a value over one of a field that the device never had and nobody was shown",
      facts: beside("theirs"), expected: "conflict"),
    Case(
      name: "a value over one of a field that the device never had, as shown",
      facts: beside("theirs", shown: ["A": "server", "C": "theirs"]),
      expected: "send update if unmodified since \(new), updated", sent: ["C"]),
    Case(
      name: "a value into an empty field that the device never had", facts: beside(.null),
      expected: "send update if unmodified since \(new), updated", sent: ["C"]),
    Case(
      name: "a deletion, as shown", facts: facts(.device, .delete, shown: ["A": "server"]),
      expected: "send delete if unmodified since \(new), deleted"),
    Case(
      name: "a deletion of what was not shown",
      facts: facts(.device, .delete, server("server", "later")), expected: "conflict"),
    Case(
      name: "a deletion of what is deleted", facts: facts(.device, .delete, .deleted),
      expected: "already there"),
    Case(
      name: "the org's record instead of a deletion", facts: facts(.server, .delete),
      expected: "dropped"),
    Case(
      name: "a deleted record made anew",
      facts: facts(.device, .update, .deleted, shown: [:], verdict: .deletedOnServer),
      expected: "send create, created"),
    Case(
      name: "a record that was deleted after the decision",
      facts: facts(.device, .update, .deleted),
      expected: "deleted on server"),
    Case(
      name: "a deleted record left",
      facts: facts(.server, .update, .deleted, shown: [:], verdict: .deletedOnServer),
      expected: "dropped"),
    Case(
      name: "a deleted record that was restored since",
      facts: facts(.device, .update, server(), shown: [:], verdict: .deletedOnServer),
      expected: "conflict"),
    Case(
      name: "a merged record left",
      facts: facts(
        .server, .update, .merged(into: "m"), shown: [:], verdict: .mergedOnServer),
      expected: "dropped"),
    Case(
      name: "into the record that remained of a merge", facts: merged(),
      expected: "send update if unmodified since \(new), updated", sent: ["A"]),
    Case(
      name: "into a record that remained and moved", facts: merged(["A": "later"]),
      expected: "merged on server"),
    Case(
      name: "into a record that remained and is not seen", facts: merged(nil),
      expected: "merged on server"),
    Case(
      name: "into another record than the one that was shown", facts: merged(into: "other"),
      expected: "merged on server"),
    Case(
      name: "into a record that remained and was not shown", facts: merged(shown: [:]),
      expected: "merged on server"),
    Case(
      name: "into a record that holds it already", facts: merged(["A": "device"], shown: [:]),
      expected: "already there"),
    Case(
      name: "a record that is hidden since", facts: facts(.device, .update, .hidden),
      expected: "not visible"),
    Case(
      name: "a record that cannot be read",
      facts: facts(.device, .update, .unknown(code: "X", message: "no"), mode: .overwrite),
      expected: "failed"),
    Case(name: "the rules once more", facts: facts(.again), expected: "conflict"),
    Case(
      name: "a create goes out", facts: facts(.device, .create), expected: "send create, created"),
  ]

  @Test(arguments: cases)
  func `what was decided holds for what was shown`(_ one: Case) {
    let step = ThreeWayRule.step(one.facts)
    switch step {
    case .settle(let settlement): #expect(settlement.verdict.rawValue == one.expected)
    case .send(let action, let settlement, let date):
      let condition = date.map { " if unmodified since \($0)" } ?? ""
      #expect("send \(action.rawValue)\(condition), \(settlement.verdict.rawValue)" == one.expected)
    }
    if let sent = one.sent { #expect(ThreeWayRule.sentFields(one.facts) == sent) }
  }

  @Test func `the device's own value is not a value that was entered in its place`() {
    for device in [JSONValue.null, "", "device", 1, true] {
      let field = FieldDifference(name: "A", base: nil, device: device, server: nil)
      #expect(field.entering(device).entered == nil)
      #expect(field.entering(device).sent == device)
      #expect(field.entering("other").entered == "other")
    }
    let absent = FieldDifference(name: "A", base: nil, device: nil, server: nil)
    #expect(absent.entering(.null).entered == .some(.null))
  }

  @Test func `what moved is told with the org's values of now`() {
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

  @Test func `a field that is not sent any more is told with the org's value`() {
    guard case .settle(let settlement) = ThreeWayRule.step(Self.unlisted(.device)) else {
      Issue.record("it is sent")
      return
    }
    #expect(settlement.detail.fields.map(\.name) == ["A"])
    #expect(settlement.detail.fields.map(\.server) == ["server"])
    #expect(settlement.detail.outside == [])
    #expect(settlement.detail.message?.contains("no sync up sends A any more") == true)
  }

  @Test func `a value that nobody was shown is shown with the question`() {
    guard case .settle(let settlement) = ThreeWayRule.step(Self.beside("theirs")) else {
      Issue.record("it is sent")
      return
    }
    #expect(settlement.detail.fields.first { $0.name == "C" }?.server == "theirs")
  }
}
