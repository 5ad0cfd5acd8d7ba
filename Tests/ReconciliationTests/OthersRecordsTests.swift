import Ledger
import MobileSync
import Reconciliation
import Testing

struct OthersRecordsTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  private func visits(_ mode: MergeMode = .overwrite) {
    day.rules = [
      FieldDay.rule(
        "visits", ["Name", "Notes__c", "External_Id__c"], mode: mode, externalID: "External_Id__c")
    ]
  }

  private func visit(_ local: String, _ notes: String) -> Edit {
    day.created(
      "visits", "Site_Visit__c", local,
      ["Name": "Visit", "Notes__c": .string(notes), "External_Id__c": "V-1"])
  }

  private func dropped(_ made: Edit) -> Edit {
    var edit = made
    edit.operation = .dropped
    edit.lastModified += 1
    return edit
  }

  @Test(arguments: [MergeMode.leaveIfChanged, .overwrite])
  func `a discarded create leaves another's record by external ID`(_ mode: MergeMode) async throws {
    visits(mode)
    let outcome = day.org.create(
      "Site_Visit__c", ["Name": "Own", "External_Id__c": "V-1"], as: day.ada)
    let id = try #require(outcome.id)
    let made = visit("local_1", "seen")
    #expect(try await day.verdicts([made], handback: 1) == "updated 1")
    #expect(try await day.verdicts([dropped(made)], handback: 2) == "unchanged 1")
    #expect(try day.record("Site_Visit__c", id)["Notes__c"] == "seen")
  }

  @Test func `a discarded create deletes the record that its upsert created`() async throws {
    visits()
    let made = visit("local_1", "seen")
    #expect(try await day.verdicts([made], handback: 1) == "created 1")
    #expect(try await day.verdicts([dropped(made)], handback: 2) == "deleted 1")
    #expect(try day.count("SELECT Id FROM Site_Visit__c") == 0)
  }

  @Test(arguments: [
    (ReconcileOptions.DeviceConflicts.manual, "device conflict 2", 0),
    (.firstWins, "created 1, device conflict 1", 1),
    (.lastWins, "created 1, device conflict 1", 1),
  ])
  func `two new records with one external ID conflict`(
    _ across: ReconcileOptions.DeviceConflicts, _ verdicts: String, _ count: Int
  ) async throws {
    visits()
    day.options.deviceConflicts = across
    try day.handBack([visit("local_1", "first")], install: "a")
    #expect(try await day.verdicts([visit("local_2", "second")], install: "b") == verdicts)
    #expect(try day.count("SELECT Id FROM Site_Visit__c") == count)
    if count > 0 {
      let kept = across == .firstWins ? "first" : "second"
      let id = try #require(try day.details().compactMap(\.recordID).first)
      #expect(try day.record("Site_Visit__c", id)["Notes__c"] == .string(kept))
    }
  }

  @Test(arguments: [
    (ReconcileOptions.DeviceConflicts.manual, "device conflict 1"),
    (.firstWins, "device conflict 1"), (.lastWins, "updated 1"),
  ])
  func `a new record whose external ID another device has used since conflicts`(
    _ across: ReconcileOptions.DeviceConflicts, _ verdicts: String
  ) async throws {
    visits()
    day.options.deviceConflicts = across
    #expect(try await day.verdicts([visit("local_1", "first")], install: "a") == "created 1")
    let id = try #require(try day.details().first?.recordID)
    #expect(try await day.verdicts([visit("local_2", "second")], install: "b") == verdicts)
    let notes = try day.record("Site_Visit__c", id)["Notes__c"]
    #expect(notes == (across == .lastWins ? "second" : "first"))
  }

  @Test func `a new record with an external ID that the bundle could have is sent`() async throws {
    visits()
    #expect(try await day.verdicts([visit("local_1", "first")], install: "a") == "created 1")
    try day.handBack([visit("local_2", "second")], install: "b", issued: 1000)
    #expect(day.verdicts(try await day.run()) == "updated 1")
  }

  @Test func `a record that is undeleted gets its edits again`() async throws {
    day.rules = [FieldDay.rule("accounts", ["Name", "Phone"], mode: .overwrite)]
    let id = try day.make("Account", ["Name": "Deleted", "Phone": "1"])
    let edit = try day.edited(account: id, ["Phone": "5"])
    _ = day.org.delete("Account", id: id, as: day.admin)
    #expect(try await day.verdicts([edit], handback: 1) == "created 1")
    let anew = try #require(try day.details().first?.recordID)
    try day.org.undelete(id)
    _ = day.org.delete("Account", id: anew, as: day.admin)
    let later = try day.edited(account: id, ["Phone": "9"])
    try day.handBack([later], install: "a new bundle", stamp: "stamp 2")
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Account", id)["Phone"] == "9")
    #expect(try day.count("SELECT Id FROM Account") == 1)
  }

  @Test func `of two devices the later arrival wins, whichever snapshot is first`() async throws {
    day.rules = [FieldDay.rule("accounts", ["Name", "Phone"], mode: .overwrite)]
    day.options.deviceConflicts = .lastWins
    let id = try day.make("Account", ["Name": "Shared", "Phone": "1"])
    let ben = try day.edited(account: id, ["Phone": "ben"])
    let ada = try day.edited(account: id, ["Phone": "ada"])
    try day.handBack([ben], user: day.ben)
    #expect(try await day.verdicts([ada]) == "device conflict 1, updated 1")
    #expect(try day.record("Account", id)["Phone"] == "ada")
  }

  @Test func `a record of the device's own sync does not overwrite others' changes`() async throws {
    let made = day.account("local_1", ["Name": "New", "Phone": "1"])
    day.options.maxChanges.perSnapshot = 0
    #expect(try await day.verdicts([made]) == "not attempted 1")
    let id = try #require(day.org.create("Account", ["Name": "New", "Phone": "1"], as: day.ada).id)
    try day.handBack([], witnesses: [made.clean(as: id)])
    try day.change("Account", id, ["Phone": "2"])
    day.options.maxChanges.perSnapshot = 5000
    #expect(day.verdicts(try await day.run()) == "superseded 1")
    #expect(try day.record("Account", id)["Phone"] == "2")
    #expect(day.writes.isEmpty)
  }

  @Test(arguments: [true, false])
  func `a create from a backup that was already sent is not new`(_ isSamePhone: Bool) async throws {
    let made = day.account("local_1", ["Name": "New", "Phone": "1"])
    let id = try #require(day.org.create("Account", ["Name": "New", "Phone": "1"], as: day.ada).id)
    try day.handBack([], handback: 1, witnesses: [made.clean(as: id)])
    try day.change("Account", id, ["Phone": "2"])
    try day.handBack([made], install: isSamePhone ? nil : "another", handback: 1)
    let told = day.verdicts(try await day.run())
    #expect(told == (isSamePhone ? "superseded 1" : "created 1"))
    #expect(try day.record("Account", id)["Phone"] == "2")
    #expect(try day.count("SELECT Id FROM Account WHERE Name = 'New'") == (isSamePhone ? 1 : 2))
  }

  @Test(arguments: [true, false])
  func `an older copy does not recreate a record already sent`(_ isSamePhone: Bool) async throws {
    let made = day.account("local_1", ["Name": "New", "Phone": "1"])
    let id = try #require(day.org.create("Account", ["Name": "New", "Phone": "1"], as: day.ada).id)
    var edit = try day.edited(account: id, ["Phone": "2"])
    edit.row = made.row
    edit.created = isSamePhone ? made.created : made.created + 1
    edit.lastModified = made.lastModified + 1
    edit.base = nil
    // An app that does not count its returns.
    #expect(try await day.verdicts([edit], install: nil) == "updated 1")
    try day.handBack([made], install: nil)
    #expect(day.verdicts(try await day.run()) == (isSamePhone ? "superseded 1" : "created 1"))
    #expect(try day.record("Account", id)["Phone"] == "2")
    #expect(try day.count("SELECT Id FROM Account WHERE Name = 'New'") == (isSamePhone ? 1 : 2))
  }

  /// A new record that its device sent by itself before the pipeline did, and an edit of it that
  /// the device made afterwards.
  private func sentAndEdited() async throws -> (made: Edit, edit: Edit, id: String) {
    let made = day.account("local_1", ["Name": "New", "Phone": "1"])
    let most = day.options.maxChanges.perSnapshot
    day.options.maxChanges.perSnapshot = 0
    #expect(try await day.verdicts([made], handback: 1) == "not attempted 1")
    day.options.maxChanges.perSnapshot = most
    let id = try #require(day.org.create("Account", ["Name": "New", "Phone": "1"], as: day.ada).id)
    var edit = try day.edited(account: id, ["Phone": "2"])
    (edit.row, edit.created, edit.base) = (made.row, made.created, nil)
    edit.lastModified = made.lastModified + 5
    return (made, edit, id)
  }

  @Test(arguments: [true, false])
  func `an edit of a record that its device sent stays when the unsent row comes`(
    _ isRestored: Bool
  ) async throws {
    let (made, edit, id) = try await sentAndEdited()
    // The device was restored from a backup and counts again, or an older copy arrives late.
    try day.handBack([edit], handback: isRestored ? 2 : 3)
    try day.handBack([made], handback: 2)
    let summary = try await day.run()
    #expect(summary.verdicts[.updated] == 1 && summary.verdicts[.created] == nil)
    #expect(try day.record("Account", id)["Phone"] == "2")
    #expect(try day.count("SELECT Id FROM Account WHERE Name = 'New'") == 1)
    #expect(try day.state.unsettledEdits().isEmpty)
  }

  @Test(arguments: [true, false])
  func `an edit of a record that its device sent is only closed by a clean row of its own lineage`(
    _ isRestored: Bool
  ) async throws {
    let (_, edit, id) = try await sentAndEdited()
    try day.handBack([edit], handback: 2)
    // From a backup, the device has sent the row again, by its external ID.
    try day.handBack([], handback: isRestored ? 2 : 3, witnesses: [edit.clean(as: id)])
    #expect(try await day.run().verdicts[.updated] == (isRestored ? 1 : nil))
    #expect(try day.record("Account", id)["Phone"] == (isRestored ? "2" : "1"))
    #expect(try day.state.unsettledEdits().isEmpty)
  }

  // MARK: one new row on several phones

  /// An open edit of a new record as the bundle with the stamp "next" redelivers it.
  private func redelivered(_ edit: Edit, _ number: Int64) throws -> Edit {
    var row = edit
    row.row.soupEntryID += 100
    (row.created, row.lastModified) = (5000, 5000)
    try day.state.note(carried: [
      CarriedRow(
        edit: number, source: ElementContent.digest(of: edit.element), stampID: "next",
        row: row.row, mark: "run 2", lastModified: row.lastModified,
        value: ElementContent.value(of: row.element))
    ])
    return row
  }

  @Test(arguments: [true, false])
  func `a phone that has sent a new row closes no edit of another phone that has the same row`(
    _ isRedelivered: Bool
  ) async throws {
    let made = day.account("local_1", ["Name": "New", "Phone": "1"])
    try day.handBack([made], handback: 1)
    let row = isRedelivered ? try redelivered(made, 1) : made
    let (stamp, run) = isRedelivered ? ("next", "run 2") : (nil, nil)
    let edit = try row.changed(["Phone": "3"])
    try day.handBack([edit], install: "another", handback: 1, stamp: stamp, carriedBy: run)
    let id = try #require(day.org.create("Account", ["Name": "New", "Phone": "1"], as: day.ada).id)
    // By its own clock, the phone has sent the row after the other one was edited.
    try day.handBack(
      [], install: isRedelivered ? "next" : nil, handback: 2, stamp: stamp,
      witnesses: [row.clean(at: edit.lastModified + 5, as: id)], carriedBy: run)
    try day.org.moveClock(by: 60_000)
    try day.change("Account", id, ["Phone": "2"])
    #expect(day.verdicts(try await day.run()) == "conflict 1, superseded 1")
    #expect(try day.record("Account", id)["Phone"] == "2")
    #expect(try day.count("SELECT Id FROM Account WHERE Name = 'New'") == 1)
  }

  @Test(arguments: ["run 2", nil])
  func `a phone that has sent a redelivered new row closes its edits from before`(_ run: String?)
    async throws
  {
    let made = day.account("local_1", ["Name": "New", "Phone": "1"])
    let edit = try made.changed(["Phone": "3"])
    // An app that does not count its returns: both edits stay open.
    for one in [made, edit] { try day.handBack([one]) }
    let row = try redelivered(edit, 2)
    let id = try #require(day.org.create("Account", ["Name": "New", "Phone": "3"], as: day.ada).id)
    try day.handBack(
      [], install: "next", handback: 1, stamp: "next",
      witnesses: [row.clean(as: id)], carriedBy: run)
    try day.change("Account", id, ["Phone": "2"])
    #expect(day.verdicts(try await day.run()) == "superseded 2")
    #expect(try day.record("Account", id)["Phone"] == "2")
    #expect(day.writes.isEmpty)
  }

  @Test(arguments: [true, false], [true, false])
  func `without marks, a phone that has sent a new row only closes an edit of a row made on it`(
    _ isRedelivered: Bool, isCleanFirst: Bool
  ) throws {
    let made = day.account("local_1", ["Name": "New", "Phone": "1"])
    if isRedelivered { try day.handBack([made], handback: 1) }
    let row = isRedelivered ? try redelivered(made, 1) : made
    let edit = try row.changed(["Phone": "3"])
    let clean = row.clean(at: edit.lastModified + 5, as: "001000000000007AAA")
    for isClean in [isCleanFirst, !isCleanFirst] {
      try day.handBack(
        isClean ? [] : [edit], stamp: "next", witnesses: isClean ? [clean] : [], isMarked: false,
        carriedBy: isRedelivered ? "run 2" : nil)
    }
    let last = try #require(try day.state.editStates().last)
    #expect(last.verdict == (isRedelivered ? nil : Verdict.superseded.rawValue))
  }

  // MARK: restored devices

  @Test func `a restored device that skips a number closes no unknown edits`() async throws {
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    var edit = try day.edited(account: id, ["Phone": "5"])
    edit.lastModified = 5000
    try day.change("Account", id, ["Phone": "2"])
    #expect(try await day.verdicts([edit], handback: 1) == "conflict 1")
    try day.handBack(
      [], handback: 3,
      witnesses: [CleanRow(row: edit.row, created: 1, lastModified: 100, serverID: id)])
    _ = try await day.run()
    #expect(try day.state.unsettledEdits() == [.conflict: 1])
  }

  @Test func `an edit discarded after the device's clock was set back is closed`() async throws {
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    var edit = try day.edited(account: id, ["Phone": "5"])
    edit.lastModified = 9_000_000
    try day.change("Account", id, ["Phone": "2"])
    #expect(try await day.verdicts([edit], handback: 1, issued: 500) == "conflict 1")
    try day.handBack(
      [], handback: 2, issued: 500,
      witnesses: [CleanRow(row: edit.row, created: 1, lastModified: 5000, serverID: id)])
    _ = try await day.run()
    #expect(try day.state.unsettledEdits().isEmpty)
    #expect(day.writes.isEmpty)
  }

  @Test func `a new record that two devices each sent is reported as a duplicate`() async throws {
    let long = String(repeating: "x", count: 300)
    let edit = day.account("local_1", ["Name": .string(long)])
    #expect(try await day.verdicts([edit], install: "one", handback: 1) == "failed 1")
    for (install, handback) in [("one", Int64(2)), ("restored from its backup", 1)] {
      let own = try day.make("Account", ["Name": .string(install)])
      try day.handBack(
        [], install: install, handback: handback,
        witnesses: [edit.clean(at: 8000 + handback, as: own)])
    }
    #expect(try await day.run().verdicts[.duplicateCreated] == 1)
    let detail = try #require(try day.details().first { $0.otherID != nil })
    #expect(Set([detail.recordID, detail.otherID]).count == 2)
  }

  @Test(arguments: [true, false])
  func `edits made before a decision go into the chosen record`(_ takesOurs: Bool) async throws {
    let edit = day.account("local_1", ["Name": "New", "Phone": "1"])
    #expect(try await day.verdicts([edit], handback: 1) == "created 1")
    let ours = try #require(try day.details().first?.recordID)
    let own = try day.make("Account", ["Name": "New", "Phone": "1"])
    try day.handBack([], handback: 2, witnesses: [edit.clean(at: 8000, as: own)])
    #expect(day.verdicts(try await day.run()) == "duplicate created 1")
    // Its row is still a new record's, as in a store from before the device's own sync.
    var later = try edit.changed(["Phone": "5"])
    later.lastModified = 9000
    try day.handBack([later], handback: 3)
    #expect(try await day.run().verdicts[.duplicateCreated] == 1)
    let open = try day.state.editNumbers(.open([.duplicateCreated]))
    #expect(open.count == 1)
    let (chosen, other) = takesOurs ? (ours, own) : (own, ours)
    try day.state.decide(open.map { PendingDecision($0, .record(chosen)) }, by: "an operator")
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Account", chosen)["Phone"] == "5")
    #expect(try day.record("Account", other)["Phone"] == "1")
    #expect(try day.state.unsettledEdits().isEmpty)
  }
}
