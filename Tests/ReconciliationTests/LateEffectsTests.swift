import JSON
import Ledger
import LocalOrg
import Testing

/// What is reported of a request that arrived late.
struct LateEffectsTests {
  private let day: FieldDay
  init() throws {
    day = try FieldDay()
    day.options.unansweredWaitSeconds = 900
    day.options.conditionalUpdates = false
  }

  private func night(_ seconds: Int64 = 600) async throws -> String {
    try day.org.moveClock(by: seconds * 1000)
    return day.verdicts(try await day.run())
  }

  private func lose(_ kind: RequestKind) {
    day.server.faults.add(.kind(kind), .deliverLate(seconds: 10_000_000))
  }

  /// The verdicts of the unresolved edits.
  private func open() throws -> [String] {
    try day.state.connection.texts(
      """
      SELECT e.id || ' ' || e.verdict FROM edit e WHERE \(LedgerDatabase.isUnsettledEdit)
      ORDER BY e.id
      """)
  }

  /// A record whose lost update was sent again, and that an admin has changed since.
  private func lostUpdate() async throws -> String {
    day.rules = [FieldDay.rule("accounts", ["Name", "Phone", "Description"], mode: .overwrite)]
    let (id, edit) = try day.made(
      "Account", ["Name": "Mill", "Phone": "1"], edited: ["Phone": "2"])
    lose(.collectionUpdate)
    try day.handBack([edit], handback: 1)
    #expect(try await night() == "updated 1")
    try day.change("Account", id, ["Phone": "9", "Description": "important"])
    return id
  }

  @Test(arguments: [0, -3600] as [Int64])
  func `all values that a late update overwrote are listed, whatever the org's clock`(
    _ seconds: Int64
  ) async throws {
    let id = try await lostUpdate()
    _ = try await night()
    try day.org.moveClock(by: seconds * 1000)
    day.server.deliverHeld()
    #expect(try day.record("Account", id)["Description"]?.string == nil)
    _ = try await night(60)
    #expect(try open() == ["1 conflict"])
    let detail = try #require(try day.details().first)
    let values = detail.fields.sorted { $0.name < $1.name }.map { [$0.base, $0.server] }
    #expect(values == [["important", .null], ["9", "2"]])
    #expect(detail.message?.contains("overwrote what was entered") == true)
  }

  @Test func `a create that is made after the org's clock was set back is a duplicate`()
    async throws
  {
    lose(.collectionCreate)
    try day.handBack([day.contact("local_1", ["LastName": "Keel", "Department": "Yard"])])
    #expect(try await night() == "unconfirmed 1")
    #expect(try await night(1_000) == "created 1")
    try day.org.moveClock(by: -3_600_000)
    day.server.deliverHeld()
    _ = try await night(60)
    #expect(try open() == ["1 duplicate created"])
  }

  @Test func `what a late deletion took with its record is reported`() async throws {
    let account = day.org.create("Account", ["Name": "Mill"], as: day.ada)
    let id = try #require(account.id)
    try day.org.share(id, with: day.ben.username)
    let contact = try day.make("Contact", ["LastName": "Keel", "AccountId": .string(id)])
    try day.handBack([try day.edited(account: id, [:], deleted: true)], handback: 1)
    day.server.faults.add(.kind(.collectionDelete), times: 2, .deliverLate(seconds: 10_000_000))
    #expect(try await night() == "unconfirmed 1")
    try day.decide(1, .discard)
    _ = try await night(1_000)
    #expect(try open() == [])
    try day.handBack([try day.edited(contact: contact, ["Department": "Yard"])], user: day.ben)
    let made = day.contact("local_1", ["LastName": "Sail", "AccountId": .string(id)])
    try day.handBack([made], user: day.ben, stamp: "second")
    #expect(try await night() == "created 1, updated 1")
    day.server.deliverHeld()
    #expect(try day.count("SELECT Id FROM Contact") == 0)
    _ = try await night()
    #expect(try open() == ["1 conflict", "2 deleted on server", "3 deleted on server"])
    #expect(try day.details().first?.otherEdits == [2, 3])
  }

  @Test func `a late record that was renamed is an operator's to decide, and not made again`()
    async throws
  {
    lose(.collectionCreate)
    let edit = day.contact("local_1", ["LastName": "Keel", "Department": "Yard"])
    #expect(try await day.verdicts([edit], handback: 1) == "unconfirmed 1")
    try day.org.moveClock(by: 3_600_000)
    day.server.deliverHeld()
    let page = try day.org.query("SELECT Id FROM Contact", as: day.admin, includeDeleted: false)
    let id = try #require(try JSONValue(parsing: page.records)[0]?["Id"]?.string)
    try day.org.moveClock(by: 60_000)
    try day.change("Contact", id, ["LastName": "Keel and Sons"])
    #expect(try await night() == "unconfirmed 1")
    #expect(try day.details().first?.candidates == [id])
    try day.decide(1, .record(id))
    #expect(try await night() == "created 1")
    #expect(try day.count("SELECT Id FROM Contact") == 1)
  }

  // MARK: what stood before

  /// What happens to a record between the update that a device sent later and the late request.
  enum Between: String, CaseIterable {
    case nothing
    /// Another user enters another value, or the value of the late request.
    case other, same
    /// The sender enters another value in the org.
    case own
    /// Another user enters another value right after the later update.
    case atOnce
    /// A second device of the user, or another user's device, sends another value.
    case device, colleague
    /// Another user's device sends another field.
    case field
    /// After the late request, its sender enters another value in the org.
    case after

