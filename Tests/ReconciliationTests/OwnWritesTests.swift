import JSON
import Ledger
import LocalOrg
import MobileSync
import Reconciliation
import SQLite
import Testing

/// The writes that a device's later edits are compared with: those of its own past, as far as their
/// result is known.
struct OwnWritesTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  /// Another user changes a record after an edit of it was sent, before it is read back.
  private func comesBetween(_ day: FieldDay, _ id: String, _ fields: JSONObject) {
    day.server.faults.add(.kind(.retrieve), nth: 2, times: 1, .update(id, fields))
  }

  @Test func `a field that a write did not send was not issued to its device`() async throws {
    day.options.mergesFields = true
    let id = try day.make("Account", ["Name": "One", "Phone": "1", "Industry": "Energy"])
    let other = try day.make("Account", ["Name": "Other", "Phone": "1", "Industry": "Energy"])
    let edit = try day.edited(account: id, ["Phone": "2"])
    // One query reads back both, with the fields of both.
    let beside = try day.edited(account: other, ["Industry": "Retail"])
    try day.change("Account", id, ["Industry": "Media"])
    #expect(try await day.verdicts([edit, beside], handback: 1) == "updated 2")
    #expect(try await day.verdicts([try edit.changed(["Phone": "3"])], handback: 2) == "updated 1")
    #expect(try day.record("Account", id)["Industry"] == "Media")
    #expect(try day.record("Account", id)["Phone"] == "3")
    try day.handBack([try edit.changed(["Phone": "3", "Industry": "Mining"])], handback: 3)
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    #expect(try day.record("Account", id)["Industry"] == "Media")
  }

  @Test func `others' changes before our write was read back are not ours`() async throws {
    let id = try day.make("Account", ["Name": "One", "Phone": "1", "Industry": "Energy"])
    let edit = try day.edited(account: id, ["Phone": "2"])
    try day.handBack([edit], handback: 1)
    comesBetween(day, id, ["Industry": "Media"])
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try await day.verdicts([try edit.changed(["Phone": "3"])], handback: 2) == "conflict 1")
    #expect(try day.record("Account", id)["Industry"] == "Media")
  }

  /// The org's automation sets a field with each change of a phone number.
  @Test(arguments: [MergeMode.leaveIfChanged, .overwrite])
  func `the row's next edit keeps the org's version of our write`(_ mode: MergeMode) async throws {
    let day = try FieldDay("accounts", ["Name", "Phone", "Industry"], mode: mode)
    let rules = """
      {"objects": {"Account": {"fieldUpdates": [{"name": "Note",
        "condition": "NOT(ISNEW()) && ISCHANGED(Phone)", "set": {"Industry": "'Media'"}}]}}}
      """
    try day.org.setUp(OrgSetup(parsing: Array(rules.utf8)))
    let id = try day.make("Account", ["Name": "One", "Phone": "1", "Industry": "Energy"])
    let edit = try day.edited(account: id, ["Phone": "2"])
    #expect(try await day.verdicts([edit], handback: 1) == "updated 1")
    #expect(try day.record("Account", id)["Industry"] == "Media")
    #expect(try await day.verdicts([try edit.changed(["Name": "Two"])], handback: 2) == "updated 1")
    let record = try day.record("Account", id)
    #expect(record["Name"] == "Two" && record["Industry"] == "Media")
  }

  @Test func `an edit whose device read the outcome contradicts no other soup`() async throws {
    day.rules = ["accounts", "others"].map { FieldDay.rule($0, ["Name", "Phone", "Industry"]) }
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.handBack([try day.edited(account: id, ["Phone": "2"])])
    comesBetween(day, id, ["Industry": "Media"])
    #expect(day.verdicts(try await day.run()) == "updated 1")
    try day.org.moveClock(by: 60_000)
    try day.change("Account", id, ["Industry": "Energy"])
    try day.handBack([try day.edited("others", "Account", id, ["Phone": "3"])])
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Account", id)["Phone"] == "3")
  }

  @Test(arguments: [Decision.device, .set(["Phone": "4"], rest: .device)], [1, 2] as [Int64])
  func `of two rows that contradict each other, a decided one is not replaced by the other`(
    _ decision: Decision, _ decided: Int64
  ) async throws {
    day.rules = ["accounts", "others"].map { FieldDay.rule($0, ["Name", "Phone", "Industry"]) }
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    let edits = [
      try day.edited(account: id, ["Phone": "2"]),
      try day.edited("others", "Account", id, ["Phone": "3"]),
    ]
    #expect(try await day.verdicts(edits, handback: 1) == "device conflict 2")
    try day.decide(decided, decision)
    #expect(day.verdicts(try await day.run()) == "updated 1")
    let phone = try day.record("Account", id)["Phone"]
    try day.decide(3 - decided, .retry)
    _ = try await day.run()
    #expect(try day.record("Account", id)["Phone"] == phone)
    #expect(try day.state.unsettledEdits().values.reduce(0, +) == 1)
  }

  /// Another user corrects a new record before it is read back; `isLost` means that the answer was
  /// lost, too.
  @Test(arguments: [true, false])
  func `an instant correction of a new record by another user is kept`(_ isLost: Bool) async throws
  {
    let edit = day.contact("local_1", ["LastName": "Lovelace", "Department": "Analysis"])
    try day.handBack([edit], handback: 1)
    let admin = day.admin
    let correct: @Sendable (LocalOrg.Org) -> Void = { org in
      let page = try? org.query(
        "SELECT Id FROM Contact WHERE LastName = 'Lovelace'", as: admin, includeDeleted: false)
      let made = page.flatMap { try? JSONValue(parsing: $0.records) }?.array?.first
      guard let id = made?["Id"]?.string else { return }
      _ = org.update("Contact", id: id, ["Department": "Engines"], as: admin)
    }
    if isLost { day.server.faults.add(.kind(.collectionCreate), .drop(afterCommit: true)) }
    day.server.faults.add(.kind(isLost ? .query : .retrieve), nth: 1, times: 1, .mutate(correct))
    #expect(day.verdicts(try await day.run()) == "created 1")
    let id = try #require(try day.details().first?.recordID)
    #expect(try day.record("Contact", id)["Department"] == "Engines")
    try day.handBack([try edit.changed(["Email": "ada@lovelace.example"])], handback: 2)
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    #expect(try day.record("Contact", id)["Department"] == "Engines")
    #expect(try day.record("Contact", id)["Email"]?.string == nil)
    // A decision for the device sends only the values that the device has entered since.
    try day.decide(2, .device)
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Contact", id)["Email"] == "ada@lovelace.example")
    #expect(try day.record("Contact", id)["Department"] == "Engines")
  }

  @Test func `another device's write is not a base`() async throws {
    let day = try FieldDay("accounts", ["Name", "Phone", "Industry"], mode: .overwrite)
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    let issued = try day.edited(account: id, ["Phone": "2"])
    #expect(try await day.verdicts([issued], install: "a") == "updated 1")
    // The other device has synced since, and another user has made a change.
    var other = try day.edited(account: id, ["Phone": "3"])
    other.base = issued.base
    try day.org.moveClock(by: 60_000)
    try day.change("Account", id, ["Industry": "Media"])
    #expect(try await day.verdicts([other], install: "b") == "updated 1")
    #expect(try day.details().first?.hasNoBase == true)
  }

  @Test func `an edit without a date conflicts with another of a recreated record`() async throws {
    let day = try FieldDay("accounts", ["Name", "Phone"], mode: .overwrite)
    let id = try day.make("Account", ["Name": "Deleted", "Phone": "1"])
    let ada = try day.edited(account: id, ["Phone": "5"])
    _ = day.org.delete("Account", id: id, as: day.admin)
    #expect(try await day.verdicts([ada]) == "created 1")
    let page = try day.org.query("SELECT Id FROM Account", as: day.admin, includeDeleted: false)
    let made = try #require(try JSONValue(parsing: page.records)[0]?["Id"]?.string)
    var ben = try day.edited(account: made, ["Phone": "6"])
    ben.modificationDate = nil
    #expect(try await day.verdicts([ben], user: day.ben) == "device conflict 1")
  }

  @Test func `edits of a recreated record conflict, though they have its old ID`() async throws {
    let day = try FieldDay("accounts", ["Name", "Phone"], mode: .overwrite)
    let id = try day.make("Account", ["Name": "Deleted", "Phone": "1"])
    let ada = try day.edited(account: id, ["Phone": "5"])
    let ben = try day.edited(account: id, ["Phone": "6"])
    _ = day.org.delete("Account", id: id, as: day.admin)
    #expect(try await day.verdicts([ada], handback: 1) == "created 1")
    try day.handBack([try ada.changed(["Phone": "7"])], handback: 2)
    #expect(try await day.verdicts([ben], user: day.ben) == "device conflict 2")
    #expect(try day.count("SELECT Id FROM Account WHERE Phone = '5'") == 1)
  }

  @Test func `a retry leaves an open edit that a later edit replaced`() async throws {
    let (id, edit) = try day.made("Account", ["Name": "One", "Phone": "1"], edited: ["Phone": "2"])
    try day.change("Account", id, ["Phone": "office"])
    #expect(try await day.verdicts([edit]) == "conflict 1")
    let fresh = try day.edited(account: id, ["Phone": "3"])
    var later = try edit.changed([:])
    later.element = fresh.element
    later.modificationDate = fresh.modificationDate
    #expect(try await day.verdicts([later]) == "superseded 1, updated 1")
    let ledger = try Connection(day.directory.file("state.sqlite"), mode: .readWrite)
    defer { ledger.close() }
    try ledger.run("UPDATE edit SET verdict = 'conflict', superseded_by = NULL WHERE id = 1")
    #expect(try !day.retries(1))
    try await day.run()
    #expect(try day.state.editStates().map(\.verdict) == ["superseded", "updated"])
    #expect(try day.record("Account", id)["Phone"] == "3")
  }

  // MARK: in the ledger

  private static let first = "2026-02-01T00:00:01.000+0000"
  private static let second = "2026-02-01T00:00:02.000+0000"

  private func write(
    _ state: LedgerDatabase, _ edit: Int64, _ name: String, date: String?, isOurs: Bool = true
  ) throws {
    let run = try state.beginRun(pipeline: "p", now: 0, configHash: "c", host: "h").id
    let row = OperationRow(
      editID: edit, action: .update, sender: "ada@example.com", sobject: "Account",
      recordID: LedgerFixture.accountID, payload: ["Name": .string(name)],
      expected: Settlement(.updated))
    let planned = try state.plan([([row], "005000000000001AAA")], run: run)[0]
    try state.markSent(planned, now: 1000)
    try state.finish(planned[0], .done(recordID: nil))
    let fields: JSONObject? = isOurs ? ["Name": .string(name), "Phone": "1"] : nil
    try state.noteLeft([(planned[0], date, fields)])
  }

  private func ownWrite(_ state: LedgerDatabase, _ edit: Int64) throws -> FieldKnowledge? {
    let edit = try #require(try state.openEdit(id: edit))
    return try state.history(of: .init(edit)).ownWrite(of: edit)
  }

  @Test func `the last write in an edit's own past is its base, as far as known`() throws {
    let fixture = try LedgerFixture()
    let state = fixture.state
    func handBack(_ sha: String, _ install: String, _ handback: Int64, _ name: String) throws {
      _ = try state.record(
        return: LedgerFixture.returned(sha, install: install, handback: handback),
        edits: [LedgerFixture.update(1, date: handback * 10, name: name)])
    }
    try handBack("a", "A", 1, "one")
    try handBack("b", "B", 1, "other")
    try handBack("c", "A", 2, "two")
    try handBack("d", "A", 3, "three")
    #expect(try ownWrite(state, 4) == nil)
    // A write of another device does not count.
    try write(state, 2, "other", date: Self.first)
    #expect(try ownWrite(state, 4) == nil)
    #expect(try ownWrite(state, 2)?.left["Name"] == "other")
    try write(state, 1, "one", date: Self.first)
    #expect(try ownWrite(state, 4)?.date == Self.first)
    // Fields that were read but not sent were not issued to its device.
    #expect(try ownWrite(state, 4)?.fields == ["Name": "one"])
    // Another user wrote before it was read back, so its result is unknown.
    try write(state, 3, "two", date: Self.second, isOurs: false)
    #expect(try ownWrite(state, 4) == nil)
    try write(state, 3, "two", date: Self.second)
    #expect(try ownWrite(state, 4)?.date == Self.second)
    #expect(try ownWrite(state, 4)?.sent["Name"] == "two")
    // Later writes of the row are not part of the past of an edit that is processed again.
    #expect(try ownWrite(state, 1)?.sent["Name"] == "one")
  }
}
