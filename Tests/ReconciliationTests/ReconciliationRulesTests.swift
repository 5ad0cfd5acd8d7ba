import Ledger
import Testing

struct ReconciliationRulesTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  @Test func `an issued element with another date is not a base`() async throws {
    let id = try day.make("Account", ["Name": "One", "Phone": "1", "Industry": "Energy"])
    let issued = try day.edited(account: id, [:])
    try day.change("Account", id, ["Phone": "2"])
    // The device has synced by itself since: it has the newer Phone, and edits another field.
    var edit = try day.edited(account: id, ["Industry": "Banking"])
    edit.base = issued.base
    #expect(try await day.verdicts([edit]) == "updated 1")
    #expect(try day.details().first?.fields.map(\.name) == ["Industry"])
  }

  @Test func `the last of our prior writes is the base, not the first`() async throws {
    let (id, edit) = try day.made("Account", ["Name": "One", "Phone": "1"], edited: ["Phone": "2"])
    for (handback, phone) in [(Int64(1), "2"), (2, "3"), (3, "2")] {
      let later = try edit.changed(["Phone": .string(phone)], later: handback)
      #expect(try await day.verdicts([later], handback: handback) == "updated 1")
      #expect(try day.record("Account", id)["Phone"] == .string(phone))
    }
  }

  @Test func `edits of a deleted record conflict after it was recreated`() async throws {
    day.options.deviceConflicts = .lastWins
    day.rules = [FieldDay.rule("accounts", ["Name", "Phone"], mode: .overwrite)]
    let id = try day.make("Account", ["Name": "Deleted", "Phone": "1"])
    let first = try day.edited(account: id, ["Phone": "5"])
    let second = try day.edited(account: id, ["Phone": "6"])
    let third = try day.edited(account: id, ["Phone": "7"])
    _ = day.org.delete("Account", id: id, as: day.admin)
    #expect(try await day.verdicts([first]) == "created 1")
    let made = try #require(try day.details().first?.recordID)
    try day.org.share(made, with: "ben@example.com")
    try day.handBack([second], user: day.ben)
    try day.handBack([third], user: day.ben, install: "another of ben")
    #expect(day.verdicts(try await day.run()) == "device conflict 1, updated 1")
    #expect(try day.count("SELECT Id FROM Account WHERE Phone = '7'") == 1)
  }

  @Test(arguments: [false, true])
  func `OVERWRITE sends all listed fields to a record, recreated or not`(
    _ isRecreated: Bool
  ) async throws {
    day.options.deviceConflicts = .lastWins
    day.rules = [
      FieldDay.rule("accounts", ["Name", "Phone"], mode: .overwrite),
      FieldDay.rule("calls", ["Description", "Phone"], mode: .overwrite),
    ]
    let id = try day.make("Account", ["Name": "One", "Phone": "1", "Description": "issued"])
    let first = try day.edited(account: id, ["Phone": "2"])
    let second = try day.edited("calls", "Account", id, ["Description": "edited"])
    if isRecreated { _ = day.org.delete("Account", id: id, as: day.admin) }
    let verdict = isRecreated ? "created 1" : "updated 1"
    #expect(try await day.verdicts([first], install: "a") == verdict)
    #expect(try await day.verdicts([second], install: "b") == "updated 1")
    let detail = try #require(try day.details().first)
    let phone = try #require(detail.fields.first { $0.name == "Phone" })
    #expect(phone.device == "1" && phone.server == "2")
    let current = try #require(detail.recordID)
    let record = try day.record("Account", current)
    #expect(record["Phone"] == "1" && record["Description"] == "edited")
  }

  @Test func `a later return lacking the row leaves an unconfirmed edit to resolve`() async throws {
    day.options.unansweredWaitSeconds = 900
    let edit = day.account("local_1", ["Name": "New"])
    day.server.faults.add(.writes, nth: 1, times: 1, .drop(afterCommit: true))
    #expect(try await day.verdicts([edit], handback: 1) == "unconfirmed 1")
    #expect(try await day.verdicts([], handback: 2) == "unconfirmed 1")
    day.options.unansweredWaitSeconds = 0
    #expect(day.verdicts(try await day.run()) == "conflict 1")
    // The org has the value that the device discarded.
    #expect(try day.state.unsettledEdits() == [.conflict: 1])
  }

  @Test func `a fork does not own the trunk's return of the same number`() async throws {
    let (id, edit) = try day.made("Account", ["Name": "One", "Phone": "1"], edited: ["Phone": "2"])
    #expect(try await day.verdicts([edit], handback: 2) == "updated 1")
    try day.handBack([try edit.changed(["Phone": "3"], later: 5)], handback: 2)
    #expect(day.verdicts(try await day.run()) == "device conflict 1")
    #expect(try day.record("Account", id)["Phone"] == "2")
    let ancestry = Ancestry(lineage: 2, trunks: [1: 2])
    #expect(ancestry.owns(lineage: 1, handback: 1))
    #expect(!ancestry.owns(lineage: 1, handback: 2))
  }

  @Test func `the later of two unordered states is not sent over the first`() async throws {
    let (id, edit) = try day.made("Account", ["Name": "One", "Phone": "1"], edited: ["Phone": "2"])
    try day.handBack([edit])
    #expect(try day.handBack([try edit.changed(["Phone": "3"], later: 0)]).unordered == 1)
    #expect(try await day.run().verdicts[.deviceConflict] == 1)
    #expect(try day.record("Account", id)["Phone"] != "3")
  }

  @Test func `the same row and date with other content is another edit`() throws {
    let fixture = try LedgerFixture()
    try fixture.record("a", install: "A", [LedgerFixture.update(1, date: 5, name: "x")])
    let other = try fixture.record("b", install: "B", [LedgerFixture.update(1, date: 5, name: "y")])
    #expect(other.new == 1)
    #expect(try fixture.verdicts() == ["open -", "open -"])
  }

  @Test func `two states of one row with one date are unordered`() throws {
    let fixture = try LedgerFixture()
    func handBack(_ sha: String, date: Int64, name: String) throws -> IngestResult {
      try fixture.record(sha, install: "A", [LedgerFixture.update(1, date: date, name: name)])
    }
    #expect(try handBack("a", date: 5, name: "x").new == 1)
    #expect(try handBack("b", date: 5, name: "y").unordered == 1)
    #expect(try handBack("c", date: 4, name: "z").unordered == 1)
    #expect(try handBack("d", date: 6, name: "w").new == 1)
  }

  @Test(arguments: [(2, false), (3, true)])
  func `the guard allows as many changes as its limit`(_ edits: Int, _ isHeld: Bool) async throws {
    day.options.maxChanges = .init(perSnapshot: 2)
    let ids = try (0..<edits).map { try day.make("Account", ["Name": .string("A\($0)")]) }
    try day.handBack(try ids.map { try day.edited(account: $0, ["Phone": "2"]) })
    #expect(
      day.verdicts(try await day.run()) == (isHeld ? "not attempted \(edits)" : "updated \(edits)"))
  }

  @Test(arguments: [(10, 1, 4, false), (10, 1, 5, true), (1, 2, 2, false), (1, 2, 3, true)])
  func `the guard allows as many deletions as its limit, by share or by number`(
    _ percent: Int, _ atLeast: Int, _ deletes: Int, _ isHeld: Bool
  ) async throws {
    // A soup of a return has forty rows here.
    day.options.maxChanges = .init(
      perSnapshot: 100, deletes: .init(maxDeletesPercent: percent, minimumDeletes: atLeast))
    let ids = try (0..<deletes).map { try day.make("Account", ["Name": .string("A\($0)")]) }
    for id in ids { try day.org.transfer(id, to: "ada@example.com") }
    try day.handBack(try ids.map { try day.edited(account: $0, [:], deleted: true) })
    #expect(
      day.verdicts(try await day.run())
        == (isHeld ? "not attempted \(deletes)" : "deleted \(deletes)"))
  }

  @Test func `a child whose parent is not sent is not even planned`() async throws {
    try day.handBack([
      day.account("local_1", ["Name": "Parent", "ParentId": "local_elsewhere"]),
      day.contact("local_2", ["LastName": "Kid", "AccountId": "local_1"]),
    ])
    #expect(day.verdicts(try await day.run()) == "blocked 2")
    #expect(try day.state.connection.integer("SELECT count(*) FROM operation") == 0)
    #expect(
      try day.details().compactMap(\.message).sorted() == [
        "AccountId refers to a record that did not reach the org",
        "ParentId refers to a record that is not among the edits of this bundle",
      ])
  }

  @Test func `a blocked edit names the field that blocks it, in every run`() async throws {
    try day.handBack([
      day.account("local_1", ["Phone": "no name"]),
      day.contact("local_2", ["LastName": "Kid", "AccountId": "local_1"]),
      day.contact("local_3", ["LastName": "Free"]),
    ])
    #expect(day.verdicts(try await day.run()) == "blocked 1, created 1, failed 1")
    let refused = try #require(try day.details().first { $0.code != nil })
    #expect(refused.code == "REQUIRED_FIELD_MISSING" && refused.errorFields == ["Name"])
    let words = "AccountId refers to a record that did not reach the org"
    #expect(try day.details().compactMap(\.message).contains(words))
    for _ in 0..<2 {
      #expect(day.verdicts(try await day.run()) == "blocked 1")
      #expect(try day.details().compactMap(\.message) == [words])
    }
  }

  @Test func `the guard counts the deletions of each soup separately`() async throws {
    day.options.maxChanges = .init(
      perSnapshot: 100, deletes: .init(maxDeletesPercent: 1, minimumDeletes: 1))
    let account = try day.make("Account", ["Name": "A"])
    let contact = try day.make("Contact", ["LastName": "C"])
    for id in [account, contact] { try day.org.transfer(id, to: "ada@example.com") }
    try day.handBack([
      try day.edited(account: account, [:], deleted: true),
      try day.edited(contact: contact, [:], deleted: true),
    ])
    #expect(day.verdicts(try await day.run()) == "deleted 2")
  }

  @Test func `a record and its parent are deleted, the record first`() async throws {
    let parent = try day.make("Account", ["Name": "Parent"])
    let child = try day.make("Contact", ["LastName": "Child", "AccountId": .string(parent)])
    for id in [parent, child] { try day.org.transfer(id, to: "ada@example.com") }
    try day.handBack([
      try day.edited(account: parent, [:], deleted: true),
      try day.edited(contact: child, [:], deleted: true),
    ])
    #expect(day.verdicts(try await day.run()) == "deleted 2")
    #expect(day.writes.count == 2)
  }

  @Test func `a deleted parent is an error of the reference, not of the record`() async throws {
    let day = try FieldDay("contacts", ["LastName", "AccountId"], mode: .overwrite)
    let parent = try day.make("Account", ["Name": "Parent"])
    let child = try day.make("Contact", ["LastName": "Child"])
    let edit = try day.edited(contact: child, ["AccountId": .string(parent)])
    _ = day.org.delete("Account", id: parent, as: day.admin)
    #expect(try await day.verdicts([edit]) == "failed 1")
    #expect(try #require(try day.details().first).errorFields == ["AccountId"])
    #expect(day.writes.count == 1)
    #expect(try day.count("SELECT Id FROM Contact WHERE LastName = 'Child'") == 1)
  }

  // MARK: includes

  private func includes(_ state: LedgerDatabase) throws -> [Int64] {
    try state.includes(snapshotID: "005000000000001AAA").map(\.handback)
  }

  @Test func `an unprocessed edit keeps its return out of a bundle`() throws {
    let fixture = try LedgerFixture()
    try fixture.record("a", install: "A", handback: 1, [])
    #expect(try includes(fixture.state) == [1])
    try fixture.record(
      "b", install: "A", handback: 2, [LedgerFixture.update(1, date: 5, name: "x")])
    #expect(try includes(fixture.state) == [1])
    // The same edit in a later return is also open.
    try fixture.record(
      "c", install: "A", handback: 3, [LedgerFixture.update(1, date: 5, name: "x")])
    #expect(try includes(fixture.state) == [1])
  }
}
