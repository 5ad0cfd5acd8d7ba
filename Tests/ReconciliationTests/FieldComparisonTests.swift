import JSON
import Ledger
import MobileSync
import Reconciliation
import Testing

struct FieldComparisonTests {
  private static let old = "2026-01-01T00:00:00.000+0000"
  private static let new = "2026-01-02T00:00:00.000+0000"

  private func facts(
    _ operation: SyncOperation = .update, _ mode: MergeMode = .overwrite,
    device: JSONObject, issued: JSONObject?, server: ServerRecord, date: String? = Self.old,
    own: FieldKnowledge? = nil, isShared: Bool = false, listed: [String] = ["A", "B"]
  ) -> Candidate {
    Candidate(
      operation: operation, mode: mode, device: device, deviceDate: date,
      issued: issued.map { MergeBase(modificationDate: Self.old, fields: $0, isComplete: true) },
      ownWrite: own, server: server, listed: listed, isShared: isShared)
  }

  private func detail(_ facts: Candidate) -> OutcomeDetail {
    switch ThreeWayRule.step(facts) {
    case .settle(let settlement), .send(_, let settlement, _): settlement.detail
    }
  }

  private func verdict(_ facts: Candidate) -> Verdict {
    switch ThreeWayRule.step(facts) {
    case .settle(let settlement), .send(_, let settlement, _): settlement.verdict
    }
  }

  private static let both = ServerRecord.alive(date: new, fields: ["A": "a", "B": "office"])
  private static let device: JSONObject = ["A": "device", "B": "b"]
  private static let issued: JSONObject = ["A": "a", "B": "b"]

  @Test func `fields that OVERWRITE overwrites are listed with the device's edits`() {
    let facts = facts(device: Self.device, issued: Self.issued, server: Self.both)
    #expect(detail(facts).fields.map(\.name) == ["A", "B"])
    #expect(detail(facts).fields.last?.server == "office")
    #expect(detail(facts).fields.map(\.isOnlyOrgChange) == [false, true])
  }

  @Test func `an edit sent with its own fields only overwrites nothing else`() {
    let facts = facts(device: Self.device, issued: Self.issued, server: Self.both, isShared: true)
    #expect(detail(facts).fields.map(\.name) == ["A"])
    #expect(ThreeWayRule.editedFields(facts) == ["A"])
  }

  @Test func `a delete lists what other users changed in the record`() {
    let facts = facts(.delete, device: Self.issued, issued: Self.issued, server: Self.both)
    #expect(detail(facts).fields.map(\.name) == ["B"])
  }

  @Test func `a conflict shows the changes of both sides`() {
    let facts = facts(
      .update, .leaveIfChanged, device: Self.device, issued: Self.issued, server: Self.both)
    #expect(verdict(facts) == .conflict)
    #expect(detail(facts).fields.map(\.name) == ["A", "B"])
    #expect(detail(facts).fields.map(\.isConflicting) == [false, false])
  }

  @Test func `the same new value on both sides is not a conflict`() {
    let comparison = FieldComparison(
      device: ["A": "same", "B": "mine"],
      base: MergeBase(modificationDate: nil, fields: Self.issued),
      server: ["A": "same", "B": "theirs"], listed: ["A", "B"])
    #expect(comparison.edited.map(\.isConflicting) == [false, true])
  }

  @Test(
    arguments: [
      (nil, "mine", "theirs", true), (nil, .null, "theirs", true), (nil, "mine", .null, true),
      (nil, "same", "same", false), ([:], .null, "theirs", true), (["B": "b"], "mine", .null, true),
      (["A": "a"], "mine", "a", false), (["A": .null], .null, "theirs", false),
      (["A": "a"], "mine", .null, true),
    ] as [(JSONObject?, JSONValue, JSONValue, Bool)])
  func
    `a value that differs is one that both changed, where no one knows what the device was given`(
      _ base: JSONObject?, _ device: JSONValue, _ server: JSONValue, _ isConflicting: Bool
    )
  {
    let comparison = FieldComparison(
      device: ["A": device], base: base.map { MergeBase(modificationDate: nil, fields: $0) },
      server: ["A": server], listed: ["A"])
    #expect(comparison.contested.contains(where: \.isConflicting) == isConflicting)
  }

  @Test func `without a base differences outside are reported, but not unread fields`() {
    let comparison = FieldComparison(
      device: ["A": "same", "Note": "mine", "Same": "s", "Unread": "u", "Id": "001"], base: nil,
      server: ["A": "same", "Note": "theirs", "Same": "s"], listed: ["A"])
    #expect(comparison.edited.isEmpty)
    #expect(comparison.outside.map(\.name) == ["Note"])
    #expect(comparison.outside.first?.base == nil)
    #expect(comparison.outside.first?.server == "theirs")
  }

