import JSON
import Rehearsal
import Testing

@Suite struct DeletedReferencesTests {
  /// A work order of ada's that refers to a contact, on her phone.
  private struct Order {
    var scene: UndoScene
    var id: String
    var contact: String
    var phone: Device

    func field(_ name: String) throws -> JSONValue? { try scene.field(name, of: id, "WorkOrder") }

    func edit(_ fields: JSONObject) throws {
      try phone.edit("workorders", id: id, fields, now: scene.world.org.now())
    }

    func delete(_ contact: String) throws {
      let gone = scene.world.org.delete("Contact", id: contact, as: try scene.world.user("admin"))
      #expect(gone.errors == [])
    }
  }

  private static func contact(_ name: String, in world: World) throws -> String {
    let ada = try world.user("ada")
    return try #require(world.org.create("Contact", ["LastName": .string(name)], as: ada).id)
  }

  /// An order under a merge mode, whose contact is sent with every change.
  private func order(_ mode: String) async throws -> Order {
    let scene = try UndoScene(syncs: {
      $0.replacing("LEAVE_IF_CHANGED", with: mode).replacing(
        #""updateFieldlist": ["Subject", "Description", "Status"]"#,
        with: #""updateFieldlist": ["Subject", "Status", "ContactId"]"#)
    })
    let world = scene.world
    // One that is in her briefcase.
    let id = try #require(
      try world.ids("workorders", on: try await scene.phone("ada", as: "first")).first)
    let contact = try Self.contact("Named", in: world)
    let named = world.org.update(
      "WorkOrder", id: id, ["Status": "New", "ContactId": .string(contact)],
      as: try world.user("admin"))
    #expect(named.errors.isEmpty)
    try await world.run()
    let phone = try await scene.phone()
    return Order(scene: scene, id: id, contact: contact, phone: phone)
  }

  @Test(arguments: ["LEAVE_IF_CHANGED", "OVERWRITE"])
  func `an edit is sent although an untouched reference is deleted`(_ mode: String) async throws {
    let order = try await order(mode)
    try order.edit(["Status": "Completed"])
    try order.delete(order.contact)
    let world = order.scene.world
    try world.handBack(order.phone, as: "1.sqlite")
    let dry = try await world.run(.ingest, .reconcile) { $0.isDryRun = true }
    #expect(dry.verdicts == [.updated: 1])
    let run = try await world.run(.ingest, .reconcile)
    #expect(run.verdicts == [.updated: 1])
    #expect(run.open == [:])
    #expect(try order.field("Status") == "Completed")
    #expect(try order.field("ContactId") == .string(order.contact))
  }

  @Test func `an edit of a reference to a deleted record is refused, and sent once`() async throws {
    let order = try await order("LEAVE_IF_CHANGED")
    let other = try Self.contact("Other", in: order.scene.world)
    try order.edit(["Status": "Completed", "ContactId": .string(other)])
    try order.delete(other)
    let before = order.scene.writes
    #expect(try await order.scene.night(order.phone).verdicts == [.failed: 1])
    #expect(order.scene.writes == before + 1)
    #expect(try order.field("Status") == "New")
    #expect(try order.field("ContactId") == .string(order.contact))
  }

  @Test func `a reference is left out only if the org still has it`() async throws {
    let order = try await order("OVERWRITE")
    try order.edit(["Status": "Completed"])
    let other = try Self.contact("Other", in: order.scene.world)
    try order.scene.office(order.id, ["ContactId": .string(other)], "WorkOrder")
    try order.delete(order.contact)
    #expect(try await order.scene.night(order.phone).verdicts == [.failed: 1])
    #expect(try order.field("ContactId") == .string(other))
  }
}
