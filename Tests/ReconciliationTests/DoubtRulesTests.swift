import JSON
import Testing

struct DoubtRulesTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  /// Loses an update of Phone to 2 before it arrives, and lets another user change the record
  /// before it is looked up.
  private func loseUpdate(
    _ day: FieldDay, afterCommit: Bool, while fields: JSONObject
  ) async throws -> (id: String, verdicts: String) {
    day.options.conditionalUpdates = false
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.handBack([try day.edited(account: id, ["Phone": "2"])], handback: 1)
    day.server.faults.add(.writes, nth: 1, times: 1, .drop(afterCommit: afterCommit))
    // The first retrieve reads the record, the second looks up the write.
    day.server.faults.add(.kind(.retrieve), nth: 2, times: 1, .update(id, fields))
    return (id, day.verdicts(try await day.run()))
  }

  @Test func `a lost update is not done if another user entered the same value`() async throws {
    let (_, verdicts) = try await loseUpdate(day, afterCommit: false, while: ["Phone": "2"])
    #expect(verdicts == "already in org 1")
    #expect(day.writes.count == 1)
    #expect(try day.details().first?.message?.contains("another user wrote last") == true)
  }

  @Test func `a lost update that another user overwrote is a conflict`() async throws {
    let (id, verdicts) = try await loseUpdate(day, afterCommit: true, while: ["Phone": "9"])
    #expect(verdicts == "conflict 1")
    #expect(try day.record("Account", id)["Phone"] == "9")
  }

  @Test func `a lost delete of a record that is only hidden is not done`() async throws {
    let id = try day.make("Account", ["Name": "One"])
    try day.org.transfer(id, to: "ada@example.com")
    try day.handBack([try day.edited(account: id, [:], deleted: true)])
    let (ada, ben) = (day.ada, day.ben)
    day.server.faults.add(.writes, nth: 1, times: 1, .drop(afterCommit: false))
    day.server.faults.add(
      .kind(.retrieve), nth: 3, times: 1,
      .mutate { org in
        try org.transfer(id, to: ben.username)
        try org.unshare(id, from: ada.username)
      })
    #expect(day.verdicts(try await day.run()) == "not visible 1")
    #expect(try day.count("SELECT Id FROM Account") == 1)
  }

  @Test func `a later return does not close an unconfirmed create, and waits`() async throws {
    day.options.unansweredWaitSeconds = 900
    let edit = day.account("local_1", ["Name": "New", "Phone": "1"])
    day.server.faults.add(.writes, nth: 1, times: 1, .drop(afterCommit: true))
    #expect(try await day.verdicts([edit], handback: 1) == "unconfirmed 1")
    let later = try edit.changed(["Phone": "2"], later: 1)
    #expect(try await day.verdicts([later], handback: 2) == "unconfirmed 2")
    #expect(day.writes.count == 1)
    try day.org.moveClock(by: 1_000_000)
    #expect(day.verdicts(try await day.run()) == "created 1, updated 1")
    #expect(try day.count("SELECT Id FROM Account WHERE Phone = '2'") == 1)
    #expect(try day.count("SELECT Id FROM Account") == 1)
  }

  @Test func `a lost create is looked for as its sender, who may see more`() async throws {
    let day = try FieldDay(integrationProfile: "Field Technician")
    day.server.faults.add(.writes, nth: 1, times: 1, .drop(afterCommit: true))
    #expect(try await day.verdicts([day.account("local_1", ["Name": "New"])]) == "created 1")
    #expect(try accounts(day).count == 1)
  }

  @Test func `of two equal creates the one that did not arrive is sent`() async throws {
    try day.handBack([
      day.account("local_1", ["Name": "Twin"]), day.account("local_2", ["Name": "Twin"]),
    ])
    day.server.faults.add(.writes, nth: 1, times: 1, .interrupt(afterParts: 1, drops: true))
    #expect(day.verdicts(try await day.run()) == "created 2")
    #expect(try day.count("SELECT Id FROM Account") == 2)
  }

  @Test func `creates of two snapshots by one sender do not swap records`() async throws {
    day.options.sendAs = .integration
    try day.handBack([day.account("local_1", ["Name": "Of Ada"])])
    try day.handBack([day.account("local_1", ["Name": "Of Ben"])], user: day.ben)
    day.options.unansweredWaitSeconds = 900
    day.server.faults.add(.writes, nth: 1, times: 1, .drop(afterCommit: false))
    day.server.faults.add(.writes, nth: 2, times: 1, .drop(afterCommit: true))
    #expect(day.verdicts(try await day.run()) == "unconfirmed 2")
    try day.change("Account", try #require(try accounts(day).first), ["Phone": "office"])
    try day.org.moveClock(by: 1_000_000)
    #expect(day.verdicts(try await day.run()) == "created 2")
    #expect(try accounts(day).count == 2)
    #expect(try day.count("SELECT Id FROM Account WHERE Name = 'Of Ada'") == 1)
  }

  private func accounts(_ day: FieldDay) throws -> [String] {
    let page = try day.org.query("SELECT Id FROM Account", as: day.admin, includeDeleted: true)
    return (try JSONValue(parsing: page.records).array ?? []).compactMap { $0["Id"]?.string }
  }

  @Test func `the send time of a create is in the org's time`() async throws {
    day.options.unansweredWaitSeconds = 900
    try day.handBack([day.account("local_1", ["Name": "New", "Phone": "1"])])
    // The run was busy with other work for two hours.
    let begin = day.org.now()
    day.server.faults.add(.kind(.describe), .moveClock(seconds: 7200))
    day.server.faults.add(.writes, nth: 1, times: 1, .drop(afterCommit: true))
    #expect(day.verdicts(try await day.run()) == "unconfirmed 1")
    #expect(day.org.now() - begin >= 7_200_000)
    try day.change("Account", try #require(try accounts(day).first), ["Phone": "office"])
    try day.org.moveClock(by: 1_000_000)
    #expect(day.verdicts(try await day.run()) == "created 1")
    #expect(try accounts(day).count == 1)
  }

  @Test func `a record that its user created during the run is not the lost create`() async throws {
    let ada = try #require(day.org.user(named: "ada@example.com"))
    let fields: JSONObject = ["Name": "New", "Phone": "1"]
    day.server.faults.add(
      .kind(.describe),
      .mutate { org in
        try org.moveClock(by: 3_600_000)
        _ = org.create("Account", fields, as: ada)
        try org.moveClock(by: 3_600_000)
      })
    day.server.faults.add(.writes, nth: 1, times: 1, .drop(afterCommit: false))
    #expect(try await day.verdicts([day.account("local_1", fields)]) == "created 1")
    #expect(try accounts(day).count == 2)
  }
}
