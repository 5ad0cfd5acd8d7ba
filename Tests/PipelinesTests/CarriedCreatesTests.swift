import Rehearsal
import Testing

@Suite struct CarriedCreatesTests {
  private let scene: CarriedScene
  init() throws { scene = try CarriedScene() }

  private static let long = String(repeating: "x", count: 300)

  private func names(_ scene: CarriedScene, _ name: String) throws -> Int {
    try scene.world.column("SELECT Id FROM Account WHERE Name = '\(name)'").count
  }

  /// A phone with a new account that the org has refused.
  private func carried(_ scene: CarriedScene) async throws -> Device {
    let device = try await scene.world.primed("ada")
    try device.create(
      "accounts", type: "Account", ["Name": .string(Self.long)], localID: "local_1",
      now: scene.later())
    try device.create(
      "contacts", type: "Contact", ["LastName": "Child", "AccountId": "local_1"],
      localID: "local_2", now: scene.later())
    #expect(try await scene.verdicts(device, as: "ada.sqlite") == [.failed: 1, .blocked: 1])
    return try scene.world.device("ada", as: "ada-2")
  }

  @Test func `a fixed family is created once and returned with its Ids`() async throws {
    let phone = try await carried(scene)
    try phone.edit("accounts", id: "local_1", ["Name": "Mended"], now: scene.later(30))
    #expect(try await scene.run(phone, as: "two.sqlite").verdicts[.created] == 2)
    #expect(try names(scene, "Mended") == 1)
    let fresh = try scene.world.device("ada", as: "fresh")
    #expect(try scene.dirty(fresh).isEmpty && scene.dirty(fresh, "contacts").isEmpty)
    let child = try fresh.elements("contacts").first { $0["LastName"]?.string == "Child" }
    #expect(child?["AccountId"]?.string?.hasPrefix("001") == true)
    #expect(try await scene.world.run().verdicts.isEmpty)
  }

  @Test func `if a record was created meanwhile, the phone's next is an update`() async throws {
    let phone = try await carried(scene)
    try scene.scene.set(1, ["Name": "Decided"])
    #expect(try await scene.world.run().verdicts == [.created: 2])
    #expect(try await scene.verdicts(phone, as: "two.sqlite").isEmpty)
    try phone.edit(
      "accounts", id: "local_1", ["Name": "Decided", "Phone": "later"], now: scene.later(30))
    #expect(try await scene.verdicts(phone, as: "three.sqlite") == [.updated: 1])
    #expect(try names(scene, "Decided") == 1)
  }

  @Test func `a child finds its redelivered parent if that is created later`() async throws {
    let phone = try await carried(scene)
    try phone.create(
      "contacts", type: "Contact", ["LastName": "Second", "AccountId": "local_1"],
      localID: "local_3", now: scene.later(30))
    try phone.edit("accounts", id: "local_1", ["Name": "Mended"], now: scene.later(30))
    #expect(try await scene.verdicts(phone, as: "two.sqlite")[.created] == 3)
    #expect(try names(scene, "Mended") == 1)
  }

  @Test func `a child is redelivered with the Id of its created parent`() async throws {
    let device = try await scene.world.primed("ada")
    try device.create(
      "accounts", type: "Account", ["Name": "Parent"], localID: "local_1", now: scene.later())
    try device.create(
      "contacts", type: "Contact", ["LastName": .string(Self.long), "AccountId": "local_1"],
      localID: "local_2", now: scene.later())
    #expect(try await scene.verdicts(device, as: "ada.sqlite") == [.created: 1, .failed: 1])
    let phone = try scene.world.device("ada", as: "ada-2")
    let parent = try #require(
      try phone.elements("accounts").first { $0["Name"]?.string == "Parent" }?["Id"])
    #expect(try scene.row("local_2", on: phone, "contacts")["AccountId"] == parent)
    try phone.edit("contacts", id: "local_2", ["LastName": "Mended"], now: scene.later(30))
    #expect(try await scene.verdicts(phone, as: "two.sqlite") == [.superseded: 1, .created: 1])
    #expect(try await scene.world.run().verdicts.isEmpty)
  }

  @Test func `an edit of a created record returns under the record's Id`() async throws {
    let device = try await scene.world.primed("ada")
    try device.create(
      "accounts", type: "Account", ["Name": "Made"], localID: "local_1", now: scene.later())
    try scene.handBack(device, as: "one.sqlite")
    #expect(try await scene.world.run(.ingest, .reconcile).verdicts == [.created: 1])
    try device.edit("accounts", id: "local_1", ["Name": .string(Self.long)], now: scene.later(2))
    #expect(try await scene.verdicts(device, as: "two.sqlite") == [.failed: 1])
    let phone = try scene.world.device("ada", as: "ada-2")
    let dirty = try scene.dirty(phone)
    #expect(dirty.count == 1)
    let id = try #require(dirty.first?["Id"]?.string)
    #expect(id.hasPrefix("001") && dirty.first?["__locally_updated__"] == true)
    #expect(dirty.first?["__locally_created__"] == false)
    try phone.edit("accounts", id: id, ["Name": "Mended"], now: scene.later(30))
    #expect(try await scene.verdicts(phone, as: "three.sqlite") == [.superseded: 1, .updated: 1])
    #expect(try names(scene, "Mended") == 1)
    #expect(try names(scene, "Made") == 0)
  }

  @Test func `a new record deleted on the phone before it was sent is discarded`() async throws {
    let phone = try await carried(scene)
    try phone.delete("contacts", id: "local_2", now: scene.later(30))
    try phone.delete("accounts", id: "local_1", now: scene.later(30))
    let night = try await scene.run(phone, as: "two.sqlite")
    #expect(night.verdicts == [.superseded: 2, .unchanged: 2])
    #expect(try scene.dirty(scene.world.device("ada", as: "fresh")).isEmpty)
  }
}
