import Pipelines
import Testing

@Suite struct UndoTests {
  let scene: UndoScene
  init() throws { scene = try UndoScene() }

  @Test func `an update gets its former values back and is never resent`() async throws {
    let (phone, id) = try await scene.primed()
    let before = try scene.world.record("Account", id)
    let now = scene.world.org.now()
    try phone.edit("accounts", id: id, ["Phone": "device", "Website": .null], now: now)
    let sent = try await scene.night(phone)
    #expect(sent.verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")

    let undone = try await scene.undo(sent.run)
    #expect(undone.verdicts == [.undone: 1])
    #expect(undone.run != sent.run)
    #expect(undone.findings == [])
    for name in ["Phone", "Website", "Name", "Description"] {
      #expect(try scene.field(name, of: id) == before[name], "\(name)")
    }
    let edit = try scene.edit(1, in: undone)
    #expect(edit.verdict == .undone)
    #expect(edit.recordID == id)
    #expect(edit.detail.decision?.by == "grace")
    #expect(edit.detail.decision?.fate == .carriedOut)
    let phones = try #require(edit.detail.fields.first { $0.name == "Phone" })
    #expect(phones.device == "device")
    #expect(phones.server == before["Phone"])
    #expect(try Told(scene.world).news(undone.run) == [1: "undone"])
    #expect(try scene.scene.states() == ["undo done"])
    let writes = scene.writes
    try await scene.scene.expectClosed()
    #expect(scene.writes == writes)
    let fresh = try scene.world.device("ada", as: "later")
    let element = try fresh.elements("accounts").first { $0["Id"]?.string == id }
    #expect(element?["Phone"] == before["Phone"])
  }

  @Test func `new records are deleted, children first, and leave the generation`() async throws {
    let phone = try await scene.phone()
    let now = scene.world.org.now()
    try phone.create("accounts", type: "Account", ["Name": "Quay"], localID: "local_1", now: now)
    try phone.create(
      "contacts", type: "Contact", ["LastName": "Keel", "AccountId": "local_1"],
      localID: "local_2", now: now)
    try phone.create(
      "workorders", type: "WorkOrder",
      ["Subject": "Caulk", "AccountId": "local_1", "ContactId": "local_2"], localID: "local_3",
      now: now)
    let sent = try await scene.night(phone)
    #expect(sent.verdicts == [.created: 3])
    let account = try scene.id(of: "Account", where: "Name", is: "Quay")
    let contact = try scene.id(of: "Contact", where: "LastName", is: "Keel")
    let order = try scene.id(of: "WorkOrder", where: "Subject", is: "Caulk")
    let plan = try scene.undoing.plan(run: sent.run)
    #expect(try await scene.carryOut(plan, isDryRun: true).verdicts == [.undone: 3])
    #expect(try scene.isThere(account))
    let undone = try await scene.undo(sent.run)
    #expect(undone.verdicts == [.undone: 3])
    #expect(try !scene.isThere(account))
    #expect(try !scene.isThere(contact, "Contact"))
    #expect(try !scene.isThere(order, "WorkOrder"))
    let writes = scene.writes
    try await scene.scene.expectClosed()
    #expect(scene.writes == writes)
    let fresh = try scene.world.device("ada", as: "later")
    #expect(try !scene.world.ids("accounts", on: fresh).contains(account))
  }

  @Test func `only named edits are undone, and a second undo changes nothing`() async throws {
    let phone = try await scene.phone()
    let (one, two) = (try scene.scene.account(phone), try scene.scene.account(phone, 1))
    let former = try scene.field("Phone", of: one)
    for id in [one, two] {
      try phone.edit("accounts", id: id, ["Phone": "device"], now: scene.world.org.now())
    }
    let sent = try await scene.night(phone)
    #expect(sent.verdicts == [.updated: 2])
    let number = try #require(
      try scene.scene.edits(of: sent.run).first { $0.recordID == one }?.number)
    #expect(try await scene.undo(sent.run, [number]).verdicts == [.undone: 1])
    #expect(try scene.field("Phone", of: one) == former)
    #expect(try scene.field("Phone", of: two) == "device")

