import JSON
import Testing

struct DoubtTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  @Test(arguments: [true, false])
  func `a create whose answer is lost is done once`(_ afterCommit: Bool) async throws {
    try day.handBack([
      day.account("local_1", ["Name": "New", "Phone": "1"]),
      day.account("local_2", ["Name": "Twin"]), day.account("local_3", ["Name": "Twin"]),
    ])
    day.server.faults.add(.writes, nth: 1, times: 1, .drop(afterCommit: afterCommit))
    #expect(day.verdicts(try await day.run()) == "created 3")
    #expect(try day.count("SELECT Id FROM Account") == 3)
  }

  @Test func `while its answer is awaited a create is unconfirmed, then resolved`() async throws {
    day.options.unansweredWaitSeconds = 900
    try day.handBack([
      day.account("local_p", ["Name": "New"]),
      day.contact("local_c", ["LastName": "Kid", "AccountId": "local_p"]),
    ])
    day.server.faults.add(.writes, nth: 1, times: 1, .drop(afterCommit: true))
    #expect(day.verdicts(try await day.run()) == "blocked 1, unconfirmed 1")
    #expect(try day.count("SELECT Id FROM Account") == 1)
    day.options.unansweredWaitSeconds = 0
    #expect(day.verdicts(try await day.run()) == "created 2")
    #expect(try day.count("SELECT Id FROM Account") == 1)
    #expect(try day.count("SELECT Id FROM Contact WHERE Account.Name = 'New'") == 1)
  }

  @Test(arguments: [true, false])
  func `updates and deletes with lost answers are found`(_ afterCommit: Bool) async throws {
    let one = try day.make("Account", ["Name": "One", "Phone": "1"])
    let two = try day.make("Account", ["Name": "Two"])
    try day.org.transfer(two, to: "ada@example.com")
    try day.handBack([
      try day.edited(account: one, ["Phone": "2"]),
      try day.edited(account: two, [:], deleted: true),
    ])
    day.server.faults.add(.writes, nth: 1, times: 1, .drop(afterCommit: afterCommit))
    day.server.faults.add(
      .kind(.collectionDelete), nth: 1, times: 1, .status(503, code: "X", afterCommit: afterCommit))
    #expect(day.verdicts(try await day.run()) == "deleted 1, updated 1")
    #expect(try day.record("Account", one)["Phone"] == "2")
  }

  @Test func `the only partly matching record is adopted and reported`() async throws {
    let created = try await lose(day, while: ["Name": "New", "Phone": "1", "Industry": "Banking"])
    #expect(created == "created 1")
    #expect(try day.count("SELECT Id FROM Account") == 1)
    #expect(try day.details().first?.message?.contains("Industry") == true)
    let fields = try day.details().first?.fields ?? []
    #expect(fields.filter { $0.server != nil }.map(\.name) == ["Industry"])
  }

  @Test func `if the only record is quite different, an operator decides`() async throws {
    #expect(try await lose(day, while: ["Name": "Other", "Phone": "2"]) == "unconfirmed 1")
    #expect(try day.count("SELECT Id FROM Account") == 1)
    #expect(try day.details().first?.otherID?.hasPrefix("001") == true)
  }

  /// Loses a create that did not arrive, while the sender creates another record.
  private func lose(_ day: FieldDay, while fields: JSONObject) async throws -> String {
    try day.handBack([day.account("local_1", ["Name": "New", "Phone": "1", "Industry": "Energy"])])
    let ada = day.ada
    day.server.faults.add(.writes, nth: 1, times: 1, .drop(afterCommit: false))
    day.server.faults.add(
      .kind(.query), nth: 1, times: 1, .mutate { org in _ = org.create("Account", fields, as: ada) }
    )
    return day.verdicts(try await day.run())
  }

  @Test func `a run interrupted after sending checks and does not send again`() async throws {
    try day.handBack([day.account("local_1", ["Name": "New"])])
    let run = try day.state.beginRun(
      pipeline: "field", now: day.org.now(), configHash: "c", host: "h")
    day.server.faults.add(.writes, nth: 1, times: 1, .drop(afterCommit: true))
    day.options.unansweredWaitSeconds = 900
    _ = try await day.reconciler().run(run)
    day.options.unansweredWaitSeconds = 0
    let writes = day.writes.count
    let resumed = try #require(try day.state.openRun(now: run.now + 1000))
    #expect(resumed.id == run.id)
    #expect(try await day.verdicts(day.reconciler().run(resumed)) == "created 1")
    #expect(day.writes.count == writes)
    #expect(try day.count("SELECT Id FROM Account") == 1)
  }

  @Test func `an unreachable org leaves everything not attempted`() async throws {
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.handBack([try day.edited(account: id, ["Phone": "2"])])
    day.server.faults.add(.any, nth: 4, times: 100, .limitExceeded)
    let summary = try await day.run()
    #expect(day.verdicts(summary) == "not attempted 1")
    #expect(summary.interruptionCause?.kind == .limit)
    day.server.faults.removeAll()
    #expect(day.verdicts(try await day.run()) == "updated 1")
  }
}
