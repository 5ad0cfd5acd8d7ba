import Ledger
import Rehearsal
import Testing

@Suite struct CarriedDevicesTests {
  private static let long = String(repeating: "x", count: 300)

  private func count(_ name: String, _ scene: CarriedScene) throws -> Int {
    try scene.world.column("SELECT Id FROM Account WHERE Name = '\(name)'").count
  }

  // MARK: one device

  @Test func `changes above a guard's limit stay waiting if a phone edits one`() async throws {
    let scene = try CarriedScene(maxChanges: 2)
    let device = try await scene.world.primed("ada")
    let ids = try (0..<3).map { try scene.scene.account(device, $0) }
    for id in ids { try device.edit("accounts", id: id, ["Phone": "device"], now: scene.later()) }
    #expect(try await scene.verdicts(device, as: "one.sqlite") == [.notAttempted: 3])
    let phone = try scene.world.device("ada", as: "ada-2")
    try phone.edit("accounts", id: ids[0], ["Phone": "changed"], now: scene.later(30))
    #expect(
      try await scene.verdicts(phone, as: "two.sqlite") == [.superseded: 1, .notAttempted: 3])
    for id in ids { #expect(try scene.scene.field("Phone", of: id) != "device") }
  }

  @Test func `two fixed rows of one record that disagree are a device conflict`() async throws {
    let scene = try CarriedScene(twoSoups: "OVERWRITE") {
      $0.replacing(
        #""returnOpenEdits": true"#,
        with: #""returnOpenEdits": true, "deviceConflicts": "firstWins""#)
    }
    try await scene.world.run()
    try scene.world.org.moveClock(by: 5000)
    let device = try scene.world.device("ada")
    let id = try scene.scene.account(device)
    let before = try scene.scene.field("Phone", of: id)
    try device.edit("accounts", id: id, ["Phone": "one"], now: scene.later())
    try device.edit("vips", id: id, ["Phone": "two"], now: scene.later())
    #expect(try await scene.verdicts(device, as: "one.sqlite") == [.deviceConflict: 2])
    let phone = try scene.world.device("ada", as: "ada-2")
    #expect(try scene.dirty(phone).count == 1 && scene.dirty(phone, "vips").count == 1)
    // The first of the two would be sent alone if the other were unknown.
    try phone.edit("vips", id: id, ["Phone": "mended"], now: scene.later(30))
    let night = try await scene.run(phone, as: "two.sqlite")
    #expect(night.verdicts[.superseded] == 1 && night.verdicts[.updated] == nil)
    #expect(try scene.scene.open() == [.deviceConflict: 2])
    #expect(try scene.scene.field("Phone", of: id) == before)
    // Both are still on the phone, and it may install.
    let next = try scene.world.device("ada", as: "ada-3")
    #expect(try scene.row(id, on: next)["Phone"] == "one")
    #expect(try scene.row(id, on: next, "vips")["Phone"] == "mended")
    #expect(try scene.includes()[scene.install(of: phone)] == 1)
  }

  @Test func `a redelivered edit in one soup and an edit in another are both kept`() async throws {
    let scene = try CarriedScene(twoSoups: "LEAVE_IF_CHANGED")
    try await scene.world.run()
    let (one, two) = (try scene.world.device("ada"), try scene.world.device("ada", as: "two"))
    let id = try scene.scene.account(one)
    try one.edit("accounts", id: id, ["Phone": "one"], now: scene.later())
    try one.edit("vips", id: id, ["Website": "https://one"], now: scene.later())
    try scene.scene.office(id, ["Phone": "office", "Website": "https://office"])
    #expect(try await scene.verdicts(one, as: "one.sqlite") == [.conflict: 2])
    try two.edit("accounts", id: id, ["Phone": "two"], now: scene.later(2))
    #expect(try await scene.verdicts(two, as: "two.sqlite") == [.conflict: 1])
    let fresh = try scene.world.device("ada", as: "fresh")
    #expect(try scene.row(id, on: fresh)["Phone"] == "one")
    #expect(try scene.row(id, on: fresh, "vips")["Website"] == "https://one")
  }

  @Test(arguments: [false, true])
  func `a fixed row still conflicts with another phone's write, recreated or not`(
    _ isRecreated: Bool
  ) async throws {
    let scene = try CarriedScene(twoSoups: "OVERWRITE")
    try await scene.world.run()
    let (one, two) = (try scene.world.device("ada"), try scene.world.device("ada", as: "two"))
    let id = try scene.scene.account(one)
    try scene.world.org.moveClock(by: 5000)
    try one.edit("accounts", id: id, ["Phone": "one"], now: scene.later())
    if isRecreated { try scene.scene.delete(id) }
    let verdict: Verdict = isRecreated ? .created : .updated
    #expect(try await scene.verdicts(one, as: "one.sqlite") == [verdict: 1])
    try two.edit("vips", id: id, ["Website": "https://two"], now: scene.later(2))
    #expect(try await scene.verdicts(two, as: "two.sqlite") == [.deviceConflict: 1])
    let next = try scene.world.device("ada", as: "next")
    let current = try #require(try scene.dirty(next, "vips").first?["Id"]?.string)
    #expect((current == id) != isRecreated)
    try next.fix("vips", id: current, ["Website": "https://fixed"], now: scene.later(30))
    let night = try await scene.run(next, as: "three.sqlite")
    #expect(night.verdicts == [.superseded: 1, .deviceConflict: 1])
    #expect(try scene.scene.edits(of: night.run).last?.detail.otherEdits == [1])
    #expect(try scene.scene.field("Phone", of: current) == "one")
  }

  // MARK: stores without marks

  /// Ada's new account that the org refuses, redelivered in her next generation.
  private func refusedCreate() async throws -> CarriedScene {
    let scene = try CarriedScene()
    let device = try await scene.world.primed("ada")
    try device.create(
      "accounts", type: "Account", ["Name": .string(Self.long)], localID: "local_1",
      now: scene.later())
    #expect(try await scene.verdicts(device, as: "one.sqlite") == [.failed: 1])
    return scene
  }

  @Test func `a rewritten stamp does not duplicate redelivered records`() async throws {
    let scene = try await refusedCreate()
    let (phone, other) = (
      try scene.world.device("ada", as: "ada-2"), try scene.world.device("ada", as: "other")
    )
    for one in [phone, other] { try scene.forgetMark(of: one) }
    try phone.edit("accounts", id: "local_1", ["Name": "Mended"], now: scene.later(30))
    #expect(try await scene.verdicts(phone, as: "two.sqlite") == [.superseded: 1, .created: 1])
    // Unchanged on another phone, it is the same edit.
    #expect(try await scene.verdicts(other, as: "three.sqlite").isEmpty)
    #expect(try count("Mended", scene) == 1)
  }

  @Test func `a redelivered record in a store without stamp is created once`() async throws {
    let scene = try await refusedCreate()
    let phone = try scene.world.device("ada", as: "ada-2")
    let ada = try scene.world.user("ada").id
    let generation = try #require(try scene.world.data.generations(of: ada).last)
    try scene.forgetMark(of: phone)
    try phone.edit("accounts", id: "local_1", ["Name": "Mended"], now: scene.later(30))
    let bare = scene.world.directory.file("bare.sqlite")
    try phone.handBack(to: bare, now: scene.later(31))
    let night = try await scene.world.run(.ingest, .reconcile) {
      $0.files = [bare]
      $0.asSnapshot = (ada, generation)
    }
    #expect(night.verdicts == [.superseded: 1, .created: 1])
    #expect(try count("Mended", scene) == 1)
  }

  @Test func `if the stamp does not match, a clean row discards nothing`() async throws {
    let scene = try CarriedScene()
    let device = try await scene.world.primed("ada")
    let ids = try (0..<2).map { try scene.scene.account(device, $0) }
    for id in ids {
      try device.edit("accounts", id: id, ["Phone": "device"], now: scene.later())
      try scene.scene.office(id, ["Phone": "office"])
    }
    #expect(try await scene.verdicts(device, as: "one.sqlite") == [.conflict: 2])
    let phone = try scene.world.device("ada", as: "ada-2")
    try scene.forgetMark(of: phone)
    try phone.clean("accounts", id: ids[0], now: scene.later(30))
    #expect(try await scene.verdicts(phone, as: "two.sqlite").isEmpty)
    #expect(try scene.scene.open() == [.conflict: 2])
  }

  @Test func `after a restore, changes that the ledger does not know are edits`() async throws {
    let scene = try CarriedScene()
    try await scene.world.run()
    var phone: Device?
    var account = ""
    try await scene.restored {
      let device = try scene.world.device("ada")
      account = try scene.scene.account(device)
      try device.edit("accounts", id: account, ["Phone": "device"], now: scene.later())
      try scene.scene.office(account, ["Phone": "office"])
      #expect(try await scene.verdicts(device, as: "one.sqlite") == [.conflict: 1])
      phone = try scene.world.device("ada", as: "ada-2")
    } second: {
      let night = try await scene.world.run()
      let dirty = try scene.dirty(scene.world.device("ada", as: "none"))
      #expect(night.verdicts.isEmpty && dirty.isEmpty)
    }
    let lost = try #require(phone)
    #expect(try await scene.verdicts(lost, as: "two.sqlite") == [.conflict: 1])
    #expect(try scene.row(account, on: scene.world.device("ada", as: "next"))["Phone"] == "device")
    #expect(try scene.includes()[scene.install(of: lost)] == 1)
  }

  // MARK: an app without flags

  @Test func `an app without flags discards no redelivered edit`() async throws {
    let (scene, phone, id) = try await CarriedScene.carriedConflict()
    try scene.world.rewrite(#""returnOpenEdits": true"#, #""detectEdits": "compare""#)
    try phone.write("accounts", id: id, ["Phone": "mended"], now: scene.later(30))
    try scene.handBack(phone, as: "two.sqlite")
    for _ in 0..<2 {
      #expect(try await scene.world.runAllAsWritten().verdicts.isEmpty)
      #expect(try scene.scene.open() == [.conflict: 1])
      try phone.write("accounts", id: id, ["Phone": "again"], now: scene.later(40))
      try scene.handBack(phone, as: "three.sqlite")
    }
    // Its device keeps its store.
    #expect(try scene.includes()[scene.install(of: phone)] == nil)
  }
}
