import JSON
import Ledger
import Pipelines
import Rehearsal
import Testing

@Suite struct RemadeReferencesTests {
  /// A scene whose sync ups overwrite, or leave changed records; contacts may be moved to another
  /// account.
  private func scene(_ mode: String = "OVERWRITE") throws -> UndoScene {
    try UndoScene(syncs: { text in
      text.replacing("LEAVE_IF_CHANGED", with: mode)
        .replacing(
          #""updateFieldlist": ["Title", "#, with: #""updateFieldlist": ["AccountId", "Title", "#)
    })
  }

  private func delete(_ id: String, _ scene: UndoScene) throws { try scene.scene.delete(id) }

  private func kid(_ name: String, of parent: String, on phone: Device, _ scene: UndoScene) throws {
    try phone.create(
      "contacts", type: "Contact",
      ["LastName": .string(name), "FirstName": "K", "AccountId": .string(parent)],
      localID: "local_" + name, now: scene.world.org.now())
  }

  private func parent(of name: String, _ scene: UndoScene) throws -> String? {
    let id = try scene.id(of: "Contact", where: "LastName", is: name)
    return try scene.field("AccountId", of: id, "Contact")?.string
  }

  /// The verdicts of a run with a phone, except those of edits that it returns again.
  private func news(
    _ phone: Device, as name: String, _ scene: UndoScene
  ) async throws -> (run: RunSummary, verdicts: [Verdict: Int]) {
    let run = try await scene.night(phone, as: name)
    return (run, run.verdicts.filter { $0.key != .superseded })
  }

  private func words(_ name: String, in run: RunSummary, _ scene: UndoScene) throws -> String? {
    try scene.scene.edits(of: run.run).first { $0.localID == "local_" + name }?.detail.message
  }

  @Test func `children follow a recreated parent by its local id, also later`() async throws {
    let scene = try scene()
    let phone = try await scene.phone()
    let local = try phone.create(
      "accounts", type: "Account", ["Name": "Parent"], localID: "local_p",
      now: scene.world.org.now())
    #expect(try await scene.night(phone, as: "1.sqlite").verdicts == [.created: 1])
    let old = try scene.id(of: "Account", where: "Name", is: "Parent")
    try delete(old, scene)
    // The child is sent before its parent.
    try kid("first", of: local, on: phone, scene)
    let anew = try await scene.night(phone, as: "2.sqlite", edited: local, ["Website": "w"])
    #expect(anew.verdicts == [.created: 2])
    let new = try scene.id(of: "Account", where: "Name", is: "Parent")
    #expect(new != old)
    #expect(try parent(of: "first", scene) == new)
    #expect(
      try words("first", in: anew, scene)
        == "AccountId refers to the record that was recreated in place of \(old)")

    try phone.edit("accounts", id: local, ["Website": "w2"], now: scene.world.org.now())
    try kid("later", of: local, on: phone, scene)
    let (later, verdicts) = try await news(phone, as: "3.sqlite", scene)
    #expect(verdicts == [.updated: 1, .created: 1])
    #expect(try parent(of: "later", scene) == new)
    #expect(
      try words("later", in: later, scene)
        == "AccountId refers to the record that was recreated in place of local_p")
    #expect(try scene.field("Website", of: new) == "w2")
  }

  @Test func `a record that was recreated repeatedly is found by each Id`() async throws {
    let scene = try scene()
    let (phone, first) = try await scene.primed()
    var ids = [first]
    for place in 1...2 {
      try delete(ids[place - 1], scene)
      try phone.edit(
        "accounts", id: first, ["Website": .string("w\(place)")], now: scene.world.org.now())
      #expect(try await scene.night(phone, as: "\(place).sqlite").verdicts == [.created: 1])
      ids.append(try scene.id(of: "Account", where: "Website", is: "w\(place)"))
    }
    for (place, id) in ids.enumerated() { try kid("k\(place)", of: id, on: phone, scene) }
    let contact = try scene.world.ids("contacts", on: phone).first {
      try !$0.hasPrefix("local") && scene.isThere($0, "Contact")
    }
    let moved = try #require(contact)
    try phone.edit("contacts", id: moved, ["AccountId": .string(first)], now: scene.world.org.now())
    #expect(try await news(phone, as: "kids.sqlite", scene).verdicts == [.created: 3, .updated: 1])
    for place in ids.indices { #expect(try parent(of: "k\(place)", scene) == ids[2]) }
    #expect(try scene.field("AccountId", of: moved, "Contact")?.string == ids[2])
  }

  @Test func `an undeleted record keeps its Id, its recreated copy is deleted`() async throws {
    let scene = try scene("LEAVE_IF_CHANGED")
    let phone = try await scene.phone()
    let ids = [try scene.scene.account(phone), try scene.scene.account(phone, 1)]
    for id in ids { try delete(id, scene) }
    try phone.edit("accounts", id: ids[0], ["Website": "w"], now: scene.world.org.now())
    #expect(try await scene.night(phone, as: "1.sqlite").verdicts == [.deletedOnServer: 1])
    try scene.scene.decide(1, .device)
    #expect(try await scene.world.run(.ingest, .reconcile).verdicts == [.created: 1])
    let new = try scene.id(of: "Account", where: "Website", is: "w")

    try kid("anew", of: ids[0], on: phone, scene)
    try kid("gone", of: ids[1], on: phone, scene)
    #expect(try await news(phone, as: "2.sqlite", scene).verdicts == [.created: 1, .failed: 1])
    #expect(try parent(of: "anew", scene) == new)

    try scene.world.org.undelete(ids[0])
    try kid("back", of: ids[0], on: phone, scene)
    #expect(try await news(phone, as: "3.sqlite", scene).verdicts == [.created: 1])
    #expect(try parent(of: "back", scene) == ids[0])
  }

  @Test func `a child of a parent that could not be recreated waits for it`() async throws {
    let scene = try scene()
    let (phone, id) = try await scene.primed()
    try delete(id, scene)
    let long = JSONValue.string(String(repeating: "x", count: 256))
    try phone.edit("accounts", id: id, ["Name": long], now: scene.world.org.now())
    try kid("waiting", of: id, on: phone, scene)
    let left = try await scene.night(phone, as: "1.sqlite")
    #expect(left.verdicts == [.failed: 1, .blocked: 1])
    #expect(
      try words("waiting", in: left, scene)
        == "AccountId refers to a record that did not reach the org")
    let sent = try await scene.night(phone, as: "2.sqlite", edited: id, ["Name": "Mended"])
    #expect(sent.verdicts[.created] == 2)
    #expect(
      try parent(of: "waiting", scene) == scene.id(of: "Account", where: "Name", is: "Mended"))
  }
}