  @Test func `without a base equal values are already in the org`() {
    let server = ServerRecord.alive(date: Self.new, fields: Self.device)
    let facts = facts(device: Self.device, issued: nil, server: server)
    #expect(verdict(facts) == .alreadyInOrg)
    #expect(detail(facts).hasNoBase)
  }

  @Test func `without a base an unreadable field is sent`() {
    let server = ServerRecord.alive(date: Self.new, fields: ["B": "b"])
    let facts = facts(device: ["A": .null, "B": "b"], issued: nil, server: server)
    #expect(verdict(facts) == .updated)
    #expect(detail(facts).fields.map(\.name) == ["A"])
  }

  @Test func `a new record reports its fields that are never sent`() {
    let facts = facts(
      .create, device: ["A": "a", "Z": "z", "Empty": "", "_own": "x"], issued: nil,
      server: .unknown(code: nil, message: ""))
    #expect(detail(facts).outside.map(\.name) == ["Z"])
  }

  @Test func `system fields and nested records are not edits outside the list`() {
    let edited: JSONObject = [
      "A": "a", "B": "b", "LastModifiedDate": .string(Self.new), "SystemModstamp": "x",
      "Owner": ["Name": "x"], "Kids": ["x"], "_flag": true, "attributes": "x", "Z": "z",
    ]
    let comparison = FieldComparison(
      device: edited, base: MergeBase(modificationDate: nil, fields: Self.issued, isComplete: true),
      server: nil, listed: ["A", "B"])
    #expect(comparison.outside.map(\.name) == ["Z"])
  }

  /// A member's issued value, its value on the device, and whether that is an edit.
  static let composites: [(given: JSONValue, held: JSONValue, isEdit: Bool)] = [
    (["city": "Bonn", "street": "1"], ["city": "Ulm", "street": "1"], true),
    (["city": "Bonn", "street": "1"], ["street": "1", "city": "Bonn"], false),
    (["city": "Bonn", "street": .null], ["city": "Bonn"], false),
    (["city": "Bonn"], ["city": "Bonn", "street": "1"], true),
    (["city": "Bonn"], ["city": "Bonn "], true),
    (["city": "Bonn"], .null, true), (.null, ["city": "Bonn"], true),
    (.null, ["city": .null, "street": ""], false), (["city": .null], .null, false),
    (["latitude": .number("37.50")], ["latitude": .number("37.5")], false),
    (["latitude": .number("37.50")], ["latitude": .number("37.51")], true),
    (["a": ["b": ["c": "x"]]], ["a": ["b": ["c": "y"]]], true),
    // A record of another object from the query.
    (
      ["attributes": ["type": "User", "url": "/v60.0/1"], "Name": "Ada"],
      ["attributes": ["type": "User", "url": "/v61.0/1"], "Name": "Ada"], false
    ),
    (
      ["attributes": ["type": "User"], "Name": "Ada"],
      ["attributes": ["type": "User"], "Name": "Ben"], true
    ),
    (["records": [["Name": "x"]]], ["records": [["Name": "y"]]], true),
    (["records": [["Name": "x"]]], ["records": [["Name": "x"], ["Name": "y"]]], true),
    (["records": [["Name": "x"]]], ["records": [["Name": "x"]]], false), (["x"], ["y"], true),
    ([], .null, false),
  ]

  @Test(arguments: composites.indices)
  func `an object member is compared as a value, and never sent`(_ index: Int) {
    let (given, held, isEdit) = Self.composites[index]
    for server in [nil, ["A": "a", "C": given], ["A": "a"]] as [JSONObject?] {
      let facts = facts(
        device: ["A": "a", "C": held], issued: ["A": "a", "C": given],
        server: server.map { .alive(date: Self.old, fields: $0) } ?? .deleted, listed: ["A"])
      #expect(verdict(facts) == (isEdit ? .notInFieldList : .unchanged))
      #expect(detail(facts).outside.map(\.name) == (isEdit ? ["C"] : []))
    }
  }

  @Test func `a new record reports its compound members that are not sent`() {
    let device: JSONObject = [
      "A": "a", "Address": ["city": "Bonn"], "Empty": ["city": .null], "None": [],
      "attributes": ["type": "Account"], "Owner": ["Name": "Ada"], "__sync_id__": 1,
    ]
    let facts = facts(
      .create, device: device, issued: nil, server: .unknown(code: nil, message: ""))
    #expect(detail(facts).outside.map(\.name).sorted() == ["Address", "Owner"])
  }

