import JSON
import Ledger
import LocalOrg
import Testing

struct UndoReferencesTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  private func undoLast() throws {
    let run = try #require(try day.state.runs(limit: 1).first?.id)
    let written = try day.state.sentEdits(by: run).written
    try day.state.decide(written.map { PendingDecision($0, .undo(run: run)) }, by: "grace")
  }

  @Test func `references to new records are queried together, by relation`() async throws {
    var users = [day.ada, day.ben]
    for number in 1...18 {
      let user = try day.org.addUser(
        "user\(number)@example.com", lastName: "U\(number)", profile: "Field Technician")
      try day.state.save(SnapshotRow(id: user.id, userID: user.id, username: user.username))
      users.append(user)
    }
    for (number, user) in users.enumerated() {
      try day.handBack(
        [day.contact("local_\(number)", ["LastName": .string("New \(number)")])], user: user)
    }
    #expect(day.verdicts(try await day.run()) == "created 20")
    try undoLast()
    let before = day.server.log.count
    #expect(day.verdicts(try await day.run()) == "undone 20")
    let asked = day.server.log.entries(after: before).compactMap(\.soql)
      .filter { $0.contains(" IN ('003") }.map { $0.prefix { $0 != "'" } }
    #expect(!asked.isEmpty)
    #expect(Set(asked).count == asked.count)
    #expect(try day.count("SELECT Id FROM Contact WHERE LastName LIKE 'New%'") == 0)
  }

  @Test func `a reference created while others are undone keeps its record`() async throws {
    try day.handBack([
      day.account("local_1", ["Name": "Quay"]),
      day.contact("local_2", ["LastName": "Keel", "AccountId": "local_1"]),
    ])
    #expect(day.verdicts(try await day.run()) == "created 2")
    try undoLast()
    let admin = day.admin
    // The contact is deleted first; then another user creates one.
    day.server.faults.add(
      .kind(.collectionDelete), nth: 1,
      .mutate { org in
        let found = try org.query(
          "SELECT Id FROM Account WHERE Name = 'Quay'", as: admin, includeDeleted: false)
        let id = try JSONValue(parsing: found.records).array?.first?["Id"]?.string ?? ""
        _ = org.create("Contact", ["LastName": "Mast", "AccountId": .string(id)], as: admin)
      })
    #expect(day.verdicts(try await day.run()) == "not undone 1, undone 1")
    #expect(try day.count("SELECT Id FROM Contact WHERE Account.Name = 'Quay'") == 1)
  }

  /// Accounts created by Ada and Ben that refer to each other, with records that the org creates by
  /// itself.
  private func circle(_ makers: [OrgUser], of day: FieldDay) async throws {
    for (number, user) in makers.enumerated() {
      try day.handBack(
        [day.account("local_\(number)", ["Name": .string("Ring \(number)")])], user: user)
    }
    let admin = day.admin
    let owners = makers.map(\.username)
    day.options.inFlight = 1
    // Before the run's changes are read back.
    day.server.faults.add(
      .kind(.retrieve), nth: 1,
      .mutate { org in
        let found = try org.query(
          "SELECT Id FROM Account WHERE Name LIKE 'Ring%' ORDER BY Name", as: admin,
          includeDeleted: false)
        let ids = (try JSONValue(parsing: found.records).array ?? []).compactMap {
          $0["Id"]?.string
        }
        for (place, id) in ids.enumerated() {
          let next = ids[(place + 1) % ids.count]
          try org.share(next, with: owners[place])
          if let user = org.user(named: owners[place]) {
            _ = org.update("Account", id: id, ["ParentId": .string(next)], as: user)
          }
        }
      })
    #expect(day.verdicts(try await day.run()) == "created \(makers.count)")
    #expect(
      try day.count("SELECT Id FROM Account WHERE Name LIKE 'Ring%' AND ParentId <> null")
        == makers.count)
    try undoLast()
  }

  @Test func `new records that refer to each other are deleted together, of any user`() async throws
  {
    try await circle([day.ada, day.ada, day.ben], of: day)
    #expect(try await day.plan().counts == [.undone: 3])
    #expect(day.verdicts(try await day.run()) == "undone 3")
    #expect(try day.count("SELECT Id FROM Account WHERE Name LIKE 'Ring%'") == 0)
  }

  @Test func `a new record that refers to itself is deleted`() async throws {
    try await circle([day.ada], of: day)
    #expect(day.verdicts(try await day.run()) == "undone 1")
  }

  @Test func `a cycle with other users' records stays`() async throws {
    try await circle([day.ada, day.ben], of: day)
    let found = try day.org.query(
      "SELECT Id FROM Account WHERE Name = 'Ring 1'", as: day.admin, includeDeleted: false)
    let id = try #require(try JSONValue(parsing: found.records).array?.first?["Id"]?.string)
    try day.org.moveClock(by: 60_000)
    try day.change("Account", id, ["Phone": "office"])
    #expect(day.verdicts(try await day.run()) == "not undone 2")
    #expect(try day.count("SELECT Id FROM Account WHERE Name LIKE 'Ring%'") == 2)
  }
}
