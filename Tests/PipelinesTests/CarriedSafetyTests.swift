import Rehearsal
import Testing

@Suite struct CarriedSafetyTests {
  private let scene: CarriedScene
  init() throws { scene = try CarriedScene() }

  private static let long = String(repeating: "x", count: 300)

  private func accounts(_ scene: CarriedScene, _ name: String) throws -> [String] {
    try scene.world.column("SELECT Id FROM Account WHERE Name = '\(name)'")
  }

  private func parent(of name: String, _ scene: CarriedScene) throws -> String? {
    return try scene.world.column(
      "SELECT AccountId FROM Contact WHERE LastName = '\(name)'", "AccountId"
    ).first
  }

  /// Returns a new account and a contact of it.
  private func makeFamily(
    _ phone: Device, _ name: String, child: String, as file: String, _ scene: CarriedScene
  ) throws {
    try phone.create(
      "accounts", type: "Account", ["Name": .string(name)], localID: "local_1", now: scene.later())
    try phone.create(
      "contacts", type: "Contact", ["LastName": .string(child), "AccountId": "local_1"],
      localID: "local_2", now: scene.later())
    try scene.handBack(phone, as: file)
  }

  // MARK: displayed values

  @Test func `a value that was not shown in full does not count as seen`() async throws {
    let (device, id) = try await scene.primed()
    try device.edit("accounts", id: id, ["Description": "mine"], now: scene.later())
    try scene.scene.office(id, ["Description": .string(Self.long)])
    #expect(try await scene.verdicts(device, as: "one.sqlite") == [.conflict: 1])
    let phone = try scene.world.device("ada", as: "ada-2")
    let words = try scene.row(id, on: phone)["__last_error__"]?.string ?? ""
    #expect(words.contains("xxx…") && !words.contains(Self.long))
    try phone.fix("accounts", id: id, ["Description": "mended"], now: scene.later(30))
    #expect(try await scene.verdicts(phone, as: "two.sqlite") == [.superseded: 1, .conflict: 1])
    #expect(try scene.scene.field("Description", of: id)?.string == Self.long)
    #expect(try scene.scene.states().isEmpty)
  }

