import JSON
import Ledger
import Pipelines
import Reconciliation
import Rehearsal
import Testing

@Suite struct CorrelationTests {
  let world: World
  init() throws { world = try Self.world(#"{"Contact": "External_Id__c"}"#) }

  private static func world(_ fields: String) throws -> World {
    try World {
      $0.replacingOccurrences(
        of: #""unansweredWaitSeconds": 0"#,
        with: #""unansweredWaitSeconds": 900, "correlationField": "# + fields)
    }
  }

  private func begin(_ world: World) async throws {
    let device = try await world.primed("ada")
    for name in ["Lovelace", "Babbage"] {
      try device.create(
        "contacts", type: "Contact", ["LastName": .string(name)], localID: "local_\(name)",
        now: world.org.now())
    }
    try world.handBack(device, as: "ada.sqlite")
  }

  private func contacts() throws -> [JSONValue] {
    let page = try world.org.query(
      "SELECT Id, LastName, External_Id__c FROM Contact "
        + "WHERE LastName IN ('Lovelace', 'Babbage') ORDER BY LastName",
      as: try world.user("admin"), includeDeleted: true)
    return try JSONValue(parsing: page.records).array ?? []
  }

  @Test func `every create has its edit's identity, and no two share one`() async throws {
    try await begin(world)
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 2])
    let values = try contacts().compactMap { $0["External_Id__c"]?.string }
    #expect(Set(values).count == 2)
    #expect(values.allSatisfy { $0.hasPrefix("attache-") && $0.utf8.count == 48 })
  }

  @Test(arguments: [true, false])
  func `a lost answer is resolved at once, without waiting for an answer`(_ afterCommit: Bool)
    async throws
  {
    try await begin(world)
    world.server.faults.add(.kind(.collectionCreate), .drop(afterCommit: afterCommit))
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 2])
    #expect(try contacts().count == 2)
  }

  @Test func `a late request is refused as a duplicate of the resent one`() async throws {
    try await begin(world)
    world.server.faults.add(.kind(.collectionCreate), .deliverLate(seconds: 10_000))
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 2])
    world.server.deliverHeld()
    #expect(try contacts().count == 2)
    #expect(try await world.run(.ingest, .reconcile).verdicts == [:])
  }

  @Test func `a repeated create that the org refuses was applied exactly once`() async throws {
    try await begin(world)
    // The request arrives between the search and the second attempt.
    world.server.faults.add(.kind(.collectionCreate), nth: 1, .deliverLate(seconds: 10_000))
    let server = world.server
    world.server.faults.add(.kind(.collectionCreate), nth: 2, .mutate { _ in server.deliverHeld() })
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 2])
    #expect(try contacts().count == 2)
    let codes = world.server.log.entries.filter { $0.kind == .collectionCreate }
    #expect(codes.count == 3)
  }

  @Test func `a record deleted meanwhile is not created again`() async throws {
    try await begin(world)
    let admin = try world.user("admin")
    world.server.faults.add(.kind(.collectionCreate), .drop(afterCommit: true))
    world.server.faults.add(
      .kind(.query), nth: 1,
      .mutate { org in
        let page = try org.query(
          "SELECT Id FROM Contact WHERE LastName = 'Babbage'", as: admin, includeDeleted: false)
        let id = try JSONValue(parsing: page.records)[0]?["Id"]?.string ?? ""
        _ = org.delete("Contact", id: id, as: admin)
      })
    // The first query of the run is sent after its writes.
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 2])
    #expect(try contacts().count == 2)
  }

  @Test(arguments: [
    ("Nothing__c", "there is no field Contact.Nothing__c"), ("Department", "is not unique"),
    ("Email", "is not a text field"),
  ])
  func `an unsuitable field is refused before anything is sent`(_ field: String, _ words: String)
    async throws
  {
    let world = try Self.world(#"{"Contact": "\#(field)"}"#)
    try await begin(world)
    let thrown = await #expect(throws: CorrelationError.self) {
      try await world.run(.ingest, .reconcile)
    }
    let error = PipelineError(describing: try #require(thrown))
    #expect(error.code == "reconcile.correlation-field")
    #expect(error.kind == .configuration)
    #expect(error.reason?.contains(words) == true)
    #expect(world.server.log.writes.isEmpty)
    let check = try await OrgCheck.run(world.pipeline, root: world.root, variables: world.variables)
    #expect(check.failures.contains { $0.contains(words) })
  }

  @Test func `a create that duplicates by another field is refused, not repeated`() async throws {
    try await begin(world)
    world.server.faults.add(
      .kind(.collectionCreate), nth: 1,
      .refusePart(
        0, code: "DUPLICATE_VALUE", message: "duplicate value found: Badge__c duplicates value"))
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 1, .failed: 1])
    #expect(try contacts().count == 1)
  }

  @Test func `a create that the org knows by identity is looked up, not refused`() async throws {
    try await begin(world)
    world.server.faults.add(
      .kind(.collectionCreate), nth: 1,
      .refusePart(
        0, code: "DUPLICATE_VALUE",
        message: "duplicate value found: External_Id__c duplicates value on record"))
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 2])
    #expect(try contacts().count == 2)
  }

  // MARK: later changes by the device

  private func change(_ device: Device, _ title: String) throws {
    try device.edit(
      "contacts", id: "local_Keel", ["Title": .string(title)], now: world.org.now() + 1000)
  }

  private func keel(_ title: JSONValue) throws -> Device {
    let device = try world.device("ada")
    try device.create(
      "contacts", type: "Contact", ["LastName": "Keel", "Title": title], localID: "local_Keel",
      now: world.org.now())
    return device
  }

  private func titles() throws -> [String] {
    let page = try world.org.query(
      "SELECT Title FROM Contact WHERE LastName = 'Keel'", as: try world.user("admin"))
    return try JSONValue(parsing: page.records).array?.map { $0["Title"]?.string ?? "" } ?? []
  }

  @Test(arguments: [JSONValue.null, "Owner"])
  func `a change after a create of a lost ledger waits for an operator`(_ title: JSONValue)
    async throws
  {
    try await world.run()
    let device = try keel(title)
    try world.handBack(device, as: "ada-1.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 1])
    try change(device, "Mate")
    try world.loseLedger()
    try world.recover()
    try world.handBack(device, as: "ada-2.sqlite")
    try world.org.moveClock(by: 86_400_000)
    #expect(try await world.run(.ingest, .reconcile).verdicts[.conflict] == 1)
    #expect(try titles() == [title.string ?? ""])
    let edit = try #require(
      try LedgerDatabase(path: world.data.state).editNumbers(.open([.conflict])).first)
    let decided = try await world.program(["decide"], [String(edit), "--take", "device", "--now"])
    #expect(decided.status == 0, "\(decided.everything)")
    #expect(try titles() == ["Mate"])
  }

  @Test func `a create that never arrived is not reported as late after the next edit`()
    async throws
  {
    try await world.run()
    let device = try keel("Owner")
    try world.handBack(device, as: "ada-1.sqlite")
    world.server.faults.add(.kind(.collectionCreate), nth: 1, .drop(afterCommit: false))
    world.server.faults.add(
      .kind(.query), nth: 1, times: 1000, .status(503, code: "SERVER_UNAVAILABLE"))
    _ = try? await world.run(.ingest, .reconcile)
    world.server.faults.removeAll()
    try change(device, "Mate")
    try world.handBack(device, as: "ada-2.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 1, .superseded: 1])
    #expect(try await world.run(.ingest, .reconcile).verdicts == [:])
    #expect(try titles() == ["Mate"])
  }
}
