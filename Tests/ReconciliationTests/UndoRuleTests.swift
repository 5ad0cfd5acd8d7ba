import JSON
import Ledger
import MobileSync
import Reconciliation
import System
import Testing

struct UndoRuleTests {
  private static let left = "2026-01-01T00:00:00.000+0000"
  private static let later = "2026-01-01T00:00:01.000+0000"

  private func step(
    _ server: ServerRecord, _ kind: SyncUpAction = .update, left date: String? = left,
    former: JSONObject = ["A": "before", "B": "same"], isLeftKnown: Bool = true,
    read b: JSONValue? = "same", isDoubted: Bool = false
  ) -> UndoRule.Step {
    var change = Self.change(kind)
    change.payload = ["A": "sent", "B": "same"]
    change.seen = .object(kind == .update ? former : [:])
    change.left = ["A": "sent"]
    change.left?["B"] = b
    change.serverDate = isLeftKnown ? Self.left : nil
    change.isDoubted = isDoubted
    return UndoRule.step(.init(.ofTable(), change: change, server: server, leftDate: date))
  }

  private static func change(_ action: SyncUpAction) -> OperationRow {
    OperationRow(
      editID: 1, action: action, sobject: "Account", recordID: "001000000000001AAA",
      expected: Settlement(.undone, OutcomeDetail()))
  }

  private func alive(_ a: JSONValue, at date: String? = left) -> ServerRecord {
    .alive(date: date, fields: ["A": a, "B": "same"])
  }

  private func verdict(_ step: UndoRule.Step) -> Verdict? {
    if case .settle(let settlement) = step { settlement.verdict } else { nil }
  }

  @Test(
    arguments: [
      ([1: [2], 2: [1]], true), ([1: [1]], true), ([1: [2], 2: [3], 3: [1]], true),
      ([1: [2]], false), ([1: [2], 2: [3]], false), ([1: [2], 2: [1, 3]], false),
      ([1: [2], 2: [3], 3: [2]], false), ([:], false),
    ] as [([Int64: Set<Int64>], Bool)])
  func `an edit that waits only for itself is a cycle`(
    _ waits: [Int64: Set<Int64>], _ isCircle: Bool
  ) {
    #expect(UndoRule.isCircle(1, waits) == isCircle)
  }

  @Test func `a record left as written gets its differences back, on that condition`() {
    guard case .send(.update, let fields, let expected, let date) = step(alive("sent")) else {
      Issue.record("nothing is sent")
      return
    }
    #expect(fields == ["A": "before"])
    #expect(expected.verdict == .undone)
    #expect(date == Self.left)
    guard case .send(.delete, [:], _, _) = step(alive("sent"), .create) else {
      Issue.record("the new record is not deleted")
      return
    }
  }

  @Test func `a record with another date or value is left`() {
    #expect(verdict(step(alive("sent", at: Self.later))) == .notUndone)
    #expect(verdict(step(alive("other"))) == .notUndone)
    #expect(verdict(step(alive("sent", at: nil))) == .notUndone)
    #expect(verdict(step(alive("sent"), left: nil)) == .notUndone)
    #expect(verdict(step(alive("sent"), isLeftKnown: false)) == .notUndone)
    for kind in [SyncUpAction.create, .update] {
      #expect(verdict(step(alive("sent", at: Self.later), kind)) == .notUndone)
      #expect(verdict(step(.merged(into: "001000000000002AAA"), kind)) == .notUndone)
      #expect(verdict(step(.hidden, kind)) == .notUndone)
      #expect(verdict(step(.unknown(code: "X", message: "x"), kind)) == .notUndone)
    }
    #expect(verdict(step(.deleted, .delete)) == .notUndone)
  }

  @Test(arguments: [SyncUpAction.create, .update])
  func `a value that the sender may have written after a write without an answer stays`(
    _ kind: SyncUpAction
  ) {
    func step(_ b: JSONValue?, isDoubted: Bool) -> UndoRule.Step {
      var fields: JSONObject = ["A": "sent"]
      fields["B"] = b
      let server = ServerRecord.alive(date: Self.left, fields: fields)
      return self.step(server, kind, read: b, isDoubted: isDoubted)
    }
    #expect(verdict(step("later", isDoubted: true)) == .notUndone)
    // The org may have made that of it.
    for (value, isDoubted) in [("later", false), ("same", true), ("SAME", true)] {
      #expect(verdict(step(.string(value), isDoubted: isDoubted)) == nil, "\(value)")
    }
    // The sender may not read it.
    #expect(verdict(step(nil, isDoubted: true)) == nil)
  }

  private func undelete(
    _ bin: JSONObject?, until: String? = Self.left, isUndeletable: Bool = true
  ) -> UndoRule.Step {
    var change = Self.change(.delete)
    change.serverDate = until
    change.otherSenders = [Self.sender]
    var facts = UndoRule.Facts(
      .ofTable(), change: change, server: .deleted, instance: "https://org.example")
    facts.bin = bin
    facts.isUndeletable = isUndeletable
    return UndoRule.step(facts)
  }

  private static let sender = "005000000000001AAA"
  private static let bin: JSONObject = [
    "IsDeleted": true, "LastModifiedDate": .string(left), "SystemModstamp": .string(left),
    "LastModifiedById": .string(sender),
  ]

  @Test func `a record is restored if the recycle bin has it as our deletion left it`() {
    guard case .send(.undelete, [:], let expected, let date) = undelete(Self.bin) else {
      Issue.record("it does not come back")
      return
    }
    #expect(expected.verdict == .undone && date == Self.left)
    var old = Self.bin
    old["LastModifiedById"] = nil
    old["LastModifiedDate"] = nil
    #expect(verdict(undelete(old)) == nil)
  }

  @Test func `a record stays in the recycle bin if another user may have deleted it since`() {
    for (name, value) in [
      ("IsDeleted", false), ("LastModifiedDate", .string(Self.later)),
      ("SystemModstamp", .string(Self.later)), ("LastModifiedById", "005000000000002AAA"),
    ] as [(String, JSONValue)] {
      var bin = Self.bin
      bin[name] = value
      #expect(verdict(undelete(bin)) == .notUndone, "\(name)")
    }
    #expect(verdict(undelete(["IsDeleted": true])) == .notUndone)
    #expect(verdict(undelete(nil)) == .notUndone)
    #expect(verdict(undelete(Self.bin, until: nil)) == .notUndone)
    #expect(verdict(undelete(Self.bin, isUndeletable: false)) == .notUndone)
    guard case .settle(let settlement) = undelete(nil) else { return }
    #expect(
      settlement.detail.message
        == "the record is not visible in the recycle bin: restore it from the recycle bin "
        + "of the org, https://org.example/lightning/o/DeleteEvent/home")
  }

  @Test func `a record that is as before needs nothing`() {
    #expect(verdict(step(alive("before", at: Self.later))) == .undone)
    #expect(verdict(step(.deleted, .create)) == .undone)
    #expect(verdict(step(alive("sent"), .delete)) == .undone)
  }

  @Test func `an unknown value is never restored`() {
    #expect(verdict(step(alive("sent"), former: ["B": "same"])) == .notUndone)
    #expect(verdict(step(alive("sent"), former: [:])) == .notUndone)
    guard case .send(_, let fields, let expected, _) = step(alive("sent"), former: ["A": "before"])
    else {
      Issue.record("nothing is sent")
      return
    }
    #expect(fields == ["A": "before"])
    #expect(expected.verdict == .partlyUndone)
    #expect(expected.detail.message?.contains("the former values of B are unknown") == true)
  }
}
