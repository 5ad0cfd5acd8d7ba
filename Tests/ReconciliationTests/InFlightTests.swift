import JSON
import Ledger
import LocalOrg
import SQLite
import System
import TestSupport
import Testing

struct InFlightTests {
  /// Five users with two updates each.
  private func day(inFlight: Int) throws -> FieldDay {
    let day = try FieldDay()
    day.options.inFlight = inFlight
    var users = [day.ada, day.ben]
    for name in ["cyd", "dan", "eve"] {
      let user = try day.org.addUser(
        name + "@example.com", lastName: name, profile: "Field Technician")
      try day.state.save(SnapshotRow(id: user.id, userID: user.id, username: user.username))
      users.append(user)
    }
    for user in users {
      let edits = try (0..<2).map { number in
        let id = try day.make("Account", ["Name": .string("A\(number)"), "Phone": "1"])
        try day.org.share(id, with: user.username)
        return try day.edited(account: id, ["Phone": "2"])
      }
      try day.handBack(edits, user: user)
    }
    return day
  }

  @Test(arguments: [RequestKind.describe, .retrieve, .composite])
  func `all allowed concurrent requests are used, and no more`(_ kind: RequestKind) async throws {
    let day = try day(inFlight: 3)
    let gate = RequestGate(3)
    day.server.faults.add(
      .kind(kind), nth: 1, times: .max, .pause(afterBytes: 0, until: { gate.pass() }))
    #expect(day.verdicts(try await day.run()) == "updated 10")
    #expect(gate.most == 3)
  }

  @Test func `with a limit of one there are no concurrent requests`() async throws {
    let day = try day(inFlight: 1)
    let gate = RequestGate(1)
    day.server.faults.add(.any, nth: 1, times: .max, .pause(afterBytes: 0, until: { gate.pass() }))
    #expect(day.verdicts(try await day.run()) == "updated 10")
    #expect(gate.most == 1)
  }

  @Test func `an org at its limit leaves no answered write unconfirmed`() async throws {
    let day = try day(inFlight: 4)
    day.server.faults.add(.kind(.composite), nth: 2, .limitExceeded)
    let summary = try await day.run()
    #expect(summary.interruption != nil)
    #expect(summary.verdicts[.unconfirmed] == nil)
    #expect(summary.verdicts.values.reduce(0, +) == 10)
    #expect(try day.state.operations(.unfinished).isEmpty)
    let written = try day.count("SELECT Id FROM Account WHERE Phone = '2'")
    #expect(summary.verdicts[.updated] ?? 0 == written)
    #expect(day.verdicts(try await day.run()) == "updated \(10 - written)")
  }

  @Test func `a parent without an answer is looked up before its children are sent`() async throws {
    let day = try FieldDay()
    for (number, user) in [day.ada, day.ben].enumerated() {
      try day.handBack(
        [
          day.account("local_p\(number)", ["Name": .string("Parent \(number)")]),
          day.contact(
            "local_c\(number)",
            ["LastName": .string("Kid \(number)"), "AccountId": .string("local_p\(number)")]),
        ], user: user)
    }
    day.server.faults.add(.kind(.collectionCreate), nth: 1, times: 2, .drop(afterCommit: true))
    #expect(day.verdicts(try await day.run()) == "created 4")
    #expect(try day.count("SELECT Id FROM Account WHERE Name LIKE 'Parent%'") == 2)
    #expect(try day.count("SELECT Id FROM Contact WHERE Account.Name LIKE 'Parent%'") == 2)
  }

  @Test func `one user's deletions follow another user's writes`() async throws {
    let day = try FieldDay()
    day.options.conditionalUpdates = false
    let id = try day.make("Account", ["Name": "A"])
    try day.org.transfer(id, to: "ada@example.com")
    // A separate contact; below the deleted record, the two would conflict (`CascadeTests`).
    let kid = try day.make("Contact", ["LastName": "Kid"])
    try day.handBack([try day.edited(account: id, [:], deleted: true)])
    try day.handBack([try day.edited(contact: kid, ["Department": "D"])], user: day.ben)
    #expect(day.verdicts(try await day.run()) == "deleted 1, updated 1")
    #expect(day.server.log.writes.map(\.kind).last == .collectionDelete)
  }

