import JSON
import Ledger
import MobileSync
import Reconciliation
import Testing

struct ThreeWayRuleTests {
  static let old = "2026-01-01T00:00:00.000+0000"
  static let new = "2026-01-02T00:00:00.000Z"

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let facts: EditFacts
    let expected: String
    var testDescription: String { name }
  }

  private static func facts(
    _ operation: SyncOperation, _ mode: MergeMode = .leaveIfChanged,
    device: JSONObject = ["A": "device", "B": "b"], base: JSONObject? = ["A": "a", "B": "b"],
    server: ServerRecord = .alive(date: old, fields: ["A": "a", "B": "b"]),
    date: String? = old, own: MergeBaseRule.OwnWrite? = nil, upserts: Bool = false,
    recreate: MissingRecordRule.Recreate = .whenProvedDeleted
  ) -> EditFacts {
    EditFacts(
      operation: operation, mode: mode, device: device, deviceDate: date,
      issued: base.map { MergeBase(modificationDate: old, fields: $0) }, ownWrite: own,
      server: server, listed: ["A", "B"], upserts: upserts, recreate: recreate)
  }

  @Test func `a new record tells the values that it brings`() throws {
    let made = Self.facts(.create, device: ["A": "device", "B": .null, "C": "outside"])
    guard case .send(.create, let settlement, nil) = ThreeWayRule.step(made) else {
      Issue.record("it is not created")
      return
    }
    #expect(settlement.detail.fields.map(\.name) == ["A"])
    #expect(settlement.detail.fields.first?.device == "device")
    #expect(settlement.detail.outside.map(\.name) == ["C"])
  }

  private static let moved = ServerRecord.alive(date: new, fields: ["A": "server", "B": "b"])
  private static let unreadable = ServerRecord.unknown(code: "INVALID_FIELD", message: "no")

  private static let untouched: JSONObject = ["A": "a", "B": "b"]

  static let cases: [Case] = [
    Case(name: "a create", facts: facts(.create), expected: "send create, created"),
    Case(
      name: "a create with an external id", facts: facts(.create, upserts: true),
      expected: "send upsert, created"),
    Case(name: "made and deleted there", facts: facts(.dropLocally), expected: "unchanged"),
    Case(
      name: "an update of what did not move", facts: facts(.update),
      expected: "send update if unmodified since \(old), updated"),
    Case(
      name: "an update under OVERWRITE carries no condition", facts: facts(.update, .overwrite),
      expected: "send update, updated"),
    Case(
      name: "an update of what moved", facts: facts(.update, server: moved),
      expected: "conflict"),
    Case(
      name: "an update of what moved, under OVERWRITE",
      facts: facts(.update, .overwrite, server: moved), expected: "send update, updated"),
    Case(
      name: "an update that holds the base's values",
      facts: facts(.update, device: ["A": "a", "B": "b"]), expected: "unchanged"),
    Case(
      name: "the base's values of a record that moved",
      facts: facts(.update, device: ["A": "a", "B": "b"], server: moved), expected: "unchanged"),
    Case(
      name: "an update that the org holds already",
      facts: facts(
        .update, server: .alive(date: new, fields: ["A": "device", "B": "other"])),
      expected: "already there"),
    Case(
      name: "an update of what was changed in the second of its base",
      facts: facts(.update, server: .alive(date: old, fields: ["A": "a", "B": "theirs"])),
      expected: "conflict"),
    Case(
      name: "the same under OVERWRITE",
      facts: facts(
        .update, .overwrite, server: .alive(date: old, fields: ["A": "a", "B": "theirs"])),
      expected: "send update, updated"),
    Case(
      name: "a delete of what was changed in the second of its base",
      facts: facts(.delete, server: .alive(date: old, fields: ["A": "a", "B": "theirs"])),
      expected: "conflict"),
    Case(
      name: "a listed field that was never given to the device is no change of others",
      facts: facts(
        .update, device: ["A": "device"], base: ["A": "a"],
        server: .alive(date: old, fields: ["A": "a", "B": "theirs"])),
      expected: "send update if unmodified since \(old), updated"),
    Case(
      name: "what moved with equal values is left, as the SDK leaves it",
      facts: facts(.update, server: .alive(date: new, fields: ["A": "a", "B": "b"])),
      expected: "conflict"),
    Case(
      name: "a field that the sender may not read is unknown",
      facts: facts(
        .update, device: ["A": .null, "B": "b"],
        server: .alive(date: old, fields: ["B": "b"])),
      expected: "send update if unmodified since \(old), updated"),
    Case(
      name: "decomposed letters are an edit of composed ones",
      facts: facts(
        .update, device: ["A": "e\u{301}", "B": "b"], base: ["A": "\u{E9}", "B": "b"],
        server: .alive(date: old, fields: ["A": "\u{E9}", "B": "b"])),
      expected: "send update if unmodified since \(old), updated"),
    Case(
      name: "what another row of the device sent is no change of others",
      facts: facts(
        .update, server: .alive(date: new, fields: ["A": "a", "B": "ours"]),
        own: .init(date: new, fields: [:], left: ["B": "ours"])),
      expected: "send update if unmodified since \(new), updated"),
    Case(
      name: "nor in the second of the base",
      facts: facts(
        .update, server: .alive(date: old, fields: ["A": "a", "B": "ours"]),
        own: .init(date: old, fields: [:], left: ["B": "ours"])),
      expected: "send update if unmodified since \(old), updated"),
    Case(
      name: "an edit outside the list only",
      facts: facts(
        .update, device: ["A": "a", "C": "edited"], base: ["A": "a", "C": "c"]),
      expected: "filtered, outside C"),
    Case(
      name: "an edit outside the list beside one in it",
      facts: facts(
        .update, device: ["A": "x", "C": "edited"], base: ["A": "a", "C": "c"]),
      expected: "send update if unmodified since \(old), updated, outside C"),
    Case(
      name: "without a base the SDK decides", facts: facts(.update, base: nil, server: moved),
      expected: "conflict, no base"),
    Case(
      name: "a device that synchronised on its own, server unmoved",
      facts: facts(
        .update, base: nil, server: .alive(date: new, fields: ["A": "s", "B": "b"]), date: new),
      expected: "send update if unmodified since \(new), updated"),
    Case(
      name: "an element without a date is sent", facts: facts(.update, base: nil, date: nil),
      expected: "send update, updated, no base"),
    Case(
      name: "what our own write left is no conflict",
      facts: facts(
        .update, server: moved, own: .init(date: new, fields: ["A": "server", "B": "b"])),
      expected: "send update if unmodified since \(new), updated"),
    Case(
      name: "what somebody wrote after us is one",
      facts: facts(
        .update, server: .alive(date: "2026-01-03T00:00:00.000Z", fields: ["A": "they"]),
        own: .init(date: new, fields: ["A": "server"])),
      expected: "conflict"),
    Case(
      name: "a delete", facts: facts(.delete),
      expected: "send delete if unmodified since \(old), deleted"),
    Case(
      name: "a delete of what moved", facts: facts(.delete, server: moved),
      expected: "conflict"),
    Case(
      name: "a delete of what moved, under OVERWRITE",
      facts: facts(.delete, .overwrite, server: moved), expected: "send delete, deleted"),
    Case(
      name: "deleted on both sides", facts: facts(.delete, server: .deleted),
      expected: "already there"),
    Case(
      name: "an update of what was deleted", facts: facts(.update, server: .deleted),
      expected: "deleted on server"),
    Case(
      name: "the same under OVERWRITE is made anew",
      facts: facts(.update, .overwrite, server: .deleted), expected: "send create, created"),
    Case(
      name: "unless the pipeline says never",
      facts: facts(.update, .overwrite, server: .deleted, recreate: .never),
      expected: "deleted on server"),
    Case(
      name: "what was merged is not made anew",
      facts: facts(.update, .overwrite, server: .merged(into: "M")),
      expected: "merged on server M"),
    Case(
      name: "what is hidden is not made anew",
      facts: facts(.update, .overwrite, server: .hidden), expected: "not visible"),
    Case(
      name: "unless as the SDK does",
      facts: facts(.update, .overwrite, server: .hidden, recreate: .asSDK),
      expected: "send create, created"),
    Case(
      name: "what nobody edited is not made anew",
      facts: facts(.update, .overwrite, device: untouched, server: .deleted),
      expected: "unchanged"),
    Case(
      name: "nor is that left for a person, whatever became of the record",
      facts: facts(.update, device: untouched, server: .deleted), expected: "unchanged"),
    Case(
      name: "merged", facts: facts(.update, device: untouched, server: .merged(into: "M")),
      expected: "unchanged"),
    Case(
      name: "hidden, and made anew as the SDK does",
      facts: facts(.update, .overwrite, device: untouched, server: .hidden, recreate: .asSDK),
      expected: "unchanged"),
    Case(
      name: "unread", facts: facts(.update, device: untouched, server: unreadable),
      expected: "unchanged"),
    Case(
      name: "an edit outside the list of what is gone is told and does not travel",
      facts: facts(
        .update, .overwrite, device: ["A": "a", "B": "b", "C": "device"],
        base: ["A": "a", "B": "b", "C": "c"], server: .deleted),
      expected: "filtered, outside C"),
    Case(
      name: "without a base what is gone is made anew",
      facts: facts(.update, .overwrite, device: untouched, base: nil, server: .deleted),
      expected: "send create, created"),
    Case(
      name: "so is what a device that synchronised on its own holds",
      facts: facts(.update, .overwrite, device: untouched, server: .deleted, date: new),
      expected: "send create, created"),
    Case(
      name: "also where it holds what we wrote",
      facts: facts(
        .update, .overwrite, device: untouched, base: nil, server: .deleted,
        own: .init(date: new, fields: untouched, sent: untouched)),
      expected: "send create, created"),
    Case(
      name: "and what the device put back after our own write",
      facts: facts(
        .update, .overwrite, device: untouched, server: .deleted,
        own: .init(date: new, fields: ["A": "device"], sent: ["A": "device"])),
      expected: "send create, created"),
    Case(
      name: "an untouched row that its device deleted is still a deletion",
      facts: facts(.delete, device: untouched, server: .merged(into: "M")),
      expected: "merged on server M"),
    Case(
      name: "a record that cannot be read is not decided",
      facts: facts(.update, server: unreadable), expected: "failed INVALID_FIELD"),
    Case(
      name: "but OVERWRITE asks nothing",
      facts: facts(.update, .overwrite, server: unreadable), expected: "send update, updated"),
  ]

  @Test(arguments: cases)
  func `an edit takes the step of its facts`(_ row: Case) {
    #expect(Self.text(ThreeWayRule.step(row.facts)) == row.expected)
  }

  private static func text(_ step: ThreeWayRule.Step) -> String {
    func tail(_ settlement: Settlement) -> String {
      let detail = settlement.detail
      var text = settlement.verdict.rawValue
      if let other = detail.otherID { text += " " + other }
      if let code = detail.code { text += " " + code }
      let noBase = detail.hasNoBase && [.conflict, .updated].contains(settlement.verdict)
      if noBase { text += ", no base" }
      if !detail.outside.isEmpty {
        text += ", outside " + detail.outside.map(\.name).joined(separator: " ")
      }
      return text
    }
    switch step {
    case .settle(let settlement): return tail(settlement)
    case .send(let action, let settlement, let date):
      let condition = date.map { " if unmodified since \($0)" } ?? ""
      return "send \(action.rawValue)\(condition), \(tail(settlement))"
    }
  }

  @Test func `what is not known is not empty`() throws {
    let blind = FieldComparison(device: ["A": "x"], base: nil, server: nil, listed: ["A"])
    #expect(blind.edited.count == 1)
    #expect(blind.edited.first?.base == Optional<JSONValue>.none)
    #expect(blind.edited.first?.server == Optional<JSONValue>.none)
    let seen = FieldComparison(
      device: ["A": "x"], base: MergeBase(modificationDate: nil, fields: [:], isComplete: true),
      server: ["A": .null], listed: ["A"])
    #expect(seen.edited.first?.base == .some(.null))
    #expect(seen.edited.first?.server == .some(.null))
    let unread = FieldComparison(
      device: ["A": .null], base: MergeBase(modificationDate: nil, fields: ["A": "a"]),
      server: [:], listed: ["A"])
    #expect(unread.edited.first?.server == Optional<JSONValue>.none)
    #expect(!unread.edited.areAlreadyThere)
  }

  @Test func `parents go first, deletions last with their children first, circles stay`() {
    typealias Node = DependencyOrder.Node
    let order = DependencyOrder([
      Node(editID: 1, creates: .of(creation: 11), needs: [.of(creation: 12)]),
      Node(editID: 2, creates: .of(creation: 12)),
      Node(editID: 3, deletes: "P"), Node(editID: 4, deletes: "C", refersTo: ["P"]),
      Node(editID: 5, creates: .inPlace(of: "R"), needs: [.of(creation: 16)]),
      Node(editID: 6, creates: .of(creation: 16), needs: [.inPlace(of: "R")]),
      Node(editID: 7, needs: [.of(creation: 11)]), Node(editID: 8), Node(editID: 9, floor: 2),
    ])
    #expect(order.levels == [[2, 8], [1], [7, 9], [4], [3]])
    #expect(order.cyclic == [5, 6])
  }

  @Test func `what comes back goes first, after what it refers to, and in a circle together`() {
    typealias Node = DependencyOrder.Node
    let order = DependencyOrder([
      Node(editID: 1), Node(editID: 2, deletes: "D"),
      Node(editID: 3, restores: "C", refersTo: ["P", "C", "X"]), Node(editID: 4, restores: "P"),
      Node(editID: 5, restores: "G", refersTo: ["C"]), Node(editID: 6, restores: "Q"),
    ])
    #expect(order.levels == [[4, 6], [3], [5], [1], [2]])
    let circle = DependencyOrder([
      Node(editID: 1, restores: "A", refersTo: ["B"]),
      Node(editID: 2, restores: "B", refersTo: ["A"]), Node(editID: 3),
    ])
    #expect(circle.levels == [[1, 2], [3]])
    #expect(circle.cyclic.isEmpty)
  }

  @Test func `deletions that refer to each other go together, and none waits for itself`() {
    typealias Node = DependencyOrder.Node
    let circle = DependencyOrder([
      Node(editID: 1, deletes: "A", refersTo: ["B"]),
      Node(editID: 2, deletes: "B", refersTo: ["A"]),
    ])
    #expect(circle.levels == [[1, 2]])
    #expect(circle.cyclic.isEmpty)
    let itself = DependencyOrder([
      Node(editID: 1, deletes: "A", refersTo: ["A"]),
      Node(editID: 2, deletes: "B", refersTo: ["A"]),
    ])
    #expect(itself.levels == [[2], [1]])
    // What it refers to beside itself waits for it.
    let before = DependencyOrder([
      Node(editID: 1, deletes: "A", refersTo: ["A", "X"]), Node(editID: 2, deletes: "X"),
    ])
    #expect(before.levels == [[1], [2]])
  }
}
