import JSON
import Ledger
import LocalOrg
import Rehearsal
import Testing

@Suite struct RewrittenWritesTests {
  let scene: DecisionScene
  var world: World { scene.world }
  init() throws {
    scene = try DecisionScene {
      $0.replacingOccurrences(
        of: #""unansweredWaitSeconds": 0"#,
        with: #""unansweredWaitSeconds": 900, "conditionalUpdates": false"#)
    }
  }

  private func capitals() throws {
    try world.org.setUp(
      OrgSetup(
        parsing: Array(
          """
          {"objects": {
            "Account": {"fieldUpdates": [{"name": "Capitals", "set": {"Name": "UPPER(Name)"}}]},
            "Contact": {"fieldUpdates": [{"name": "Capitals",
              "set": {"LastName": "UPPER(LastName)"}}]}}}
          """.utf8)))
  }

  /// A phone with the first run's bundle, and one of its accounts.
  private func begin() async throws -> (Device, String) {
    let device = try await scene.phone()
    try capitals()
    return (device, try scene.account(device))
  }

  private func edit(
    _ device: Device, _ account: String, _ name: String, leaves verdicts: [Verdict: Int]
  ) async throws {
    try device.edit("accounts", id: account, ["Name": .string(name)], now: world.org.now())
    try await scene.handBack(device, as: name, leaves: verdicts)
  }

  private func name(_ account: String) throws -> JSONValue? { try scene.field("Name", of: account) }

  private func states(_ action: String) throws -> [String] {
    try scene.withLedger {
      try $0.connection.texts("SELECT state FROM operation WHERE action = \(action) ORDER BY id")
    }
  }

  @Test func `a lost update that the org normalized is done`() async throws {
    let (device, account) = try await begin()
    world.server.faults.add(.kind(.collectionUpdate), .drop(afterCommit: true))
    try await edit(device, account, "Quill yard", leaves: [.updated: 1])
    #expect(try name(account) == "QUILL YARD")
    #expect(try states("update") == ["done"])
    #expect(try await scene.night().verdicts == [:])
    #expect(try scene.open() == [:])
  }

  @Test func `a lost update that did not arrive is sent again, normalized or not`() async throws {
    let (device, account) = try await begin()
    try await edit(device, account, "Quill yard", leaves: [.updated: 1])
    // The user changes the record at a desk meanwhile, and its name stays in capitals.
    let ada = try world.user("ada")
    world.server.faults.add(
      .kind(.collectionUpdate),
      .mutate { org in _ = org.update("Account", id: account, ["Fax": "1"], as: ada) })
    world.server.faults.add(.kind(.collectionUpdate), .drop(afterCommit: false))
    try await edit(device, account, "Quill Yard", leaves: [.conflict: 1])
    #expect(try states("update") == ["done", "dropped"])
  }

  @Test func `a late older edit that the org normalized is corrected`() async throws {
    let (device, account) = try await begin()
    world.server.faults.add(.kind(.collectionUpdate), .deliverLate(seconds: 1_000_000))
    try await edit(device, account, "first", leaves: [.updated: 1])
    try await edit(device, account, "second", leaves: [.updated: 1])
    #expect(try name(account) == "SECOND")
    // The result of the newer one does not count as the older one's effect.
    #expect(try await scene.night().verdicts == [:])
    world.server.deliverHeld()
    #expect(try name(account) == "FIRST")
    let night = try await scene.night()
    #expect(night.verdicts == [.updated: 1, .conflict: 1])
    #expect(night.edits.first?.detail.message?.contains("arrived late") == true)
    #expect(try name(account) == "SECOND")
    #expect(try await scene.night().verdicts == [:])
    #expect(try scene.open() == [.conflict: 1])
  }

  @Test func `a late normalized create after its successor is a duplicate created`() async throws {
    let (device, _) = try await begin()
    try device.create(
      "contacts", type: "Contact", ["LastName": "Lovelace", "Title": "Analyst"],
      localID: "local_1", now: world.org.now())
    world.server.faults.add(.kind(.collectionCreate), .deliverLate(seconds: 1_000_000))
    try await scene.handBack(device, leaves: [.unconfirmed: 1])
    try world.org.moveClock(by: 1_000_000)
    #expect(try await scene.night().verdicts == [.created: 1])
    #expect(try await scene.night().verdicts == [:])
    world.server.deliverHeld()
    let night = try await scene.night()
    #expect(night.verdicts == [.duplicateCreated: 1])
    let detail = try #require(night.edits.first?.detail)
    #expect(detail.otherID != nil && detail.otherID != detail.recordID)
    #expect(try await scene.night().verdicts == [:])
  }

  @Test(arguments: [false, true])
  func `a decision for the org's values outlasts late requests`(_ writesCapitals: Bool) async throws
  {
    let device = try await scene.phone()
    if writesCapitals { try capitals() }
    let account = try scene.account(device)
    world.server.faults.add(
      .kind(.collectionUpdate), nth: 1, times: 2, .deliverLate(seconds: 1_000_000))
    try await edit(device, account, "device", leaves: [.unconfirmed: 1])
    try scene.office(account, ["Name": "Office"])
    #expect(try await scene.night().verdicts == [.conflict: 1])
    try scene.decide(1, .server)
    #expect(try await scene.night().verdicts == [.discarded: 1])
    // Both lost requests arrive.
    world.server.deliverHeld()
    #expect(try name(account) == (writesCapitals ? "DEVICE" : "device"))
    let night = try await scene.night()
    #expect(night.verdicts == [.conflict: 1])
    #expect(night.edits.first?.detail.message?.contains("reported as discarded") == true)
    #expect(try await scene.night().verdicts == [:])
    #expect(try scene.open() == [.conflict: 1])
  }
}
