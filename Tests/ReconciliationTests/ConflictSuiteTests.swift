import JSON
import Ledger
import MobileSync
import Reconciliation
import Salesforce
import Testing

/// Rows 234–237 of the conformance table: the field-level conflicts of the JavaScript library, as
/// the three-way comparison reports them and the merge modes decide them.
///
/// `merge-fail-if-changed` is LEAVE_IF_CHANGED here, and `overwrite` is OVERWRITE. attache does not
/// have the two modes between them, which merge fields, but it has what they decide by: which
/// fields each side changed, and which of them contradict each other.
@Suite struct ConflictSuiteTests {
  private static let dates = (old: "2026-01-01T00:00:00.000Z", new: "2026-01-02T00:00:00.000Z")
  private static let listed = ["Name", "Industry", "Phone"]

  /// The suite's three situations: base, theirs and yours, and the fields that each side changed.
  struct Situation: Sendable, CustomTestStringConvertible {
    let name: String
    let theirs: JSONObject
    let yours: JSONObject
    let localChanges: [String]
    let remoteChanges: [String]
    let conflicting: [String]
    var testDescription: String { name }
  }

  private static func record(_ name: String, _ industry: String, _ phone: String) -> JSONObject {
    ["Name": .string(name), "Industry": .string(industry), "Phone": .string(phone)]
  }

  static let base = record("Account 0", "Computer 0", "Phone 0")
  static let situations = [
    Situation(
      name: "no change", theirs: base, yours: base, localChanges: [], remoteChanges: [],
      conflicting: []),
    Situation(
      name: "only a remote change", theirs: record("Account 1", "Computer 0", "Phone 0"),
      yours: base, localChanges: [], remoteChanges: ["Name"], conflicting: []),
    Situation(
      name: "changes of different fields", theirs: record("Account 0", "Computer 1", "Phone 0"),
      yours: record("Account 0", "Computer 0", "Phone 1"), localChanges: ["Phone"],
      remoteChanges: ["Industry"], conflicting: []),
    Situation(
      name: "one field changed to the same", theirs: record("Account a", "Computer 1", "Phone 0"),
      yours: record("Account a", "Computer 0", "Phone 0"), localChanges: ["Name"],
      remoteChanges: ["Industry", "Name"], conflicting: []),
    Situation(
      name: "one field changed to different values",
      theirs: record("Account b", "Computer 1", "Phone 0"),
      yours: record("Account a", "Computer 0", "Phone 1"), localChanges: ["Name", "Phone"],
      remoteChanges: ["Industry", "Name"], conflicting: ["Name"]),
  ]

  private func compare(_ situation: Situation) -> FieldComparison {
    FieldComparison(
      device: situation.yours, base: MergeBase(modificationDate: nil, fields: Self.base),
      server: situation.theirs, listed: Self.listed)
  }

  private func step(
    _ operation: SyncOperation, _ mode: MergeMode, _ situation: Situation
  ) -> ThreeWayRule.Step {
    let isMoved = situation.theirs != Self.base
    return ThreeWayRule.step(
      Candidate(
        operation: operation, mode: mode, device: situation.yours, deviceDate: Self.dates.old,
        issued: MergeBase(modificationDate: Self.dates.old, fields: Self.base),
        server: .alive(date: isMoved ? Self.dates.new : Self.dates.old, fields: situation.theirs),
        listed: Self.listed))
  }

  private func verdict(_ step: ThreeWayRule.Step) -> Verdict {
    switch step {
    case .settle(let settlement), .send(_, let settlement, _): settlement.verdict
    }
  }

  // SDK: testSyncSObjectDetectConflictRetrieve (235)
  @Test(arguments: situations)
  func `each side's changes are reported field by field`(_ situation: Situation) {
    let comparison = compare(situation)
    #expect(comparison.edited.map(\.name).sorted() == situation.localChanges.sorted())
    let remote =
      comparison.changedOnServer
      + comparison.edited.filter { !FieldValue.isSame($0.base, $0.server) }
    #expect(remote.map(\.name).sorted() == situation.remoteChanges)
    #expect(comparison.edited.filter(\.isConflicting).map(\.name) == situation.conflicting)
    for field in comparison.contested {
      #expect(field.base == Self.base[field.name])
      #expect(field.device == situation.yours[field.name])
      #expect(field.server == situation.theirs[field.name])
    }
  }

  @Test(arguments: [JSONValue.null, "", nil])
  func `missing, null and an empty text are the same value`(_ nothing: JSONValue?) {
    for other in [JSONValue.null, "", nil] { #expect(FieldValue.isSame(nothing, other)) }
  }

  // SDK: testSyncSObjectDetectConflictCreate (234)
  @Test func `the values after a create are the base of the next edit`() {
    let sent = Self.base
    let create = ThreeWayRule.step(
      Candidate(
        operation: .create, mode: .leaveIfChanged, device: sent, deviceDate: nil,
        server: .hidden, listed: Self.listed))
    #expect(verdict(create) == .created)
    var edited = sent
    edited["Phone"] = "Phone 1"
    let update = ThreeWayRule.step(
      Candidate(
        operation: .update, mode: .leaveIfChanged, device: edited, deviceDate: nil,
        ownWrite: .init(date: Self.dates.new, fields: sent, sent: sent),
        server: .alive(date: Self.dates.new, fields: sent), listed: Self.listed))
    guard case .send(.update, let settlement, _) = update else {
      Issue.record("\(update)")
      return
    }
    #expect(settlement.detail.fields.map(\.name) == ["Phone"])
  }

  // SDK: testSyncSObjectDetectConflictUpdate (236)
  @Test(arguments: situations, MergeMode.allCases)
  func `an update of a changed record is left or overwrites, and is reported by field`(
    _ situation: Situation, _ mode: MergeMode
  ) {
    let step = step(.update, mode, situation)
    if situation.localChanges.isEmpty {
      // Nothing was edited, so nothing is sent, not even the base's values over theirs.
      #expect(verdict(step) == .unchanged)
    } else if compare(situation).edited.areAlreadyThere {
      #expect(verdict(step) == .alreadyInOrg)
    } else if mode == .leaveIfChanged {
      guard case .settle(let settlement) = step else {
        Issue.record("\(step)")
        return
      }
      #expect(settlement.verdict == .conflict)
      let contested = Set(settlement.detail.fields.map(\.name))
      #expect(contested == Set(situation.localChanges + situation.remoteChanges))
      #expect(settlement.detail.fields.filter(\.isConflicting).map(\.name) == situation.conflicting)
    } else {
      guard case .send(.update, let settlement, nil) = step else {
        Issue.record("\(step)")
        return
      }
      #expect(settlement.verdict == .updated)
    }
  }

  // SDK: testSyncSObjectDetectConflictDelete (237)
  @Test(arguments: situations, MergeMode.allCases)
  func `a deletion of a changed record is left or sent`(_ situation: Situation, _ mode: MergeMode) {
    let step = step(.delete, mode, situation)
    if mode == .leaveIfChanged, !situation.remoteChanges.isEmpty {
      #expect(verdict(step) == .conflict)
    } else {
      #expect(verdict(step) == .deleted)
    }
  }
}
