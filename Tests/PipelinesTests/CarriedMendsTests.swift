import Pipelines
import Rehearsal
import Testing

@Suite struct CarriedMendsTests {
  private static let long = String(repeating: "x", count: 300)

  private func words(_ id: String, _ device: Device, _ scene: CarriedScene) throws -> String {
    try scene.row(id, on: device)["__last_error__"]?.string ?? ""
  }

  // MARK: proof of display

  @Test func `a change in an app that shows no reasons decides nothing`() async throws {
    let (scene, phone, id) = try await CarriedScene.carriedConflict()
    try phone.edit("accounts", id: id, ["Phone": "fixed"], now: scene.later(30))
    #expect(try await scene.verdicts(phone, as: "two.sqlite") == [.superseded: 1, .conflict: 1])
    #expect(try scene.scene.field("Phone", of: id) == "office")
    #expect(try scene.scene.states().isEmpty)
    let next = try scene.world.device("ada", as: "ada-3")
    #expect(try scene.row(id, on: next)["Phone"] == "fixed")
  }

  @Test func `a reason shown after another run decides nothing`() async throws {
    let (scene, phone, id) = try await CarriedScene.carriedConflict()
    try phone.fix("accounts", id: id, ["Phone": "fixed"], now: scene.later(30))
    try scene.scene.office(id, ["Phone": "newer"])
    #expect(try await scene.verdicts(phone, as: "two.sqlite") == [.superseded: 1, .conflict: 1])
    let third = try scene.world.device("ada", as: "ada-3")
    #expect(try scene.row(id, on: third)["__last_error_shown__"] == nil)
    try third.edit(
      "accounts", id: id,
      ["Phone": "at last", "__last_error_shown__": .string(try words(id, phone, scene))],
      now: scene.later(60))
    #expect(try await scene.verdicts(third, as: "three.sqlite") == [.superseded: 1, .conflict: 1])
    #expect(try scene.scene.field("Phone", of: id) == "newer")
  }

  @Test func `of several returns before a run, the last fix is sent`() async throws {
    let (scene, phone, id) = try await CarriedScene.carriedConflict()
    try phone.fix("accounts", id: id, ["Phone": "fixed"], now: scene.later(30))
    #expect(try await scene.world.run(phone, as: "two.sqlite", .ingest).edits.new == 1)
    try phone.edit("accounts", id: id, ["Phone": "at last"], now: scene.later(40))
    #expect(try await scene.verdicts(phone, as: "three.sqlite") == [.superseded: 2, .updated: 1])
    #expect(try scene.scene.field("Phone", of: id) == "at last")
    #expect(try scene.scene.states() == ["device withdrawn", "device done"])
  }

  // MARK: row content

  @Test func `reasons come from the user's own store and are valid for it`() async throws {
    let scene = try CarriedScene()
    let id = try await scene.scene.conflict()
    try scene.scene.office(id, ["Phone": "newer"])
    try await scene.world.run(.prime, .pack)
    let phone = try scene.world.device("ada", as: "ada-2")
    #expect(try words(id, phone, scene).contains(#"Phone is "newer" in the org and "device" here"#))
    try phone.fix("accounts", id: id, ["Phone": "fixed"], now: scene.later(30))
    #expect(try await scene.verdicts(phone, as: "two.sqlite") == [.superseded: 1, .updated: 1])
    #expect(try scene.scene.field("Phone", of: id) == "fixed")
  }

  @Test func `the row has the org's values in other fields, not as edits`() async throws {
    let scene = try CarriedScene()
    let (device, id) = try await scene.primed()
    try device.edit("accounts", id: id, ["Phone": "device"], now: scene.later())
    try scene.scene.office(id, ["Phone": "office", "Description": "entered"])
    #expect(try await scene.verdicts(device, as: "one.sqlite") == [.conflict: 1])
    let phone = try scene.world.device("ada", as: "ada-2")
    let row = try scene.row(id, on: phone)
    #expect(row["Phone"] == "device" && row["Description"] == "entered")
    #expect(try words(id, phone, scene).contains(#"Description is "entered" in the org now"#))
    // A field that the reason does not name: nothing is decided, and only this is an edit.
    try phone.fix("accounts", id: id, ["Website": "https://mine"], now: scene.later(30))
    let night = try await scene.run(phone, as: "two.sqlite")
    #expect(night.verdicts == [.superseded: 1, .conflict: 1])
    let told = try #require(try scene.scene.edits(of: night.run).last)
    #expect(told.detail.fields.map(\.name) == ["Phone", "Website"])
    let third = try scene.world.device("ada", as: "ada-3")
    try third.fix("accounts", id: id, ["Phone": "fixed"], now: scene.later(60))
    #expect(try await scene.verdicts(third, as: "three.sqlite") == [.superseded: 1, .updated: 1])
    #expect(try scene.scene.field("Phone", of: id) == "fixed")
    #expect(try scene.scene.field("Website", of: id) == "https://mine")
    #expect(try scene.scene.field("Description", of: id) == "entered")
  }

