import JSON
import Ledger
import MobileSync
import Testing

struct OwnSyncsTests {
  private func day(_ mode: MergeMode, merges: Bool = false) throws -> FieldDay {
    let day = try FieldDay("accounts", ["Name", "Phone", "Industry"], mode: mode)
    day.options.mergesFields = merges
    return day
  }

  /// The device's own sync: it writes as its user, and keeps the date of its copy.
  private func send(_ day: FieldDay, _ id: String, _ fields: JSONObject) throws {
    try day.org.moveClock(by: 60_000)
    if let error = day.org.update("Account", id: id, fields, as: day.ada).errors.first {
      throw error
    }
  }

  // MARK: a new record

  /// A new record that is not attempted and then created by its device's own sync; its first edit,
  /// and its ID.
  private func made(_ day: FieldDay) async throws -> (edit: Edit, id: String) {
    let made = day.account("local_1", ["Name": "New", "Phone": "1"])
    let most = day.options.maxChanges.perSnapshot
    day.options.maxChanges.perSnapshot = 0
    #expect(try await day.verdicts([made], handback: 1) == "not attempted 1")
    let id = try #require(day.org.create("Account", ["Name": "New", "Phone": "2"], as: day.ada).id)
    let witness = made.clean(as: id)
    day.options.maxChanges.perSnapshot = most
    #expect(try await day.verdicts([], handback: 2, witnesses: [witness]) == "superseded 1")
    return (made, id)
  }

  @Test(arguments: [nil, "another phone"], [true, false])
  func `an edit of a record from the device's own sync does not update that record`(
    _ install: String?, merges: Bool
  ) async throws {
    let day = try day(.leaveIfChanged, merges: merges)
    let (first, id) = try await made(day)
    try day.org.moveClock(by: 60_000)
    if !merges { try day.change("Account", id, ["Phone": "office"]) }
    // From a backup, or on another device, the row is still a new record's.
    try day.handBack([try first.changed(["Phone": "3"])], install: install, handback: 1)
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    let held: JSONValue = merges ? "2" : "office"
    #expect(try day.record("Account", id)["Phone"] == held)
    let fields = try #require(try day.details().first).fields.filter { $0.name == "Phone" }
    #expect(fields.map(\.device) == ["3"] && fields.map(\.server) == [held])
    let open = try day.state.editNumbers(.open([.conflict]))
    try day.state.decide(open.map { PendingDecision($0, .device) }, by: "an operator")
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Account", id)["Phone"] == "3")
    if install == nil { return }
    // The row's next edit is based on its sent values.
    try day.handBack([try first.changed(["Phone": "4"], later: 9)], install: install, handback: 2)
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Account", id)["Phone"] == "4")
  }

  @Test func `a row that its device discarded deletes no record that it never saw`() async throws {
    let day = try day(.leaveIfChanged)
    let (first, id) = try await made(day)
    var dropped = try first.changed([:])
    dropped.operation = .dropped
    #expect(try await day.verdicts([dropped], handback: 1) == "conflict 1")
    #expect(try day.record("Account", id)["Phone"] == "2")
  }

  @Test func `overwriting overwrites the device's own sync, and reports it`() async throws {
    let day = try day(.overwrite)
    let (first, id) = try await made(day)
    #expect(try await day.verdicts([try first.changed(["Phone": "3"])], handback: 1) == "updated 1")
    #expect(try day.record("Account", id)["Phone"] == "3")
    #expect(try day.details().first?.fields.map(\.server) == ["2"])
  }

  // MARK: restored values

  @Test(arguments: MergeMode.allCases)
  func `a value restored after another was sent is not unchanged`(_ mode: MergeMode) async throws {
    let day = try day(mode)
    let (id, putBack) = try day.made("Account", ["Name": "One", "Phone": "1"], edited: [:])
    try send(day, id, ["Phone": "A"])
    try day.handBack([putBack])
    let overwrites = mode == .overwrite
    #expect(day.verdicts(try await day.run()) == (overwrites ? "updated 1" : "conflict 1"))
    #expect(try day.record("Account", id)["Phone"] == (overwrites ? "1" : "A"))
    let detail = try #require(try day.details().first)
    #expect(detail.fields.map(\.name) == ["Phone"])
    #expect(detail.fields.map(\.isConflicting) == [true])
    #expect(detail.message?.contains("the device did not change Phone, or") == true)
    if overwrites { return }
    try day.decide(1, .device)
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Account", id)["Phone"] == "1")
  }

  @Test(arguments: [true, false])
  func `an untouched field is doubted if its user wrote the record`(_ isOwn: Bool) async throws {
    let day = try day(.leaveIfChanged, merges: true)
    let (id, edit) = try day.made(
      "Account", ["Name": "One", "Phone": "1"], edited: ["Name": "Two"])
    if isOwn {
      try send(day, id, ["Phone": "A"])
    } else {
      try day.change("Account", id, ["Phone": "A"])
    }
    #expect(try await day.verdicts([edit]) == (isOwn ? "conflict 1" : "updated 1"))
    let record = try day.record("Account", id)
    #expect(record["Phone"] == "A" && record["Name"] == (isOwn ? "One" : "Two"))
  }

  @Test func `a write sent as the user is not the device's own sync`() async throws {
    let day = try day(.leaveIfChanged)
    let (id, edit) = try day.made("Account", ["Name": "One", "Phone": "1"], edited: ["Phone": "2"])
    var other = try day.edited(account: id, [:])
    try day.org.moveClock(by: 60_000)
    #expect(try await day.verdicts([edit], install: "one") == "updated 1")
    // Another device of the user has saved the row as issued.
    other.lastModified += 50
    #expect(try await day.verdicts([other], install: "two") == "unchanged 1")
    #expect(try day.record("Account", id)["Phone"] == "2")
  }

  // MARK: an app without marks

  @Test(arguments: MergeMode.allCases, [true, false])
  func `a value restored in an app without an install ID conflicts with the write`(
    _ mode: MergeMode, isOneRun: Bool
  ) async throws {
    let day = try day(mode)
    let (id, edit) = try day.made("Account", ["Name": "One", "Phone": "1"], edited: ["Phone": "A"])
    try day.org.moveClock(by: 60_000)
    try day.handBack([edit], isMarked: false)
    if !isOneRun { #expect(day.verdicts(try await day.run()) == "updated 1") }
    try day.handBack([try edit.changed(["Phone": "1"])], isMarked: false)
    #expect(
      day.verdicts(try await day.run()) == (isOneRun ? "device conflict 2" : "device conflict 1"))
    #expect(try day.details().flatMap(\.fields).contains { $0.name == "Phone" && $0.device == "1" })
    try day.decide(2, .device)
    if isOneRun { try day.decide(1, .server) }
    _ = try await day.run()
    #expect(try day.record("Account", id)["Phone"] == "1")
    #expect(try day.state.unsettledEdits().isEmpty)
  }
}