  @Test func `composed letters that become decomposed are an edit outside the list, too`() {
    let comparison = FieldComparison(
      device: ["A": "a", "Z": "e\u{301}"],
      base: MergeBase(modificationDate: nil, fields: ["A": "a", "Z": "\u{E9}"]),
      server: nil, listed: ["A"])
    #expect(comparison.outside.map(\.name) == ["Z"])
  }

  @Test func `a device's lost edit is reported against the issued values, if known`() {
    let server = ServerRecord.merged(into: "M")
    let known = facts(device: Self.device, issued: Self.issued, server: server)
    #expect(detail(known).fields.map(\.name) == ["A"])
    #expect(!detail(known).hasNoBase)
    // The device has synced by itself since, so its issued values no longer apply.
    let stale = facts(device: Self.device, issued: Self.issued, server: server, date: Self.new)
    #expect(detail(stale).fields.map(\.name) == ["A", "B"])
    #expect(detail(stale).hasNoBase)
  }

  // MARK: base

  private func choice(
    device: JSONObject = Self.device, date: String? = Self.old, issued: MergeBase? = nil,
    own: FieldKnowledge? = nil, serverDate: String? = Self.old,
    server: JSONObject? = Self.issued
  ) -> MergeBaseRule.Choice {
    MergeBaseRule.choose(
      device: device, deviceDate: date, issued: issued, ownWrite: own, serverDate: serverDate,
      serverFields: server)
  }

  private func given(_ fields: JSONObject, isComplete: Bool = false) -> MergeBase {
    MergeBase(modificationDate: Self.old, fields: fields, isComplete: isComplete)
  }

  @Test func `issued values are the base of an edit with that very date only`() {
    #expect(choice(issued: given(["A": "a"]), server: nil).base?.fields == ["A": "a"])
    let later = choice(date: Self.new, issued: given(["A": "a"]), serverDate: Self.new)
    #expect(later.base?.modificationDate == Self.new)
    #expect(later.base?.fields == Self.issued)
    let moved = choice(
      date: Self.new, issued: given(["A": "a"]), serverDate: "2026-01-03T00:00:00.000+0000")
    #expect(moved.base == nil)
  }

  @Test func `an unchanged org record completes a base with some fields`() {
    let whole = choice(issued: given(["A": "a"]), server: ["A": "x", "B": "b"])
    #expect(whole.base?.fields == ["A": "a", "B": "b"])
    let moved = choice(
      issued: given(["A": "a"]), serverDate: Self.new, server: ["A": "x", "B": "b"])
    #expect(moved.base?.fields == ["A": "a"])
    let complete = choice(issued: given(["A": "a"], isComplete: true), server: ["B": "b"])
    #expect(complete.base?.fields == ["A": "a"])
  }

  @Test func `a value that the org rounded is not an edit of a device that still has it`() {
    let own = FieldKnowledge(
      date: Self.new, fields: ["A": .number("2"), "B": "ours"], sent: ["A": .number("1.6")])
    let holding = choice(device: ["A": .number("1.6"), "B": "b"], own: own, serverDate: Self.new)
    #expect(holding.base?.fields == ["A": .number("1.6"), "B": "ours"])
    #expect(holding.date == Self.new)
    let other = choice(device: ["A": .number("7"), "B": "b"], own: own, serverDate: Self.new)
    #expect(other.base?.fields["A"] == .number("2"))
  }

  @Test func `a device that synced since our write is compared with the record it read`() {
    let own = FieldKnowledge(date: Self.old, fields: ["A": "ours"])
    let choice = choice(date: Self.new, own: own, serverDate: Self.new, server: Self.issued)
    #expect(choice.base?.fields == Self.issued)
    #expect(choice.left == [:])
  }

  // MARK: operator's values

  @Test func `an operator's value is another user's if the issued value is unknown`() {
    for (held, foreign) in [("mine", ["A"]), ("entered", [])] {
      let comparison = FieldComparison(
        device: ["A": .string(held)], base: nil, server: ["A": "entered"], listed: ["A"],
        left: ["A": "entered"], unseen: ["A"])
      #expect(comparison.foreign == foreign)
    }
  }

