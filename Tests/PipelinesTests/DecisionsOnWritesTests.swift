import Bundles
import JSON
import Ledger
import LocalOrg
import Pipelines
import Reconciliation
import Rehearsal
import System
import TestSupport
import Testing

/// Decisions about what the org refused, did not answer, or never got.
@Suite struct DecisionsOnWritesTests {
  private static let long = JSONValue.string(String(repeating: "x", count: 300))

  /// A customer whose name is too long, and a contact who works there.
  private func refused(_ scene: DecisionScene) async throws {
    try await scene.world.run()
    let device = try scene.world.device("ada")
    let now = scene.world.org.now()
    try device.create(
      "accounts", type: "Account", ["Name": Self.long], localID: "local_1", now: now)
    try device.create(
      "contacts", type: "Contact", ["LastName": "Keel", "AccountId": "local_1"],
      localID: "local_2", now: now)
    try scene.world.handBack(device, as: "ada.sqlite")
    #expect(try await scene.night().verdicts == [.failed: 1, .blocked: 1])
  }

  private func names(_ scene: DecisionScene, _ soql: String) throws -> Int {
    let page = try scene.world.org.query(soql, as: try scene.world.user("admin"))
    return try JSONValue(parsing: page.records).array?.count ?? 0
  }

  @Test func `a create that the org refused is sent with another value, and its child follows`()
    async throws
  {
    let scene = try DecisionScene()
    try await refused(scene)
    try scene.set(1, ["Name": "Harbour Crane"])
    let run = try await scene.world.runAsWritten([.ingest, .reconcile])
    #expect(run.verdicts == [.created: 2])
    let edits = try scene.edits(of: run.run)
    let sent = edits.first?.detail.fields.first { $0.name == "Name" }
    #expect(sent?.entered == "Harbour Crane" && sent?.device == Self.long)
    let entered = edits.flatMap(\.detail.fields).filter { $0.entered != nil }
    #expect(entered.map(\.name) == ["Name"])
    let success = String(
      decoding: try Files.read(scene.world.data.report(run.run) + "/success.csv"), as: UTF8.self)
    #expect(success.contains(",Harbour Crane,"), "what was sent is told, not what the org refused")
    #expect(
      try names(
        scene, "SELECT Id FROM Contact WHERE LastName = 'Keel' AND Account.Name = 'Harbour Crane'")
        == 1)
    try await scene.expectClosed()
  }

  @Test func `a refused create and what waits for it are dropped`() async throws {
    let scene = try DecisionScene()
    try await refused(scene)
    #expect(throws: PipelineError.self) { try scene.decide(1, .server) }
    #expect(throws: PipelineError.self) { try scene.decide(2, .device) }
    try scene.decide(1, .drop)
    try scene.decide(2, .drop)
    #expect(try await scene.night().verdicts == [.dropped: 2])
    #expect(try names(scene, "SELECT Id FROM Contact WHERE LastName = 'Keel'") == 0)
    try await scene.expectClosed()
  }

  /// A contact's title that the org refused, and in whose place a person entered another: the device, and the
  /// contact.
  private func enteredTitle(_ scene: DecisionScene) async throws -> (device: Device, id: String) {
    try await scene.world.run()
    let device = try scene.world.device("ada")
    let id = try #require(try scene.world.ids("contacts", on: device).first)
    try device.edit("contacts", id: id, ["Title": Self.long], now: scene.world.org.now())
    try scene.world.handBack(device, as: "one.sqlite")
    #expect(try await scene.night().verdicts == [.failed: 1])
    try scene.set(1, ["Title": "Engineer"])
    #expect(try await scene.night().verdicts == [.updated: 1])
    return (device, id)
  }

  @Test func `what the person entered is not put back by what the device holds still`() async throws
  {
    let scene = try DecisionScene()
    let (device, id) = try await enteredTitle(scene)
    // The device goes on with the row as it is.
    try device.edit("contacts", id: id, ["Phone": "1"], now: scene.world.org.now() + 60_000)
    try scene.world.handBack(device, as: "two.sqlite")
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Title", of: id, "Contact") == "Engineer")
    try await scene.expectClosed(handback: 2)
  }

  @Test func `what the person entered is not gone over unasked by what the device enters later`()
    async throws
  {
    let scene = try DecisionScene()
    let (device, id) = try await enteredTitle(scene)
    // The device has never seen what was entered.
    try device.edit("contacts", id: id, ["Title": "Chief"], now: scene.world.org.now() + 60_000)
    try scene.world.handBack(device, as: "two.sqlite")
    #expect(try await scene.night().verdicts == [.conflict: 1])
    #expect(try scene.field("Title", of: id, "Contact") == "Engineer")
    try scene.decide(2, .device)
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Title", of: id, "Contact") == "Chief")
    try await scene.expectClosed(handback: 2)
  }

  @Test func `what was mended is tried again, by the one way that retry goes too`() async throws {
    let scene = try DecisionScene()
    try await refused(scene)
    let run = try scene.withLedger { try $0.runs(limit: 1)[0].id }
    try await scene.world.run(.reconcile) { $0.retry = .init(run: run, verdicts: [.failed]) }
    try scene.decide(1, .again)
    #expect(try await scene.night().verdicts[.failed] == 1)
    #expect(try scene.states() == ["again done", "again done"])
  }

  // MARK: in doubt

  /// A contact whose creation got no answer, another of the same user's, and a case of the contact.
  private func doubted(_ scene: DecisionScene) async throws -> String {
    let world = scene.world
    try await world.run()
    let device = try world.device("ada")
    try device.create(
      "contacts", type: "Contact", ["LastName": "Lovelace", "Title": "Analyst"],
      localID: "local_1", now: world.org.now())
    try device.create(
      "workorders", type: "WorkOrder", ["Subject": "Engine", "ContactId": "local_1"],
      localID: "local_2", now: world.org.now())
    try world.handBack(device, as: "ada.sqlite")
    world.server.faults.add(.kind(.collectionCreate), .drop(afterCommit: false))
    #expect(try await scene.night().verdicts == [.inDoubt: 1, .blocked: 1])
    let other = world.org.create(
      "Contact", ["LastName": "Byron", "Title": "Poet"], as: try world.user("ada"))
    try world.org.moveClock(by: 86_400_000)
    let (_, edits) = try await scene.night()
    #expect(edits.allSatisfy { [.inDoubt, .blocked].contains($0.verdict) })
    return try #require(other.id)
  }

  private static func quiet(_ text: String) -> String {
    text.replacing(#""quietWindowSeconds": 0"#, with: #""quietWindowSeconds": 900"#)
  }

  @Test func `a create in doubt is settled with the record that somebody names`() async throws {
    let scene = try DecisionScene(Self.quiet)
    let id = try await doubted(scene)
    #expect(throws: PipelineError.self) { try scene.decide(1, .server) }
    try scene.decide(1, .record(id))
    #expect(try await scene.night().verdicts == [.created: 2])
    #expect(try names(scene, "SELECT Id FROM Contact WHERE LastName = 'Lovelace'") == 0)
    #expect(try names(scene, "SELECT Id FROM WorkOrder WHERE ContactId = '\(id)'") == 1)
    try await scene.expectClosed()
  }

  @Test func `a record that is none, or another edit's, is asked again`() async throws {
    let scene = try DecisionScene(Self.quiet)
    let id = try await doubted(scene)
    let account = try scene.account(try scene.world.device("ada", as: "second"))
    try scene.decide(1, .record(account))
    _ = try await scene.night()
    #expect(try scene.states() == ["record moved"])
    #expect(try scene.open() == [.inDoubt: 1, .blocked: 1])
    try scene.decide(1, .record(id))
    #expect(try await scene.night().verdicts == [.created: 2])
  }

  @Test func `a create in doubt is sent once more, or dropped`() async throws {
    for decision in [Decision.device, .drop] {
      let scene = try DecisionScene(Self.quiet)
      _ = try await doubted(scene)
      try scene.decide(1, decision)
      if decision == .drop { try scene.decide(2, .drop) }
      let verdicts = try await scene.night().verdicts
      #expect(verdicts == (decision == .drop ? [.dropped: 2] : [.created: 2]))
      #expect(
        try names(scene, "SELECT Id FROM Contact WHERE LastName = 'Lovelace'")
          == (decision == .drop ? 0 : 1))
      try await scene.expectClosed()
    }
  }

  @Test func `of a record that was made twice somebody says which one counts`() async throws {
    for decides in ["ours", "other", "drop"] {
      let scene = try DecisionScene(Self.quiet)
      let world = scene.world
      try await world.run()
      let device = try world.device("ada")
      try device.create(
        "contacts", type: "Contact", ["LastName": "Lovelace", "Title": "Analyst"],
        localID: "local_1", now: world.org.now())
      try world.handBack(device, as: "ada.sqlite")
      world.server.faults.add(.kind(.collectionCreate), .deliverLate(seconds: 1_000_000))
      #expect(try await scene.night().verdicts == [.inDoubt: 1])
      try world.org.moveClock(by: 1_000_000)
      #expect(try await scene.night().verdicts == [.created: 1])
      world.server.deliverHeld()
      let (verdicts, edits) = try await scene.night()
      #expect(verdicts == [.createdTwice: 1])
      let detail = try #require(edits.first?.detail)
      let (ours, other) = (try #require(detail.recordID), try #require(detail.otherID))
      #expect(throws: PipelineError.self) { try scene.decide(1, .record("003000000000009AAA")) }
      try scene.decide(
        1, decides == "drop" ? .drop : .record(decides == "ours" ? ours : other))
      #expect(
        try await scene.night().verdicts == [decides == "drop" ? .dropped : .alreadyThere: 1])
      if decides != "drop" {
        // What the device enters next goes into that one.
        try device.edit(
          "contacts", id: "local_1", ["Title": "Countess"], now: world.org.now() + 60_000)
        try world.handBack(device, as: "two.sqlite")
        #expect(try await scene.night().verdicts == [.updated: 1])
        let (left, right) = (
          try scene.field("Title", of: ours, "Contact"),
          try scene.field("Title", of: other, "Contact")
        )
        #expect((left == "Countess") == (decides == "ours"))
        #expect((right == "Countess") == (decides == "other"))
      }
      try await scene.expectClosed(handback: decides == "drop" ? 1 : 2)
    }
  }

  // MARK: held back

  @Test func `what a guard holds is sent edit by edit, or dropped`() async throws {
    let scene = try DecisionScene {
      $0.replacing(
        "\"reconcile\": {", with: "\"reconcile\": { \"maxChanges\": {\"perSnapshot\": 1}, ")
    }
    try await scene.world.run()
    let device = try scene.world.device("ada")
    let ids = try scene.world.ids("accounts", on: device)
    for id in ids.prefix(3) {
      try device.edit("accounts", id: id, ["Phone": "device"], now: scene.world.org.now())
    }
    try scene.world.handBack(device, as: "ada.sqlite")
    #expect(try await scene.night().verdicts == [.held: 3])
    try scene.decide(1, .device)
    #expect(try await scene.night().verdicts == [.updated: 1, .held: 2])
    try scene.decide(2, .drop)
    #expect(try await scene.night().verdicts == [.dropped: 1, .updated: 1])
    try await scene.expectClosed()
  }

  @Test func `what a user was not issued is sent when somebody allows it, or dropped`() async throws
  {
    for decision in [Decision.device, .drop] {
      let scene = try DecisionScene {
        $0.replacing("\"reconcile\": {", with: "\"reconcile\": { \"sendAs\": \"integration\", ")
          .replacing("\"scope\": \"global\",", with: "\"scope\": \"global\", \"reconcile\": [],")
      }
      let world = scene.world
      try await world.run()
      let device = try world.device("ada")
      let foreign = try #require(
        try world.ids("accounts", on: try world.device("cleo")).first { id in
          try !world.ids("accounts", on: device).contains(id)
        })
      try device.create(
        "contacts", type: "Contact", ["LastName": "Keel", "AccountId": .string(foreign)],
        localID: "local_1", now: world.org.now())
      try world.handBack(device, as: "ada.sqlite")
      #expect(try await scene.night().verdicts == [.notPermitted: 1])
      try scene.decide(1, decision)
      #expect(try await scene.night().verdicts == [decision == .drop ? .dropped : .created: 1])
      #expect(
        try names(scene, "SELECT Id FROM Contact WHERE LastName = 'Keel'")
          == (decision == .drop ? 0 : 1))
      try await scene.expectClosed()
    }
  }

  @Test func `an edit whose soup no sync up covers is dropped`() async throws {
    let scene = try DecisionScene {
      $0.replacing(
        "\"syncs\": \"demo/usersyncs.json\"",
        with: "\"syncs\": \"demo/usersyncs.json\", \"reconcile\": [\"syncUpContacts\"]")
    }
    try await scene.world.run()
    let device = try scene.world.device("ada")
    let id = try scene.account(device)
    try device.edit("accounts", id: id, ["Phone": "device"], now: scene.world.org.now())
    try scene.world.handBack(device, as: "ada.sqlite")
    #expect(try await scene.night().verdicts == [.notConfigured: 1])
    #expect(throws: PipelineError.self) { try scene.decide(1, .device) }
    try scene.decide(1, .drop)
    #expect(try await scene.night().verdicts == [.dropped: 1])
    try await scene.expectClosed()
  }
}