    let writes = scene.writes
    let plan = try scene.undoing.plan(run: sent.run)
    #expect(plan.undone.map(\.edit) == [number])
    #expect(plan.edits == [3 - number])
    #expect(try await scene.undo(sent.run).verdicts == [.undone: 1])
    #expect(scene.writes == writes + 1)
    #expect(try scene.undoing.plan(run: sent.run).edits == [])
  }

  @Test func `two edits of one record are undone one after the other`() async throws {
    let (phone, id) = try await scene.primed()
    let before = try scene.world.record("Account", id)
    let first = try await scene.night(phone, as: "one.sqlite", edited: id, ["Phone": "one"])
    let second = try await scene.night(
      phone, as: "two.sqlite", edited: id, ["Phone": "two", "Website": "https://two.example"])
    #expect(second.verdicts == [.updated: 1])
    // The later one is based on the first.
    let refused = try await scene.undo(first.run)
    #expect(refused.verdicts == [.notUndone: 1])
    #expect(try scene.edit(1, in: refused).detail.message == "edit 2 has changed the record since")
    #expect(try scene.field("Phone", of: id) == "two")

    #expect(try await scene.undo(second.run).verdicts == [.undone: 1])
    #expect(try scene.field("Phone", of: id) == "one")
    #expect(try scene.field("Website", of: id) == before["Website"])
    #expect(try await scene.undo(first.run).verdicts == [.undone: 1])
    #expect(try scene.field("Phone", of: id) == before["Phone"])
    try await scene.scene.expectClosed(handback: 2)
  }

  @Test(arguments: [0, -400 * 86_400_000])
  func `an undone value does not return with its device's edits`(_ moved: Int64) async throws {
    let (phone, id) = try await scene.primed()
    let before = try scene.field("Phone", of: id)
    try scene.world.org.moveClock(by: 60_000)
    let sent = try await scene.night(phone, as: "one.sqlite", edited: id, ["Phone": "device"])
    try scene.world.org.moveClock(by: moved)
    try await scene.undo(sent.run)
    #expect(try await scene.night(phone, as: "again.sqlite").verdicts == [.superseded: 1])
    #expect(try scene.field("Phone", of: id) == before)
    let later = try await scene.night(
      phone, as: "later.sqlite", edited: id, ["Website": "https://later.example"])
    #expect(later.verdicts == [.updated: 1])
    #expect(try scene.field("Website", of: id) == "https://later.example")
    #expect(try scene.field("Phone", of: id) == before)
    try phone.edit("accounts", id: id, ["Phone": "anew"], now: scene.world.org.now())
    #expect(try await scene.night(phone, as: "anew.sqlite").verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "anew")
  }

  @Test
  func `a value that an undo restored over a decision is not overwritten without a new decision`()
    async throws
  {
    let (phone, id) = try await scene.primed()
    try phone.edit("accounts", id: id, ["Phone": "device"], now: scene.world.org.now())
    try scene.office(id, ["Phone": "office"])
    #expect(try await scene.night(phone, as: "one.sqlite").verdicts == [.conflict: 1])
    try scene.scene.decide(1, .device)
    let sent = try await scene.world.run(.ingest, .reconcile)
    #expect(sent.verdicts == [.updated: 1])
    #expect(try await scene.undo(sent.run).verdicts == [.undone: 1])
    #expect(try scene.field("Phone", of: id) == "office")
    // Other fields entered there are sent, and the field stays.
    try phone.edit(
      "accounts", id: id, ["Website": "https://later.example"], now: scene.world.org.now())
    #expect(try await scene.night(phone, as: "later.sqlite").verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "office")
    // A value entered there is based on its issued value, which another user has changed.
    let anew = try await scene.night(phone, as: "anew.sqlite", edited: id, ["Phone": "anew"])
    #expect(anew.verdicts == [.conflict: 1])
    #expect(try scene.field("Phone", of: id) == "office")
    let asked = try scene.edit(3, in: anew).detail.fields.first { $0.name == "Phone" }
    #expect(asked?.device == "anew" && asked?.server == "office")
    try scene.scene.decide(3, .device)
    #expect(try await scene.world.run(.ingest, .reconcile).verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "anew")
    try await scene.scene.expectClosed(handback: 3)
  }

  @Test func `after undoing two edits of a field the second is not new`() async throws {
    let (phone, id) = try await scene.primed()
    let before = try scene.field("Phone", of: id)
    let first = try await scene.night(phone, as: "one.sqlite", edited: id, ["Phone": "first"])
    let second = try await scene.night(phone, as: "two.sqlite", edited: id, ["Phone": "second"])
    #expect(try await scene.undo(second.run).verdicts == [.undone: 1])
    #expect(try scene.field("Phone", of: id) == "first")
    #expect(try await scene.undo(first.run).verdicts == [.undone: 1])
    try phone.edit(
      "accounts", id: id, ["Website": "https://later.example"], now: scene.world.org.now())
    #expect(try await scene.night(phone, as: "later.sqlite").verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == before)
    #expect(try scene.field("Website", of: id) == "https://later.example")
  }

  @Test func `the history of the record shows who undid what`() async throws {
    let (phone, id) = try await scene.primed()
    try phone.edit("accounts", id: id, ["Phone": "device"], now: scene.world.org.now())
    let sent = try await scene.night(phone)
    let undone = try await scene.undo(sent.run)
    let story = try await scene.world.program(["explain"], [id])
    #expect(story.output.contains("grace decided on edit 1: reconcile undo; applied"))
    #expect(story.output.contains("edit 1 has the verdict undone in run \(undone.run)"))
  }

  @Test(arguments: ["LEAVE_IF_CHANGED", "OVERWRITE"])
  func `saving undone values again is not a new edit`(_ mode: String) async throws {
    let scene =
      try mode == "OVERWRITE"
      ? UndoScene(syncs: { $0.replacing("LEAVE_IF_CHANGED", with: "OVERWRITE") }) : UndoScene()
    let (phone, id) = try await scene.primed()
    let before = try scene.field("Phone", of: id)
    func save(_ name: String, phone value: String) async throws -> RunSummary {
      let now = scene.world.org.now() + 60_000
      try phone.edit("accounts", id: "local_1", ["Phone": .string(value)], now: now)
      try phone.edit("accounts", id: id, ["Phone": "device"], now: now)
      return try await scene.night(phone, as: name + ".sqlite")
    }
    try phone.create(
      "accounts", type: "Account", ["Name": "Quay"], localID: "local_1", now: scene.world.org.now())
    let sent = try await save("first", phone: "1")
    #expect(sent.verdicts == [.created: 1, .updated: 1])
    #expect(try await scene.undo(sent.run).verdicts == [.undone: 2])
    let writes = scene.writes
    for name in ["again", "third"] {
      let again = try await save(name, phone: "1")
      #expect(again.verdicts == [.unchanged: 2])
      #expect(again.exitStatus == .done)
      let words = try scene.scene.edits(of: again.run).compactMap(\.detail.message)
      #expect(words.count == 2 && words.allSatisfy { $0.contains("was undone") })
    }
    #expect(scene.writes == writes)
    #expect(try scene.field("Phone", of: id) == before)
    let newer = try await save("newer", phone: "2")
    let isRecreated = mode == "OVERWRITE"
    #expect(newer.verdicts == [isRecreated ? .created : .deletedOnServer: 1, .unchanged: 1])
  }
}