  @Test func `if the base is unknown, a row keeps the fields possibly edited`() async throws {
    let scene = try CarriedScene()
    let (device, id) = try await scene.primed()
    // The app has fetched the record itself since. BillingCity is outside the field list, and
    // Draft is an object that the app keeps.
    try device.edit(
      "accounts", id: id,
      [
        "Phone": "device", "BillingCity": "Lyon", "Draft": .object(["city": "Lyon"]),
        "LastModifiedDate": "2020-01-01T00:00:00.000+0000",
      ], now: scene.later())
    try scene.scene.office(id, ["Phone": "office"])
    let night = try await scene.run(device, as: "one.sqlite")
    #expect(night.verdicts == [.conflict: 1])
    let told = try #require(try scene.scene.edits(of: night.run).first)
    #expect(told.detail.hasNoBase && told.detail.outside.map(\.name) == ["BillingCity"])
    let row = try scene.row(id, on: scene.world.device("ada", as: "ada-2"))
    #expect(row["Phone"] == "device" && row["BillingCity"] == "Lyon")
    #expect(row["Draft"]?["city"] == "Lyon")
  }

  @Test func `a fix of a row without a base is sent over each value that was shown`() async throws {
    let scene = try CarriedScene()
    let (device, id) = try await scene.primed()
    // The app has fetched the record itself since, with a later Website.
    try device.edit(
      "accounts", id: id,
      [
        "Phone": "device", "Website": "https://fetched",
        "LastModifiedDate": "2020-01-01T00:00:00.000+0000",
      ], now: scene.later())
    try scene.scene.office(id, ["Phone": "office", "Website": "https://office"])
    #expect(try await scene.verdicts(device, as: "one.sqlite") == [.conflict: 1])
    let phone = try scene.world.device("ada", as: "ada-2")
    let shown = #"Website is "https://office" in the org and "https://fetched" here"#
    #expect(try words(id, phone, scene).contains(shown))
    try phone.fix("accounts", id: id, ["Phone": "fixed"], now: scene.later(30))
    let night = try await scene.run(phone, as: "two.sqlite")
    #expect(night.verdicts == [.superseded: 1, .updated: 1])
    #expect(try scene.scene.field("Phone", of: id) == "fixed")
    #expect(try scene.scene.field("Website", of: id) == "https://fetched")
    let told = try #require(try scene.scene.edits(of: night.run).last)
    #expect(told.detail.fields.first { $0.name == "Website" }?.server == "https://office")
  }

  @Test func `under OVERWRITE a fixed row leaves other users' fields alone`() async throws {
    let scene = try CarriedScene()
    let world = scene.world
    try world.rewrite("LEAVE_IF_CHANGED", "OVERWRITE", in: "demo/usersyncs.json")
    _ = try await world.runAllAsWritten()
    let device = try world.device("ada")
    let id = try scene.scene.account(device)
    try device.edit("accounts", id: id, ["Name": .string(Self.long)], now: scene.later())
    try scene.scene.office(id, ["Description": "entered"])
    try scene.handBack(device, as: "one.sqlite")
    #expect(try await world.runAllAsWritten().verdicts == [.failed: 1])
    let phone = try world.device("ada", as: "ada-2")
    try phone.edit("accounts", id: id, ["Name": "Mended"], now: scene.later(30))
    try scene.handBack(phone, as: "two.sqlite")
    #expect(try await world.runAllAsWritten().verdicts == [.superseded: 1, .updated: 1])
    #expect(try scene.scene.field("Name", of: id) == "Mended")
    #expect(try scene.scene.field("Description", of: id) == "entered")
  }