  /// The other user's update is of the upsert's record, or gives its record the same external ID.
  @Test(arguments: [false, true])
  func `an upsert never runs with another user's update of its record or external ID`(
    _ isTaken: Bool
  ) async throws {
    let day = try FieldDay(
      "visits", ["Name", "Notes__c", "External_Id__c"], externalID: "External_Id__c")
    let visit = try day.make(
      "Site_Visit__c", isTaken ? ["Name": "V"] : ["Name": "V", "External_Id__c": "K"])
    let update: JSONObject =
      isTaken ? ["Notes__c": "ada", "External_Id__c": "K"] : ["Notes__c": "ada"]
    try day.handBack([try day.edited("visits", "Site_Visit__c", visit, update)])
    try day.handBack(
      [
        day.created(
          "visits", "Site_Visit__c", "local_1",
          ["Name": "V", "Notes__c": "ben", "External_Id__c": isTaken ? "k" : "K"])
      ], user: day.ben)
    #expect(day.verdicts(try await day.run()) == "device conflict 1, updated 1")
    #expect(try day.record("Site_Visit__c", visit)["Notes__c"] == "ada")
    #expect(try day.count("SELECT Id FROM Site_Visit__c") == 1)
  }

  /// Expects that only edits of the user whose login has ended wait, and that they are sent later.
  private func expectDelay(_ day: FieldDay, _ waiting: Int, sent: Int) async throws {
    let summary = try await day.run()
    #expect(day.verdicts(summary) == "not attempted \(waiting), updated \(sent)")
    #expect(summary.interruption == nil)
    let warning = "\(waiting) edits were not attempted: cannot act as the user"
    #expect(summary.warnings.contains { $0.hasPrefix(warning) })
    day.server.faults.removeAll()
    #expect(day.verdicts(try await day.run()) == "updated \(waiting)")
  }

  @Test(arguments: [RequestKind.describe, .retrieve])
  func `a login that ends midway delays only its own user`(_ kind: RequestKind) async throws {
    let day = try day(inFlight: 3)
    day.server.faults.add(
      FaultMatch(kind: kind, user: "ben@example.com"), nth: 1, times: .max, .expireSession)
    try await expectDelay(day, 2, sent: 8)
  }

  @Test func `a login that ends while edits are sent delays only its own user`() async throws {
    let day = try day(inFlight: 1)
    // Ben sends two requests, and the second finds that the login has ended.
    let more = try (0..<28).map { number in
      let id = try day.make("Account", ["Name": .string("B\(number)"), "Phone": "1"])
      try day.org.share(id, with: day.ben.username)
      return try day.edited(account: id, ["Phone": "2"])
    }
    try day.handBack(more, user: day.ben, handback: 2)
    day.server.faults.add(
      FaultMatch(isWrite: true, user: "ben@example.com"), nth: 2, times: .max, .expireSession)
    try await expectDelay(day, 5, sent: 33)
    #expect(try day.count("SELECT Id FROM Account WHERE Phone = '2'") == 38)
  }

  @Test func `a login that ends before the read back delays no one`() async throws {
    let day = try day(inFlight: 3)
    day.server.faults.add(
      FaultMatch(kind: .retrieve, user: "ben@example.com"), nth: 2, times: .max, .expireSession)
    let summary = try await day.run()
    #expect(day.verdicts(summary) == "updated 10")
    #expect(summary.interruption == nil)
    #expect(summary.warnings.contains { $0.contains("could not be read back") })
  }

  @Test func `a run ends when the integration user's login ends`() async throws {
    let day = try day(inFlight: 3)
    let (gone, edit) = try day.made("Account", ["Name": "Gone"], edited: ["Phone": "2"])
    _ = day.org.delete("Account", id: gone, as: day.admin)
    try day.handBack([edit], handback: 2)
    day.server.faults.add(
      FaultMatch(user: "attache@example.com"), nth: 1, times: .max, .expireSession)
    let summary = try await day.run()
    #expect(summary.interruptionCause?.kind == .authentication)
    #expect(day.verdicts(summary) == "not attempted 11")
  }

