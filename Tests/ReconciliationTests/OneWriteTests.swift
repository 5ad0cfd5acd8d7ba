import HTTP
import Ledger
import Reports
import Testing

struct OneWriteTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  private static let noID = ServerResponse.json(200, #"[{"success":true,"errors":[]}]"#)

  @Test func `a create whose answer has no record ID is looked up`() async throws {
    let edit = day.account("local_1", ["Name": "New"])
    day.server.faults.add(.writes, nth: 1, times: 1, .respond(Self.noID))
    #expect(try await day.verdicts([edit], handback: 1) == "created 1")
    #expect(try day.count("SELECT Id FROM Account WHERE Name = 'New'") == 1)
  }

  @Test func `an update answered with another record's ID is detected`() async throws {
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    let other = try day.make("Account", ["Name": "Other"])
    try day.handBack([try day.edited(account: id, ["Phone": "2"])])
    let answer = #"[{"id":"\#(other)","success":true,"errors":[]}]"#
    day.server.faults.add(.writes, nth: 1, times: 1, .respond(.json(200, answer)))
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.record("Account", id)["Phone"] == "2")
  }

  @Test func `an org that loses every answer leaves an update unconfirmed`() async throws {
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.handBack([try day.edited(account: id, ["Phone": "2"])])
    day.server.faults.add(.writes, nth: 1, times: 6, .drop(afterCommit: false))
    #expect(day.verdicts(try await day.run()) == "unconfirmed 1")
    #expect(day.writes.count <= 2)
    #expect(day.verdicts(try await day.run()) == "unconfirmed 1")
  }

  @Test func `a recreated record gets the device's later edits`() async throws {
    let day = try FieldDay("accounts", ["Name", "Phone"], mode: .overwrite)
    let id = try day.make("Account", ["Name": "Deleted", "Phone": "1"])
    let edit = try day.edited(account: id, ["Phone": "5"])
    _ = day.org.delete("Account", id: id, as: day.admin)
    #expect(try await day.verdicts([edit], handback: 1) == "created 1")
    for (handback, phone) in [(Int64(2), "6"), (3, "7")] {
      let later = try edit.changed(["Phone": .string(phone)], later: handback)
      #expect(try await day.verdicts([later], handback: handback) == "updated 1")
      #expect(try day.count("SELECT Id FROM Account WHERE Phone = '\(phone)'") == 1)
    }
    #expect(try day.count("SELECT Id FROM Account WHERE Name = 'Deleted'") == 1)
  }

  @Test func `two devices' edits of a recreated record conflict`() async throws {
    let day = try FieldDay("accounts", ["Name", "Phone"], mode: .overwrite)
    let id = try day.make("Account", ["Name": "Deleted", "Phone": "1"])
    let ada = try day.edited(account: id, ["Phone": "5"])
    let ben = try day.edited(account: id, ["Phone": "6"])
    _ = day.org.delete("Account", id: id, as: day.admin)
    #expect(try await day.verdicts([ada]) == "created 1")
    #expect(try await day.verdicts([ben], user: day.ben) == "device conflict 1")
    #expect(try day.count("SELECT Id FROM Account WHERE Name = 'Deleted'") == 1)
  }

  @Test func `edits of a user unknown to the ledger are not attempted`() async throws {
    let (_, edit) = try day.made("Account", ["Name": "One", "Phone": "1"], edited: ["Phone": "2"])
    #expect(try await day.verdicts([edit], user: day.admin) == "not attempted 1")
    #expect(day.writes.isEmpty)
  }

  @Test func `edits are not attempted if another user now has the user's name`() async throws {
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.state.save(SnapshotRow(id: day.ada.id, userID: day.ada.id, username: day.ben.username))
    #expect(
      try await day.verdicts([try day.edited(account: id, ["Phone": "2"])]) == "not attempted 1")
    #expect(day.writes.isEmpty)
  }

  @Test func `text that looks like a local ID is text`() async throws {
    try day.handBack([day.account("local_1", ["Name": "local_heroes"])])
    #expect(day.verdicts(try await day.run()) == "created 1")
    #expect(try day.count("SELECT Id FROM Account WHERE Name = 'local_heroes'") == 1)
  }

  @Test func `another user's write right after ours causes no later conflict`() async throws {
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    // The second retrieve reads back the written records.
    day.server.faults.add(.kind(.retrieve), nth: 2, times: 1, .update(id, ["Industry": "Energy"]))
    #expect(try await day.verdicts([try day.edited(account: id, ["Phone": "2"])]) == "updated 1")
    try day.handBack([try day.edited(account: id, ["Phone": "3"])], stamp: "next generation")
    #expect(day.verdicts(try await day.run()) == "updated 1")
  }

  @Test func `an interrupted run accounts for every edit`() async throws {
    day.options.conditionalUpdates = false
    day.options.pause = { _ in throw CancellationError() }
    let ids = try ["One", "Two"].map {
      try day.make("Account", ["Name": .string($0), "Phone": "1"])
    }
    try day.handBack(try ids.map { try day.edited(account: $0, ["Phone": "2"]) })
    let locked = #"""
      {"success":false,"errors":[{"statusCode":"UNABLE_TO_LOCK_ROW","message":"m","fields":[]}]}
      """#
    let done = #"{"id":"\#(ids[0])","success":true,"errors":[]}"#
    day.server.faults.add(.writes, nth: 1, times: 1, .respond(.json(200, "[\(done),\(locked)]")))
    await #expect(throws: CancellationError.self) { try await day.run() }
    let run = try #require(try day.state.runs(limit: 1).first)
    let model = try ReportModel(state: day.state, run: run.id, called: "demo")
    #expect(model.edits.totals.verdicts == [.updated: 1, .notAttempted: 1])
  }
}
