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
    let facts: Candidate
    let expected: String
    var testDescription: String { name }
  }

  private static func facts(
    _ operation: SyncOperation, _ mode: MergeMode = .leaveIfChanged,
    device: JSONObject = ["A": "device", "B": "b"], base: JSONObject? = ["A": "a", "B": "b"],
    server: ServerRecord = .alive(date: old, fields: ["A": "a", "B": "b"]),
    date: String? = old, own: FieldKnowledge? = nil, upserts: Bool = false,
    recreate: MissingRecordRule.Recreate = .whenProvedDeleted
  ) -> Candidate {
    Candidate(
      operation: operation, mode: mode, device: device, deviceDate: date,
      issued: base.map { MergeBase(modificationDate: old, fields: $0) }, ownWrite: own,
      server: server, listed: ["A", "B"], upserts: upserts, recreate: recreate)
  }

  // MARK: all combinations

  /// What both sides did to a record with the issued fields `A` and `B`.
  private struct Row {
    /// The org's current record.
    ///
    /// It has another value, in the second of the base or later, in a listed field, or in none, or
    /// the device's own value.
    enum Server: Sendable, CaseIterable {
      case same, sameSecond, moved, touched, holds, deleted, merged, hidden, unreadable
    }
    /// The fields that the device edited: `A` is listed, `C` is not.
    enum Device: Sendable, CaseIterable { case untouched, edited, outside, both }

    var operation: SyncOperation
    var mode: MergeMode
    var server: Server
    var device: Device
    var hasBase: Bool
    var recreate: MissingRecordRule.Recreate

    var facts: Candidate {
      var given: JSONObject = ["A": "a", "B": "b"]
      if isOutside { given["C"] = "c" }
      var held = given
      if device == .edited || device == .both { held["A"] = "device" }
      if isOutside { held["C"] = "edited" }
      let record: ServerRecord =
        switch server {
        case .same: .alive(date: old, fields: ["A": "a", "B": "b"])
        case .sameSecond: .alive(date: old, fields: ["A": "a", "B": "theirs"])
        case .moved: ThreeWayRuleTests.moved
        case .touched: .alive(date: new, fields: ["A": "a", "B": "b"])
        case .holds: .alive(date: new, fields: ["A": "device", "B": "other"])
        case .deleted: .deleted
        case .merged: .merged(into: "M")
        case .hidden: .hidden
        case .unreadable: unreadable
        }
      return ThreeWayRuleTests.facts(
        operation, mode, device: held, base: hasBase ? given : nil, server: record,
        recreate: recreate)
    }

    private var isOutside: Bool { device == .outside || device == .both }

    /// Whether a listed field differs from the issued value or, if that is unknown, from the org's.
    private var isEdited: Bool {
      if hasBase { return device == .edited || device == .both }
      return switch server {
      case .same, .touched: device == .edited
      default: true
      }
    }

    /// The step as in the SDK, except where attache knows more than the SDK, according to
    /// `docs/differences.md`.
    var expected: String {
      let outside = isOutside ? ", outside C" : ""
      // With equal dates, the issued values are the org's.
      let isKnown = hasBase || server == .same || server == .sameSecond
      let tail = (isKnown ? "" : ", no base") + outside
      let settled = isOutside ? "not in field list" + outside : "unchanged"
      let done = operation == .update ? "updated" + tail : "deleted" + outside
      let isLate = [.moved, .touched, .holds].contains(server)
      let makesAnew =
        operation == .update && mode == .overwrite
        && (recreate == .asSDK || server == .deleted && recreate == .whenProvedDeleted)
      if operation == .update, !isEdited { return isKnown ? settled : "already in org, no base" }
      switch server {
      case .deleted where operation == .delete: return "already in org"
      case .deleted, .merged, .hidden:
        if makesAnew { return "send create, created" + outside }
        let verdict =
          [.deleted: "deleted on server", .merged: "merged on server M"][server] ?? "not visible"
        return verdict + outside
      case .unreadable where mode == .leaveIfChanged: return "failed INVALID_FIELD" + outside
      case .unreadable: return "send \(operation), " + done
      case .holds where operation == .update && hasBase: return "already in org" + outside
      case .same, .sameSecond, .moved, .touched, .holds:
        if mode == .overwrite { return "send \(operation), " + done }
        // The date decides, and within its second the values do, if they are known.
        if isLate || server == .sameSecond && hasBase { return "conflict" + tail }
        return "send \(operation) if unmodified since \(old), " + done
      }
    }
  }

  @Test(arguments: [SyncOperation.update, .delete], MergeMode.allCases)
  func `an edit's step follows from the changes of both sides`(
    _ operation: SyncOperation, _ mode: MergeMode
  ) {
    for server in Row.Server.allCases {
      for device in Row.Device.allCases {
        // Without a base, it is unknown which fields outside the list were edited.
        for hasBase in [true, false] where hasBase || [.untouched, .edited].contains(device) {
          for recreate in MissingRecordRule.Recreate.allCases {
            let row = Row(
              operation: operation, mode: mode, server: server, device: device, hasBase: hasBase,
              recreate: recreate)
            #expect(Self.text(ThreeWayRule.step(row.facts)) == row.expected, "\(row)")
          }
        }
      }
    }
  }

  // MARK: other facts

  @Test func `a new record lists the values that it sends`() throws {
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
      name: "a listed field that the device was never issued is not a change by others",
      facts: facts(
        .update, device: ["A": "device"], base: ["A": "a"],
        server: .alive(date: old, fields: ["A": "a", "B": "theirs"])),
      expected: "send update if unmodified since \(old), updated"),
    Case(
      name: "a field that the sender may not read is unknown",
      facts: facts(
        .update, device: ["A": .null, "B": "b"], server: .alive(date: old, fields: ["B": "b"])),
      expected: "send update if unmodified since \(old), updated"),
    Case(
      name: "decomposed letters are an edit of composed ones",
      facts: facts(
        .update, device: ["A": "e\u{301}", "B": "b"], base: ["A": "\u{E9}", "B": "b"],
        server: .alive(date: old, fields: ["A": "\u{E9}", "B": "b"])),
      expected: "send update if unmodified since \(old), updated"),
    Case(
      name: "a value that another row of the device sent is not a change by others",
      facts: facts(
        .update, server: .alive(date: new, fields: ["A": "a", "B": "ours"]),
        own: .init(date: new, fields: [:], left: ["B": "ours"])),
      expected: "send update if unmodified since \(new), updated"),
    Case(
      name: "also in the second of the base",
      facts: facts(
        .update, server: .alive(date: old, fields: ["A": "a", "B": "ours"]),
        own: .init(date: old, fields: [:], left: ["B": "ours"])),
      expected: "send update if unmodified since \(old), updated"),
    Case(
      name: "a device that synchronised on its own, server unmoved",
      facts: facts(
        .update, base: nil, server: .alive(date: new, fields: ["A": "s", "B": "b"]), date: new),
      expected: "send update if unmodified since \(new), updated"),
    Case(
      name: "an element without a date is sent", facts: facts(.update, base: nil, date: nil),
      expected: "send update, updated, no base"),
    Case(
      name: "the values of our prior write do not conflict",
      facts: facts(
        .update, server: moved, own: .init(date: new, fields: ["A": "server", "B": "b"])),
      expected: "send update if unmodified since \(new), updated"),
    Case(
      name: "a write by another user after ours conflicts",
      facts: facts(
        .update, server: .alive(date: "2026-01-03T00:00:00.000Z", fields: ["A": "they"]),
        own: .init(date: new, fields: ["A": "server"])), expected: "conflict"),
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
      name: "and a value that the device reverted after our prior write",
      facts: facts(
        .update, .overwrite, device: untouched, server: .deleted,
        own: .init(date: new, fields: ["A": "device"], sent: ["A": "device"])),
      expected: "send create, created"),
  ]

  @Test(arguments: cases) func `an edit's step follows from its facts`(_ row: Case) {
    #expect(Self.text(ThreeWayRule.step(row.facts)) == row.expected)
  }

  private static func text(_ step: ThreeWayRule.Step) -> String {
    func tail(_ settlement: Settlement) -> String {
      let detail = settlement.detail
      var text = settlement.verdict.rawValue
      if let other = detail.otherID { text += " " + other }
      if let code = detail.code { text += " " + code }
      let noBase =
        detail.hasNoBase && [.conflict, .updated, .alreadyInOrg].contains(settlement.verdict)
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

  @Test func `an unknown value is not an empty one`() throws {
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

  private typealias Node = DependencyOrder.Node

  @Test func `parents go first, deletions last with children first, cycles stay`() {
    let orders: [(nodes: [Node], levels: [[Int64]], cyclic: Set<Int64>)] = [
      (
        [
          Node(editID: 1, creates: .of(creation: 11), needs: [.of(creation: 12)]),
          Node(editID: 2, creates: .of(creation: 12)),
          Node(editID: 3, deletes: ["P"]), Node(editID: 4, deletes: ["C"], refersTo: ["P"]),
          Node(editID: 5, creates: .inPlace(of: "R"), needs: [.of(creation: 16)]),
          Node(editID: 6, creates: .of(creation: 16), needs: [.inPlace(of: "R")]),
          Node(editID: 7, needs: [.of(creation: 11)]), Node(editID: 8), Node(editID: 9, floor: 2),
        ], [[2, 8], [1], [7, 9], [4], [3]], [5, 6]
      ),
      // Restored records go first, after their referents, and together in a cycle.
      (
        [
          Node(editID: 1), Node(editID: 2, deletes: ["D"]),
          Node(editID: 3, restores: "C", refersTo: ["P", "C", "X"]), Node(editID: 4, restores: "P"),
          Node(editID: 5, restores: "G", refersTo: ["C"]), Node(editID: 6, restores: "Q"),
        ], [[4, 6], [3], [5], [1], [2]], []
      ),
      (
        [
          Node(editID: 1, restores: "A", refersTo: ["B"]),
          Node(editID: 2, restores: "B", refersTo: ["A"]), Node(editID: 3),
        ], [[1, 2], [3]], []
      ),
      // Deletions that refer to each other go together, and none waits for itself.
      (
        [
          Node(editID: 1, deletes: ["A"], refersTo: ["B"]),
          Node(editID: 2, deletes: ["B"], refersTo: ["A"]),
        ], [[1, 2]], []
      ),
      (
        [
          Node(editID: 1, deletes: ["A"], refersTo: ["A"]),
          Node(editID: 2, deletes: ["B"], refersTo: ["A"]),
        ], [[2], [1]], []
      ),
      // Its other referents wait for it.
      (
        [Node(editID: 1, deletes: ["A"], refersTo: ["A", "X"]), Node(editID: 2, deletes: ["X"])],
        [[1], [2]], []
      ),
      // A tree is deleted after what refers to one of its records.
      (
        [
          Node(editID: 1, deletes: ["P", "C"], refersTo: ["P"]),
          Node(editID: 2, deletes: ["D"], refersTo: ["C"]), Node(editID: 3),
        ], [[3], [2], [1]], []
      ),
    ]
    for (nodes, levels, cyclic) in orders {
      let order = DependencyOrder(nodes)
      #expect(order.levels == levels)
      #expect(order.cyclic == cyclic)
    }
  }
}