  @Test func `a retried child of a locked row has its parent's ID`() async throws {
    let day = try FieldDay()
    let kids = (1...3).map { number in
      day.contact(
        "local_c\(number)", ["LastName": .string("Kid \(number)"), "AccountId": "local_p"])
    }
    try day.handBack([day.account("local_p", ["Name": "Parent"])] + kids)
    day.server.faults.add(
      .kind(.collectionCreate), nth: 2, .refusePart(1, code: "UNABLE_TO_LOCK_ROW"))
    #expect(day.verdicts(try await day.run()) == "created 4")
    #expect(try day.count("SELECT Id FROM Contact WHERE Account.Name = 'Parent'") == 3)
  }

  @Test func `an unreachable org gets no further queries in advance`() async throws {
    let day = try day(inFlight: 2)
    day.server.faults.add(.kind(.describe), nth: 1, times: .max, .limitExceeded)
    #expect(try await day.run().interruption != nil)
    #expect(day.server.log.counts[.describe, default: 0] <= 3)
  }

  @Test func `after a locked row the user's other rows wait`() async throws {
    let day = try FieldDay()
    day.options.inFlight = 1
    let edits = try (0..<60).map { number in
      let id = try day.make("Account", ["Name": .string("A\(number)"), "Phone": "1"])
      return try day.edited(account: id, ["Phone": "2"])
    }
    try day.handBack(edits)
    day.server.faults.add(.kind(.composite), nth: 1, .refusePart(1, code: "UNABLE_TO_LOCK_ROW"))
    let sent = Locked<[Int]>([])
    day.options.pause = { [log = day.server.log] _ in
      sent.withLock { $0.append(log.counts[.composite, default: 0]) }
    }
    #expect(day.verdicts(try await day.run()) == "updated 60")
    #expect(sent.withLock { $0 } == [1])
  }

  @Test func `the second edit of a record is read after the first has ended`() async throws {
    let day = try FieldDay()
    day.options.deviceConflicts = .firstWins
    let id = try day.make("Account", ["Name": "A", "Phone": "1"])
    try day.handBack([try day.edited(account: id, ["Phone": "ada"])])
    try day.handBack([try day.edited(account: id, ["Phone": "ben"])], user: day.ben)
    day.server.faults.add(
      FaultMatch(isWrite: true, user: "ada@example.com"), nth: 1,
      .refusePart(0, code: "FIELD_CUSTOM_VALIDATION_EXCEPTION"))
    #expect(day.verdicts(try await day.run()) == "failed 1, updated 1")
    #expect(try day.record("Account", id)["Phone"] == "ben")
  }

  /// Another user changes an account's industry while the first write is being processed.
  private func moveBeforeFirstWrite(_ day: FieldDay, _ id: String) {
    day.server.faults.add(
      .kind(.composite), nth: 1, .update(id, ["Industry": "Media"], after: 5000))
  }

  @Test func `a record that changes right before its edit is sent is read again`() async throws {
    let day = try FieldDay()
    day.options.mergesFields = true
    let id = try day.make("Account", ["Name": "A", "Phone": "1", "Industry": "Energy"])
    try day.handBack([try day.edited(account: id, ["Phone": "2"])])
    moveBeforeFirstWrite(day, id)
    #expect(day.verdicts(try await day.run()) == "updated 1")
    let record = try day.record("Account", id)
    #expect(record["Phone"] == "2" && record["Industry"] == "Media")
  }

