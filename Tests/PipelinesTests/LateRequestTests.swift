import HTTP
import JSON
import Ledger
import LocalOrg
import Pipelines
import Rehearsal
import Reports
import SQLite
import Testing

@Suite struct LateRequestTests {
  let world: World
  init() throws {
    // Without conditional updates, so that a late request succeeds.
    world = try World {
      $0.replacingOccurrences(
        of: #""unansweredWaitSeconds": 0"#,
        with: #""unansweredWaitSeconds": 900, "conditionalUpdates": false"#)
    }
  }

  private func edits(of summary: RunSummary) throws -> [ReportEdit] {
    let state = try LedgerDatabase(path: world.data.state)
    defer { state.close() }
    return try ReportModel(state: state, run: summary.run, called: "demo").edits.all()
  }

  private func phone(_ id: String) throws -> JSONValue? { try world.record("Account", id)["Phone"] }

  /// A phone with the first run's bundle, and one of its accounts.
  private func begin() async throws -> (Device, String) {
    let device = try await world.primed("ada")
    return (device, try #require(try world.ids("accounts", on: device).first))
  }

  /// A run whose request is delayed while another user changes the record.
  private func conflict(over kind: RequestKind, _ account: String) async throws {
    let admin = try world.user("admin")
    world.server.faults.add(.kind(kind), .deliverLate(seconds: 1_000_000))
    world.server.faults.add(
      .kind(kind),
      .mutate { org in _ = org.update("Account", id: account, ["Phone": "office"], as: admin) })
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.conflict: 1])
  }

  /// The run during which that request arrives, after its device has reverted the edit.
  private func takeBack(_ device: Device, _ account: String) async throws -> RunSummary {
    try device.clean("accounts", id: account, now: world.org.now())
    #expect(try await world.run(device, as: "ada-back.sqlite", .ingest, .reconcile).open == [:])
    world.server.deliverHeld()
    let night = try await world.run(.ingest, .reconcile)
    #expect(night.open == [.conflict: 1])
    return night
  }

  private func handBack(_ device: Device, _ account: String, phone: String) throws {
    try device.edit("accounts", id: account, ["Phone": .string(phone)], now: world.org.now())
    try world.handBack(device, as: "ada-\(phone).sqlite")
  }

  @Test(arguments: [401, 403, 404, 408, 413, 425, 429, 503])
  func `a write that a gateway answered and forwards later is watched`(_ status: Int) async throws {
    let (device, account) = try await begin()
    try handBack(device, account, phone: "1")
    let page = ServerResponse(
      status: status, headers: ["Content-Type": "text/html", "Retry-After": "0"],
      body: Array("<html>slow down</html>".utf8))
    world.server.faults.add(.kind(.collectionUpdate), .respond(page))
    world.server.faults.add(.kind(.collectionUpdate), .deliverLate(seconds: 1_000_000))
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
    let admin = try world.user("admin")
    _ = world.org.update("Account", id: account, ["Phone": "office"], as: admin)
    #expect(try await world.run(.ingest, .reconcile).open == [:])
    world.server.deliverHeld()
    #expect(try phone(account) == "1")
    let night = try await world.run(.ingest, .reconcile)
    #expect(night.open == [.conflict: 1])
    #expect(try edits(of: night).first?.detail.message?.contains("arrived late") == true)
  }