  /// A copy with the date of the write or a later one has its result; an older one has the value
  /// before it.
  @Test(arguments: [
    ("2026-01-01T12:00:00.000+0000", "before"), ("2026-01-02T12:00:00.000+0000", "after"),
  ])
  func `a device's base is the record issued before or after an operator's value`(
    _ date: String, _ given: String
  ) {
    var own = FieldKnowledge(
      date: "2026-01-03T00:00:00.000+0000", fields: ["A": "entered"], sent: ["A": "sent"])
    own.entered = ["A"]
    own.given = ["A": .init(before: "before", after: "after", date: Self.new)]
    let choice = choice(device: ["A": "mine"], date: date, own: own, serverDate: own.date)
    #expect(choice.base?.fields["A"] == .string(given))
    #expect(choice.left["A"] == nil)
  }

  // MARK: writes through another row of the device

  private func write(
    _ payload: JSONObject = [:], dateBefore: String?, date: String
  ) -> OperationRow {
    var before: JSONObject = ["A": "a"]
    before[OperationRow.dateKey] = dateBefore.map(JSONValue.string)
    var write = OperationRow(
      editID: 1, action: .update, sobject: "Account", recordID: nil, payload: payload,
      expected: Settlement(.updated), seen: .object(before))
    (write.serverDate, write.left) = (date, payload)
    return write
  }

  private func beside(dateBefore: String?, date: String) -> FieldKnowledge {
    var own = FieldKnowledge()
    own.add(
      write(["A": "ours"], dateBefore: dateBefore, date: date), element: nil, isSameRow: false)
    return own
  }

  @Test func `a row with the value that another row's write replaced has not edited it`() {
    let own = beside(dateBefore: Self.old, date: Self.new)
    let server: JSONObject = ["A": "ours", "B": "b"]
    for (held, edited) in [("a", ["B"]), ("mine", ["A", "B"])] {
      let device: JSONObject = ["A": .string(held), "B": "mine"]
      let choice = choice(device: device, own: own, serverDate: Self.new, server: server)
      #expect(choice.base == nil)
      #expect(choice.date == Self.new)
      let comparison = FieldComparison(
        device: device, base: choice.base, server: server, listed: ["A", "B"], left: choice.left,
        replaced: choice.replaced)
      #expect(comparison.edited.map(\.name) == edited)
      #expect(comparison.foreign == [])
    }
  }

  @Test func `a change by others next to a row with the former value is shown`() {
    let own = beside(dateBefore: Self.old, date: Self.new)
    let choice = choice(device: ["A": "a"], own: own, serverDate: Self.new, server: ["A": "office"])
    let comparison = FieldComparison(
      device: ["A": "a"], base: nil, server: ["A": "office"], listed: ["A"], left: choice.left,
      replaced: choice.replaced)
    #expect(comparison.edited == [])
    #expect(comparison.changedOnServer.map(\.name) == ["A"])
    #expect(comparison.foreign == ["A"])
  }

  @Test func `a row read in the second of another row's write did not edit the field`() {
    let own = beside(dateBefore: Self.old, date: Self.new)
    let choice = choice(
      device: ["A": "a", "B": "mine"], date: Self.new, own: own, serverDate: Self.new,
      server: ["A": "ours", "B": "b"])
    #expect(choice.base?.fields == ["A": "a", "B": "b"])
    #expect(choice.left == ["A": "ours"])
  }

  @Test func `a write over a state that the row has not seen keeps the row's date`() {
    let middle = "2026-01-01T12:00:00.000+0000"
    let device: JSONObject = ["A": "a", "B": "mine"]
    var own = beside(dateBefore: middle, date: Self.new)
    #expect(choice(device: device, own: own, serverDate: Self.new).date == Self.old)
    // The device's prior write left that state.
    own.add(write(dateBefore: Self.old, date: middle), element: nil, isSameRow: true)
    #expect(choice(device: device, own: own, serverDate: Self.new).date == Self.new)
    // An operator decided for the row's own values.
    own = FieldKnowledge()
    own.add(write(dateBefore: middle, date: Self.new), element: nil, isSameRow: true)
    #expect(choice(device: device, own: own, serverDate: Self.new).date == Self.old)
    // The values show the issued record.
    let issued = choice(device: device, issued: given(["A": "a"]), own: own, serverDate: Self.new)
    #expect(issued.date == Self.new)
  }

  @Test(arguments: [
    ("a", "a "), ("001000000000001", "001000000000001AAA"), (old, "2026-01-01T00:00:00Z"),
  ])
  func `another text is an edit, even if the org sees no difference`(_ was: String, _ now: String) {
    let comparison = FieldComparison(
      device: ["A": .string(now)],
      base: MergeBase(modificationDate: nil, fields: ["A": .string(was)]),
      server: ["A": "office"], listed: ["A"])
    #expect(comparison.edited.map(\.name) == ["A"])
  }
}