  @Test func `queries for several edits are repeated for a new decision`() async throws {
    let day = try FieldDay()
    day.options.mergesFields = true
    let id = try day.make("Account", ["Name": "A", "Phone": "1", "Industry": "Energy"])
    let contact = try day.make("Contact", ["LastName": "C", "Department": "1"])
    try day.handBack([
      try day.edited(account: id, ["Phone": "2"]),
      try day.edited(contact: contact, ["Department": "2"]),
    ])
    // One of the two objects that are queried together has the edit already.
    _ = day.org.update("Contact", id: contact, ["Department": "2"], as: day.admin)
    moveBeforeFirstWrite(day, id)
    #expect(day.verdicts(try await day.run()) == "already in org 1, updated 1")
    let record = try day.record("Account", id)
    #expect(record["Phone"] == "2" && record["Industry"] == "Media")
  }

  @Test func `nothing is sent for a user with an invalid session`() async throws {
    let day = try FieldDay()
    day.options.inFlight = 1
    let edits = try (0..<100).map { number in
      let id = try day.make("Account", ["Name": .string("A\(number)"), "Phone": "1"])
      return try day.edited(account: id, ["Phone": "2"])
    }
    day.server.faults.add(
      FaultMatch(isWrite: true, user: "ada@example.com"), nth: 2, times: .max, .expireSession)
    #expect(try await day.verdicts(edits) == "not attempted 75, updated 25")
    // The first, the second, and the second again with a new session.
    #expect(day.server.log.counts[.composite] == 3)
  }

  private static let gack = Faults.Action.status(500, code: "UNKNOWN_EXCEPTION", message: "gack")

  @Test func `an unreachable org is not queried for each user in turn`() async throws {
    let day = try day(inFlight: 1)
    day.server.faults.add(FaultMatch(pathPrefix: "/services/data"), nth: 1, times: .max, Self.gack)
    let summary = try await day.run()
    #expect(day.verdicts(summary) == "not attempted 10" && summary.interruption != nil)
    #expect(day.server.log.entries.count <= 7)
  }

  @Test func `an org that only answers logins is not queried for each user in turn`() async throws {
    let day = try day(inFlight: 1)
    // Users with a login keep it; after that, every request fails, including those for the
    // identity.
    day.server.faults.add(FaultMatch(pathPrefix: "/services/data/v"), times: .max, Self.gack)
    day.server.faults.add(.kind(.userinfo), nth: 7, times: .max, Self.gack)
    let summary = try await day.run()
    #expect(day.verdicts(summary) == "not attempted 10" && summary.interruption != nil)
    let asked = day.server.log.entries.filter { $0.kind == .describe }.compactMap(\.user)
    #expect(Set(asked) == ["ada@example.com"])
  }

  @Test func `verdicts are on disk before any notification, query or wait`() async throws {
    let day = try FieldDay()
    day.options.inFlight = 1
    func account(_ number: Int) throws -> String {
      try day.make("Account", ["Name": .string("A\(number)"), "Phone": "1"])
    }
    var edits = try (0..<60).map { try day.edited(account: account($0), ["Phone": "2"]) }
    edits += try (60..<63).map { try day.edited(account: account($0), [:], deleted: true) }
    edits.append(day.account("local_p", ["Name": "Parent"]))
    edits.append(day.contact("local_c", ["LastName": "Kid", "AccountId": "local_p"]))
    try day.handBack(edits)
    let path = day.state.path
    let held = Locked(0)
    day.server.faults.add(
      .any, nth: 1, times: .max,
      .pause(afterBytes: 0) {
        // Other processes that want to write need not wait while the org works.
        do {
          let other = try Connection(path, busyMilliseconds: 0)
          try other.transaction {}
          other.close()
        } catch { held.withLock { $0 += 1 } }
      })
    let other = try Connection(path, mode: .readOnly)
    var early = 0
    day.progress = { done, _ in
      let kept = (try? other.integer("SELECT count(*) FROM outcome")) ?? nil
      if Int(kept ?? 0) < done { early += 1 }
    }
    let verdicts = day.verdicts(try await day.run())
    // A user who may not delete is refused.
    #expect(verdicts == "created 2, failed 3, updated 60")
    #expect(held.withLock { $0 } == 0)
    #expect(early == 0)
  }
}