  @Test func `under OVERWRITE a redelivered edit restores no other values`() async throws {
    let scene = try CarriedScene(maxChanges: 1)
    let world = scene.world
    try world.rewrite("LEAVE_IF_CHANGED", "OVERWRITE", in: "demo/usersyncs.json")
    _ = try await world.runAllAsWritten()
    let device = try world.device("ada")
    let ids = try (0..<2).map { try scene.scene.account(device, $0) }
    for id in ids { try device.edit("accounts", id: id, ["Phone": "device"], now: scene.later()) }
    try scene.handBack(device, as: "one.sqlite")
    try scene.scene.office(ids[0], ["Description": "entered"])
    let held = try await world.runAllAsWritten()
    #expect(held.verdicts == [.notAttempted: 2])
    let phone = try world.device("ada", as: "ada-2")
    #expect(try scene.row(ids[0], on: phone)["Description"] == "entered")
    let digest = try #require(held.confirm.first?.split(separator: " ").last)
    let sent = try await world.runAllAsWritten { $0.confirmed = [String(digest)] }
    #expect(sent.verdicts == [.updated: 2])
    for id in ids { #expect(try scene.scene.field("Phone", of: id) == "device") }
    #expect(try scene.scene.field("Description", of: ids[0]) == "entered")
    let told = try scene.scene.edits(of: sent.run)
    #expect(told.flatMap(\.detail.fields).map(\.name) == ["Phone", "Phone"])
  }

  @Test func `the row of an invisible record has its Id and the edit`() async throws {
    let scene = try CarriedScene()
    let (phone, id) = try await scene.carriedConflict(["Phone": "device", "Description": "mine"])
    #expect(try scene.row(id, on: phone)["Name"] != nil)
    try scene.world.org.transfer(id, to: "cleo@example.com")
    try scene.scene.office(id, ["Phone": "secret"])
    try await scene.world.run { $0.maxDeletes = Percentage(100) }
    let next = try scene.world.device("ada", as: "ada-3")
    let row = try scene.row(id, on: next)
    let members = row.names.filter { !$0.hasPrefix("_") && $0 != "attributes" }.sorted()
    #expect(members == ["Description", "Id", "LastModifiedDate", "Phone"])
    #expect(row["Phone"] == "device" && row["Description"] == "mine")
    #expect(
      try words(id, next, scene)
        == "Not sent: the record changed in the org after this device read it.")
    // Changed back and forth with its user, it is an edit of these fields.
    try next.edit("accounts", id: id, ["Phone": "fixed"], now: scene.later(30))
    #expect(try await scene.verdicts(next, as: "two.sqlite") == [.superseded: 1, .notVisible: 1])
    try scene.world.org.transfer(id, to: "ada@example.com")
    try scene.scene.decide(2, .retry)
    #expect(try await scene.world.run().verdicts == [.conflict: 1])
    #expect(try scene.row(id, on: scene.world.device("ada", as: "ada-4"))["Name"] != nil)
  }

  @Test func `a record with only its edit redelivered is recreated in full`() async throws {
    for decides in [true, false] {
      let (scene, _, id) = try await CarriedScene.carriedConflict()
      let before = try scene.world.record("Account", id)
      try scene.scene.delete(id)
      try await scene.world.run { $0.maxDeletes = Percentage(100) }
      let phone = try scene.world.device("ada", as: "ada-3")
      #expect(try scene.row(id, on: phone)["Name"] == nil)
      try phone.edit("accounts", id: id, ["Description": "fixed"], now: scene.later(30))
      try scene.handBack(phone, as: "two.sqlite")
      if decides {
        #expect(try await scene.world.run().verdicts == [.superseded: 1, .deletedOnServer: 1])
        try scene.scene.decide(2, .device)
        #expect(try await scene.world.run().verdicts == [.created: 1])
      } else {
        try scene.world.rewrite("LEAVE_IF_CHANGED", "OVERWRITE", in: "demo/usersyncs.json")
        let verdicts = try await scene.world.runAsWritten([.ingest, .reconcile]).verdicts
        #expect(verdicts == [.superseded: 1, .created: 1])
      }
      let made = try scene.world.column("SELECT Id FROM Account WHERE Phone = 'device'").first
      let after = try scene.world.record("Account", try #require(made))
      for name in ["Name", "BillingCity", "Website"] {
        #expect(after[name] == before[name], "\(name)")
      }
      #expect(after["Phone"] == "device" && after["Description"] == "fixed")
    }
  }
}