  @Test func `the Id of a record created by attache is not a change of its user`() async throws {
    let world = scene.world
    try world.rewrite(
      #""updateFieldlist": ["Title", "Phone", "MobilePhone"]"#,
      #""updateFieldlist": ["Title", "Phone", "MobilePhone", "AccountId"]"#,
      in: "demo/usersyncs.json")
    _ = try await world.runAllAsWritten()
    let device = try world.device("ada")
    let (first, second) = (try scene.scene.account(device), try scene.scene.account(device, 1))
    let contact = try #require(
      try device.elements("contacts").first { $0["AccountId"]?.string == first }?["Id"]?.string)
    try device.create(
      "accounts", type: "Account", ["Name": "Made"], localID: "local_1", now: scene.later())
    try device.edit("contacts", id: contact, ["AccountId": "local_1"], now: scene.later())
    try scene.scene.office(contact, ["AccountId": .string(second)], "Contact")
    try scene.handBack(device, as: "one.sqlite")
    #expect(try await world.runAllAsWritten().verdicts == [.created: 1, .conflict: 1])
    let phone = try world.device("ada", as: "ada-2")
    let row = try scene.row(contact, on: phone, "contacts")
    #expect(row["AccountId"]?.string == (try accounts(scene, "Made").first))
    try phone.fix("contacts", id: contact, ["MobilePhone": "7"], now: scene.later(30))
    try scene.handBack(phone, as: "two.sqlite")
    #expect(try await world.runAllAsWritten().verdicts == [.superseded: 1, .conflict: 1])
    #expect(try scene.scene.field("AccountId", of: contact, "Contact")?.string == second)
  }

  // MARK: new records with one local ID

  @Test func `new records of two phones with one local id are not redelivered`() async throws {
    try await scene.world.run()
    for name in ["one", "two"] {
      try scene.world.org.moveClock(by: 5000)
      let phone = try scene.world.device("ada", as: name)
      try makeFamily(phone, Self.long, child: "Child \(name)", as: name + ".sqlite", scene)
    }
    #expect(try await scene.world.run().verdicts == [.failed: 2, .blocked: 2])
    let fresh = try scene.world.device("ada", as: "fresh")
    #expect(try scene.dirty(fresh).isEmpty && scene.dirty(fresh, "contacts").isEmpty)
    #expect(try scene.includes().isEmpty)
    // After the decisions, each child refers to its own parent in the org.
    for (edit, name) in [(1, "First"), (3, "Second")] as [(Int64, String)] {
      try scene.scene.set(edit, ["Name": name])
    }
    #expect(try await scene.world.run().verdicts == [.created: 4])
    #expect(try parent(of: "Child one", scene) == accounts(scene, "First").first)
    #expect(try parent(of: "Child two", scene) == accounts(scene, "Second").first)
    #expect(try scene.includes().count == 2)
  }

  @Test func `a fixed child finds the parent with its local id from its own phone`() async throws {
    try await scene.world.run()
    let (one, two) = (try scene.world.device("ada"), try scene.world.device("ada", as: "two"))
    try makeFamily(one, Self.long, child: "Child", as: "one.sqlite", scene)
    #expect(try await scene.world.run(.ingest).edits.new == 2)
    try scene.world.org.moveClock(by: 5000)
    try two.create(
      "accounts", type: "Account", ["Name": "Other"], localID: "local_1", now: scene.later())
    try scene.handBack(two, as: "two.sqlite")
    #expect(try await scene.world.run().verdicts == [.created: 1, .failed: 1, .blocked: 1])
    let phone = try scene.world.device("ada", as: "ada-2")
    #expect(try scene.dirty(phone).count == 1)
    try phone.edit("accounts", id: "local_1", ["Name": "Mended"], now: scene.later(30))
    try phone.edit("contacts", id: "local_2", ["LastName": "Changed"], now: scene.later(30))
    #expect(try await scene.verdicts(phone, as: "three.sqlite") == [.superseded: 2, .created: 2])
    #expect(try parent(of: "Changed", scene) == accounts(scene, "Mended").first)
  }

  // MARK: earlier redelivery

  @Test func `a redelivered edit stays so despite another phone's edit`() async throws {
    try await scene.world.run()
    let (one, two) = (try scene.world.device("ada"), try scene.world.device("ada", as: "two"))
    let id = try scene.scene.account(one)
    try one.edit("accounts", id: id, ["Phone": "one"], now: scene.later())
    try scene.scene.office(id, ["Phone": "office"])
    #expect(try await scene.verdicts(one, as: "one.sqlite") == [.conflict: 1])
    #expect(try scene.dirty(scene.world.device("ada", as: "three")).count == 1)
    // A phone that has not changed the row may install the next bundle without a return.
    try two.edit("accounts", id: id, ["Phone": "two"], now: scene.later(2))
    #expect(try await scene.verdicts(two, as: "two.sqlite") == [.conflict: 1])
    let row = try scene.row(id, on: scene.world.device("ada", as: "four"))
    #expect(row["Phone"] == "one" && row["__local__"] == true)
    #expect(try scene.includes() == [scene.install(of: one): 1])
    try scene.scene.decide(1, .server)
    try scene.scene.decide(2, .device)
    #expect(try await scene.world.run().verdicts == [.discarded: 1, .updated: 1])
    #expect(try scene.scene.field("Phone", of: id) == "two")
    #expect(try scene.dirty(scene.world.device("ada", as: "five")).isEmpty)
    #expect(try scene.includes().count == 2)
  }

  @Test func `an edit that becomes unconfirmed stays redelivered`() async throws {
    let scene = try CarriedScene {
      $0.replacing(
        #""unansweredWaitSeconds": 0"#,
        with: #""unansweredWaitSeconds": 900, "conditionalUpdates": false"#)
    }
    let (_, id) = try await scene.carriedConflict()
    try scene.scene.decide(1, .device)
    scene.world.server.faults.add(
      .kind(.collectionUpdate), nth: 1, times: 2, .deliverLate(seconds: 1_000_000))
    #expect(try await scene.world.run().verdicts == [.unconfirmed: 1])
    let row = try scene.row(id, on: scene.world.device("ada", as: "fresh"))
    #expect(row["Phone"] == "device" && row["__local__"] == true)
    #expect(
      row["__last_error__"]?.string?.hasPrefix("It may be in the org: no answer came back") == true)
    scene.world.server.deliverHeld()
    #expect(try await scene.world.run().verdicts == [.updated: 1])
    #expect(try scene.dirty(scene.world.device("ada", as: "last")).isEmpty)
  }

  // MARK: decisions on the device

  @Test func `two phones that fix one edit differently are a device conflict`() async throws {
    let (scene, phone, id) = try await CarriedScene.carriedConflict()
    let other = try scene.world.device("ada", as: "other")
    try phone.fix("accounts", id: id, ["Phone": "mended"], now: scene.later(30))
    try other.fix("accounts", id: id, ["Phone": "otherwise"], now: scene.later(31))
    try scene.handBack(phone, as: "2-mended.sqlite")
    let night = try await scene.run(other, as: "3-otherwise.sqlite")
    #expect(night.verdicts == [.superseded: 1, .deviceConflict: 2])
    #expect(try scene.scene.field("Phone", of: id) == "office")
    #expect(try scene.scene.states() == ["device moved"])
    try scene.scene.decide(2, .device)
    try scene.scene.decide(3, .server)
    #expect(try await scene.world.run().verdicts == [.updated: 1, .discarded: 1])
    #expect(try scene.scene.field("Phone", of: id) == "mended")
  }

  @Test func `a guard also applies to fixed edits`() async throws {
    let scene = try CarriedScene(maxChanges: 2)
    let device = try await scene.world.primed("ada")
    let ids = try (0..<3).map { try scene.scene.account(device, $0) }
    for id in ids {
      try device.edit("accounts", id: id, ["Phone": "device"], now: scene.later())
      try scene.scene.office(id, ["Phone": "office"])
    }
    #expect(try await scene.verdicts(device, as: "one.sqlite") == [.conflict: 3])
    let phone = try scene.world.device("ada", as: "ada-2")
    for id in ids { try phone.fix("accounts", id: id, ["Phone": "mended"], now: scene.later(30)) }
    let night = try await scene.run(phone, as: "two.sqlite")
    #expect(night.verdicts == [.superseded: 3, .notAttempted: 3])
    for id in ids { #expect(try scene.scene.field("Phone", of: id) == "office") }
    let digest = try #require(night.confirm.first?.split(separator: " ").last.map(String.init))
    let mistyped = try await scene.world.run { $0.confirmed = ["0000000000000000"] }
    #expect(mistyped.verdicts == [.notAttempted: 3])
    #expect(
      mistyped.warnings.contains { $0.contains("--confirm 0000000000000000 matches no held plan") })
    let sent = try await scene.world.run { $0.confirmed = [digest] }
    #expect(sent.verdicts == [.updated: 3])
    #expect(!sent.warnings.contains { $0.contains("matches no held plan") })
    for id in ids { #expect(try scene.scene.field("Phone", of: id) == "mended") }
    #expect(Set(try scene.scene.states()) == ["device done"])
  }

  /// After a run, returns a new account with a name that the org refuses.
  private func handBackNew(_ scene: CarriedScene) async throws {
    let device = try await scene.world.primed("ada")
    try device.create(
      "accounts", type: "Account", ["Name": .string(Self.long)], localID: "local_1",
      now: scene.later())
    try scene.handBack(device, as: "one.sqlite")
  }

  // MARK: the device's own sync

  @Test func `if a device sent a redelivered create, the duplicate is reported`() async throws {
    let world = scene.world
    try await handBackNew(scene)
    #expect(try await world.run().verdicts == [.failed: 1])
    let phone = try world.device("ada", as: "ada-2")
    try scene.scene.set(1, ["Name": "Decided"])
    #expect(try await world.run().verdicts == [.created: 1])
    // With a clock that is years behind.
    let own = world.org.create("Account", ["Name": "Sent"], as: try world.user("ada"))
    try phone.write(
      "accounts", id: "local_1",
      ["Id": .string(try #require(own.id)), "Name": "Sent", "__locally_created__": false],
      now: world.org.now() - 100_000_000_000)
    try scene.handBack(phone, as: "two.sqlite")
    let night = try await world.run()
    #expect(night.verdicts == [.duplicateCreated: 1])
    let told = try #require(try scene.scene.edits(of: night.run).first)
    #expect(told.detail.otherID == own.id)
    // Retrying does not fix it.
    let ours = try #require(told.detail.recordID)
    try scene.scene.decide(told.number, .retry)
    #expect(try await world.run().open == [.duplicateCreated: 1])
    let gone = world.org.delete("Account", id: ours, as: try world.user("admin"))
    #expect(gone.errors.isEmpty)
    try scene.scene.decide(told.number, .retry)
    #expect(try await world.run().open == [:])
  }

  // MARK: a restored data directory

  @Test func `after a restore, a row of a lost generation discards no other edit`() async throws {
    let (world, decisions) = (scene.world, scene.scene)
    try await world.run()
    let (one, two) = (try world.device("ada"), try world.device("ada", as: "two"))
    let (first, second) = (try decisions.account(one), try decisions.account(one, 1))
    try one.edit("accounts", id: first, ["Phone": "device"], now: scene.later())
    try decisions.office(first, ["Phone": "office"])
    try decisions.office(second, ["Phone": "office"])
    try scene.handBack(one, as: "one.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.conflict: 1])
    var phone: Device?
    try await scene.restored {
      try await world.run()
      phone = try world.device("ada", as: "ada-2")
    } second: {
      try decisions.decide(1, .server)
      try two.edit("accounts", id: second, ["Phone": "other"], now: scene.later())
      try scene.handBack(two, as: "two.sqlite")
      #expect(try await world.run().verdicts == [.discarded: 1, .conflict: 1])
    }
    // The phone has the lost generation, which redelivered another row.
    try scene.handBack(#require(phone), as: "three.sqlite")
    #expect(try await world.run().verdicts[.superseded] == nil)
    #expect(try scene.verdicts().prefix(2) == ["discarded", "conflict"])
    #expect(try decisions.field("Phone", of: first) == "office")
  }

  @Test func `after a restore, a new row of a lost generation is created once`() async throws {
    let world = scene.world
    try await handBackNew(scene)
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.failed: 1])
    var phone: Device?
    try await scene.restored {
      try await world.run()
      phone = try world.device("ada", as: "ada-2")
    } second: {
      try scene.scene.set(1, ["Name": "Decided"])
      #expect(try await world.run().verdicts == [.created: 1])
    }
    let lost = try #require(phone)
    try lost.edit("accounts", id: "local_1", ["Name": "Mended"], now: scene.later(30))
    try scene.handBack(lost, as: "two.sqlite")
    #expect(try await world.run().verdicts[.created] == nil)
    #expect(try accounts(scene, "Decided").count + accounts(scene, "Mended").count == 1)
  }
}