  @Test func `the edits of a request that a gateway answers as too large are sent alone`()
    async throws
  {
    let device = try await world.primed("ada")
    let ids = try world.ids("accounts", on: device)
    for id in ids { try device.edit("accounts", id: id, ["Phone": "1"], now: world.org.now()) }
    try world.handBack(device, as: "ada.sqlite")
    let page = ServerResponse(
      status: 413, headers: ["Content-Type": "text/html"], body: Array("<html></html>".utf8))
    world.server.faults.add(.kind(.collectionUpdate), .respond(page))
    let before = world.server.log.counts[.collectionUpdate] ?? 0
    #expect(ids.count > 1)
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: ids.count])
    #expect(world.server.log.counts[.collectionUpdate] == before + 1 + ids.count)
  }

  @Test func `a late request of an older edit is corrected and reported`() async throws {
    let (device, account) = try await begin()
    try handBack(device, account, phone: "1")
    world.server.faults.add(.kind(.collectionUpdate), .deliverLate(seconds: 1_000_000))
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
    try handBack(device, account, phone: "2")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
    world.server.deliverHeld()
    #expect(try phone(account) == "1")
    let night = try await world.run(.ingest, .reconcile)
    #expect(try phone(account) == "2")
    #expect(night.verdicts == [.updated: 1, .conflict: 1])
    let told = try edits(of: night)
    #expect(told.allSatisfy { $0.detail.message?.contains("arrived late") == true })
    #expect(told.allSatisfy { $0.detail.fields.map(\.name) == ["Phone"] })
    // The overwritten value is corrected; what else it may have overwritten, an operator must
    // review.
    let later = try await world.run(.ingest, .reconcile)
    #expect(later.verdicts == [:])
    #expect(later.open == [.conflict: 1])
  }

  @Test func `a late update by attache does not conflict with itself`() async throws {
    let (device, account) = try await begin()
    try handBack(device, account, phone: "1")
    world.server.faults.add(
      .kind(.collectionUpdate), nth: 1, times: 2, .deliverLate(seconds: 1_000_000))
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.unconfirmed: 1])
    world.server.deliverHeld()
    try handBack(device, account, phone: "2")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 2])
    #expect(try phone(account) == "2")
  }

  @Test func `a conflict whose request arrives late stays open`() async throws {
    let (device, account) = try await begin()
    try handBack(device, account, phone: "1")
    let admin = try world.user("admin")
    world.server.faults.add(.kind(.collectionUpdate), .deliverLate(seconds: 1_000_000))
    // Another user changes the record before it is read.
    world.server.faults.add(
      .kind(.retrieve), nth: 2,
      .mutate { org in _ = org.update("Account", id: account, ["Phone": "office"], as: admin) })
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.conflict: 1])
    #expect(try phone(account) == "office")
    world.server.deliverHeld()
    let night = try await world.run(.ingest, .reconcile)
    #expect(night.verdicts == [.conflict: 1])
    let state = try LedgerDatabase(path: world.data.state)
    defer { state.close() }
    let open = try ReportModel(state: state, run: night.run, called: "demo").stillOpen.all()
    #expect(open.first?.detail.message?.contains("had been reported as conflict") == true)
    #expect(open.first?.detail.fields.first?.server == "1")
    #expect(try await world.run(.ingest, .reconcile).open == [.conflict: 1])
  }

  @Test func `an unverified write of a run does not conflict with itself`() async throws {
    let (device, account) = try await begin()
    try handBack(device, account, phone: "1")
    world.server.faults.add(.kind(.retrieve), nth: 2, .limitExceeded)
    let broken = try await world.run(.ingest, .reconcile)
    #expect(broken.verdicts == [.updated: 1])
    #expect(broken.findings == [.limitReached])
    // A run without a new edit reads the open ones.
    #expect(try await world.run(.ingest, .reconcile).verdicts == [:])
    try handBack(device, account, phone: "2")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
    #expect(try phone(account) == "2")
  }

  @Test func `a repeated deletion is not taken for the first one arriving late`() async throws {
    let (device, account) = try await begin()
    try device.delete("accounts", id: account, now: world.org.now())
    try world.handBack(device, as: "ada-gone.sqlite")
    world.server.faults.add(.kind(.collectionDelete), .deliverLate(seconds: 1_000_000))
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.deleted: 1])
    #expect(try await world.run(.ingest, .reconcile).verdicts == [:])
    let ledger = try Connection(world.data.state, mode: .readOnly)
    defer { ledger.close() }
    #expect(
      try ledger.texts("SELECT state FROM operation WHERE action = 'delete' ORDER BY id")
        == ["dropped", "done"])
  }

  @Test func `a create that arrives after its successor is a duplicate created`() async throws {
    let device = try await world.primed("ada")
    try device.create(
      "contacts", type: "Contact", ["LastName": "Lovelace", "Title": "Analyst"],
      localID: "local_1", now: world.org.now())
    try world.handBack(device, as: "ada.sqlite")
    world.server.faults.add(.kind(.collectionCreate), .deliverLate(seconds: 1_000_000))
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.unconfirmed: 1])
    try world.org.moveClock(by: 1_000_000)
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 1])
    world.server.deliverHeld()
    let night = try await world.run(.ingest, .reconcile)
    #expect(night.verdicts == [.duplicateCreated: 1])
    let detail = try #require(try edits(of: night).first?.detail)
    #expect(detail.otherID != nil && detail.otherID != detail.recordID)
    #expect(try await world.run(.ingest, .reconcile).verdicts == [:])
    // The phone's next edit does not hide the second record.
    try device.edit("contacts", id: "local_1", ["Title": "Countess"], now: world.org.now())
    let later = try await world.run(device, as: "ada-2.sqlite", .ingest, .reconcile)
    #expect(later.open == [.duplicateCreated: 1])
    let told = try #require(try edits(of: later).first { $0.verdict == .duplicateCreated }?.detail)
    #expect(Set([told.recordID, told.otherID]) == Set([detail.recordID, detail.otherID]))
  }

  @Test func `a create between attempts is unconfirmed from the last one on`() async throws {
    let device = try await world.primed("ada")
    try device.create(
      "contacts", type: "Contact", ["LastName": "Lovelace"], localID: "local_1",
      now: world.org.now())
    try world.handBack(device, as: "ada.sqlite")
    let busy = ServerResponse(
      status: 429, headers: ["Content-Type": "application/json", "Retry-After": "400"],
      body: Array(#"[{"errorCode":"TOO_MANY_REQUESTS","message":"busy"}]"#.utf8))
    for attempt in 1...3 {
      world.server.faults.add(.kind(.collectionCreate), nth: attempt, .respond(busy))
      world.server.faults.add(.kind(.collectionCreate), nth: attempt, .moveClock(seconds: 400))
    }
    world.server.faults.add(.kind(.collectionCreate), nth: 4, .deliverLate(seconds: 1_000_000))
    #expect(try await world.runAsWritten([.ingest, .reconcile]).verdicts == [.unconfirmed: 1])
    #expect(try await world.run(.ingest, .reconcile).open == [.unconfirmed: 1])
    world.server.deliverHeld()
    try world.org.moveClock(by: 1_000_000)
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 1])
    let made = try world.org.query(
      "SELECT Id FROM Contact WHERE LastName = 'Lovelace'", as: try world.user("admin"))
    #expect(made.totalSize == 1)
  }

  @Test func `a deletion that arrives after a newer edit is reported on that edit`() async throws {
    let (device, account) = try await begin()
    try device.delete("accounts", id: account, now: world.org.now())
    try world.handBack(device, as: "ada-gone.sqlite")
    try await conflict(over: .collectionDelete, account)
    // The other phone does not know about it.
    try world.rewrite(
      #""conditionalUpdates": false"#, #""conditionalUpdates": false, "returnOpenEdits": false"#)
    _ = try await world.runAllAsWritten()
    let newer = try world.device("ada", as: "newer")
    try handBack(newer, account, phone: "2")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
    world.server.deliverHeld()
    let night = try await world.run(.ingest, .reconcile)
    #expect(night.verdicts == [.deletedOnServer: 1])
    let message = try edits(of: night).first?.detail.message
    #expect(message?.contains("the deletion of an older edit arrived late") == true)
  }

  @Test(arguments: [Decision.retry, .device])
  func `a decision about a late edit shows that the org has it`(_ decision: Decision) async throws {
    for isChanged in [false, true] {
      let tests = try LateRequestTests()
      let (device, account) = try await tests.begin()
      try tests.handBack(device, account, phone: "1")
      try await tests.conflict(over: .collectionUpdate, account)
      _ = try await tests.takeBack(device, account)
      #expect(try tests.phone(account) == "1")
      let scene = DecisionScene(tests.world)
      if isChanged { try scene.office(account, ["Phone": "office again"]) }
      try scene.decide(1, decision)
      var (verdicts, edits) = try await scene.night()
      if isChanged {
        #expect(verdicts == [.conflict: 1])
        try scene.decide(1, .device)
        (verdicts, edits) = try await scene.night()
        #expect(verdicts == [.updated: 1])
      } else {
        #expect(verdicts == [.alreadyInOrg: 1])
      }
      #expect(edits.first?.detail.fields.map(\.name) == ["Phone"])
      #expect(try tests.phone(account) == "1")
      #expect(try scene.open() == [:])
    }
  }

  @Test func `a request that is late within a run is corrected by that run`() async throws {
    let (device, account) = try await begin()
    try handBack(device, account, phone: "1")
    world.server.faults.add(
      .kind(.collectionUpdate), nth: 1, times: 2, .deliverLate(seconds: 1_000_000))
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.unconfirmed: 1])
    try handBack(device, account, phone: "2")
    let server = world.server
    // The run has looked up the older edit, and has sent the newer one.
    world.server.faults.add(.kind(.retrieve), nth: 4, .mutate { _ in server.deliverHeld() })
    _ = try await world.run(.ingest, .reconcile)
    #expect(try phone(account) == "2")
  }

  @Test func `an unverified write is read before its sender changes it`() async throws {
    let (device, account) = try await begin()
    try handBack(device, account, phone: "1")
    world.server.faults.add(.kind(.retrieve), nth: 2, .limitExceeded)
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
    #expect(try await world.run(.ingest, .reconcile).verdicts == [:])
    try world.org.moveClock(by: 60_000)
    let ada = try world.user("ada")
    #expect(world.org.update("Account", id: account, ["Phone": "web"], as: ada).errors.isEmpty)
    try handBack(device, account, phone: "2")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.conflict: 1])
    #expect(try phone(account) == "web")
  }
}