    var phone: String {
      switch self {
      case .nothing, .field: "3"
      case .same: "2"
      case .other, .own, .atOnce: "9"
      case .device, .colleague: "4"
      case .after: "5"
      }
    }
  }

  @Test(arguments: Between.allCases)
  func `a late update that overwrote a newer one is replaced with what stood before it`(
    _ between: Between
  ) async throws {
    day.options.mergesFields = true
    let (id, first) = try day.made(
      "Account", ["Name": "Mill", "Phone": "1"], edited: ["Phone": "2", "Description": "old"])
    lose(.collectionUpdate)
    try day.handBack([first], handback: 1)
    #expect(try await night() == "updated 1")
    if between == .atOnce {
      day.server.faults.add(.kind(.retrieve), nth: 3, .update(id, ["Phone": "9"]))
    }
    let second = try first.changed(["Phone": "3"])
    #expect(try await day.verdicts([second], handback: 2) == "updated 1")
    switch between {
    case .nothing, .atOnce, .after: break
    case .other, .same: try day.change("Account", id, ["Phone": .string(between.phone)])
    case .own: _ = day.org.update("Account", id: id, ["Phone": "9"], as: day.ada)
    case .device, .colleague, .field:
      let changes: JSONObject = between == .field ? ["Description": "new"] : ["Phone": "4"]
      let edit = try day.edited(account: id, changes)
      let user = between == .device ? day.ada : day.ben
      try day.handBack([edit], user: user, install: "second", stamp: "second")
    }
    if between != .atOnce { _ = try await night() }
    try day.org.moveClock(by: 60_000)
    day.server.deliverHeld()
    #expect(try day.record("Account", id)["Phone"]?.string == "2")
    if between == .after { _ = day.org.update("Account", id: id, ["Phone": "5"], as: day.ada) }
    _ = try await night()
    #expect(try day.record("Account", id)["Phone"]?.string == between.phone)
    #expect(try open().contains("1 conflict"))
    // The device's row still has its own value.
    try day.handBack([try second.changed(["Description": "third"])], handback: 3)
    _ = try await night()
    #expect(try day.record("Account", id)["Phone"]?.string == between.phone)
    #expect(try open().contains("1 conflict"))
  }

  // MARK: several records

  private func contacts() throws -> Set<String> {
    let page = try day.org.query("SELECT Id FROM Contact", as: day.admin, includeDeleted: false)
    let records = try JSONValue(parsing: page.records).array ?? []
    return Set(records.compactMap { $0["Id"]?.string })
  }

  /// The records in the report of the open edit.
  private func reported() throws -> Set<String> {
    let detail = try #require(try day.state.decidable(1)?.detail)
    return Set([detail.recordID, detail.otherID].compactMap(\.self) + detail.candidates)
  }

  private func decideForFirst() async throws {
    let first = try #require(try day.state.toldTwins(of: 1)).first
    try day.decide(1, .record(first))
    _ = try await night()
    #expect(try open() == [])
  }

  @Test(arguments: [false, true])
  func `all records that late requests of one create made are reported`(_ isMade: Bool)
    async throws
  {
    day.server.faults.add(
      .kind(.collectionCreate), times: 2, .deliverLate(seconds: 10_000_000))
    try day.handBack(
      [day.contact("local_1", ["LastName": "Keel", "Department": "Yard"])], handback: 1)
    #expect(try await night() == "unconfirmed 1")
    #expect(try await night(1_000) == "unconfirmed 1")
    if isMade { #expect(try await night(1_000) == "created 1") }
    day.server.deliverHeld()
    let all = try contacts()
    #expect(all.count == (isMade ? 3 : 2))
    let expected = isMade ? ["1 duplicate created"] : ["1 unconfirmed"]
    for _ in 0..<2 {
      _ = try await night(1_000)
      #expect(try open() == expected && reported() == all)
    }
    for id in all {
      let facts = try #require(try day.state.decidable(1))
      #expect(facts.refusal(of: .record(id)) == nil)
    }
    if isMade {
      // As long as two of them exist, it is unknown which one counts.
      let last = try #require(try day.state.decidable(1)?.detail.otherID)
      #expect(day.org.delete("Contact", id: last, as: day.admin).errors.isEmpty)
      #expect(try day.retries(1))
      _ = try await night()
      #expect(try open() == expected && reported() == all)
      try await decideForFirst()
    } else {
      try day.decide(1, .record(try #require(all.min())))
    }
    for _ in 0..<2 { _ = try await night() }
    #expect(try open() == [])
  }

  @Test(arguments: [false, true])
  func `a late create is reported after a record that looks like it`(_ isTogether: Bool)
    async throws
  {
    let fields: JSONObject = ["LastName": "Keel", "Department": "Yard"]
    lose(.collectionCreate)
    try day.handBack([day.contact("local_1", fields)], handback: 1)
    #expect(try await night() == "unconfirmed 1")
    #expect(try await night(1_000) == "created 1")
    let copy = try #require(day.org.create("Contact", fields, as: day.ada).id)
    if isTogether { day.server.deliverHeld() }
    _ = try await night()
    #expect(try open() == ["1 duplicate created"])
    if !isTogether {
      #expect(try reported().contains(copy))
      try await decideForFirst()
      day.server.deliverHeld()
      _ = try await night()
      #expect(try open() == ["1 duplicate created"])
    }
    let late = try contacts().subtracting([copy])
    #expect(try late.isSubset(of: reported()))
    try await decideForFirst()
    _ = try await night()
    #expect(try open() == [])
  }
}
