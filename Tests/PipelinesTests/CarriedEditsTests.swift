import Testing

/// A device with open edits installs the next generation, shows why they are open, fixes them and
/// returns its store.
@Suite struct CarriedEditsTests {
  // MARK: redelivery

  @Test func `an open edit is redelivered dirty, with its reason and its return`() async throws {
    let scene = try CarriedScene()
    let (device, id) = try await scene.primed()
    let other = try scene.scene.account(device, 1)
    try device.edit("accounts", id: id, ["Phone": "device"], now: scene.later())
    try device.edit("accounts", id: other, ["Phone": "sent"], now: scene.later())
    try scene.scene.office(id, ["Phone": "office"])
    #expect(try await scene.verdicts(device, as: "ada.sqlite") == [.conflict: 1, .updated: 1])
    #expect(try scene.includes() == [scene.install(of: device): 1])

    let fresh = try scene.world.device("ada", as: "fresh")
    let dirty = try scene.dirty(fresh)
    #expect(dirty.map { $0["Id"] } == [.string(id)])
    let row = try scene.row(id, on: fresh)
    #expect(row["Phone"] == "device" && row["__locally_updated__"] == true)
    #expect(
      row["__last_error__"]?.string
        == "Not sent: the record changed in the org after this device read it. "
        + "Phone is \"office\" in the org and \"device\" here.")
    let settled = try scene.row(other, on: fresh)
    #expect(settled["Phone"] == "sent" && settled["__local__"] == false)
    #expect(settled["__last_error__"] == nil)
    // The other platform's bundle has the org's values.
    let android = try scene.world.device("ada", .android, as: "android")
    #expect(try scene.row(id, on: android)["Phone"] == "office")
    #expect(try scene.dirty(android).isEmpty)
  }

  @Test func `if nothing changes, no new generation is created`() async throws {
    let scene = try CarriedScene()
    _ = try await scene.carriedConflict()
    let ada = try scene.world.user("ada").id
    let before = try scene.world.data.generations(of: ada)
    try await scene.world.run()
    try await scene.world.run()
    #expect(try scene.world.data.generations(of: ada) == before)
  }

  @Test func `values that a report masks are not redelivered in messages`() async throws {
    let scene = try CarriedScene { $0.replacing(#""Email""#, with: #""Email", "Phone""#) }
    let (phone, id) = try await scene.carriedConflict(["Phone": "device", "Description": "mine"])
    let words = try scene.row(id, on: phone)["__last_error__"]?.string ?? ""
    #expect(!words.contains("office") && words.contains("Phone is •••"))
    // No one was shown the org's value, so a change of the field decides nothing.
    try phone.fix("accounts", id: id, ["Phone": "mended"], now: scene.later(30))
    #expect(try await scene.verdicts(phone, as: "two.sqlite")[.conflict] == 1)
    #expect(try scene.scene.field("Phone", of: id) == "office")
  }

  @Test func `deletions, deleted records and new records are redelivered`() async throws {
    let scene = try CarriedScene()
    let device = try await scene.world.primed("ada")
    let accounts = try (0..<3).map { try scene.scene.account(device, $0) }
    try device.delete("accounts", id: accounts[0], now: scene.later())
    try scene.scene.office(accounts[0], ["Phone": "office"])
    try device.edit("accounts", id: accounts[1], ["Phone": "device"], now: scene.later())
    #expect(
      scene.world.org.delete("Account", id: accounts[1], as: try scene.world.user("admin"))
        .errors.isEmpty)
    let long = String(repeating: "x", count: 300)
    try device.create(
      "accounts", type: "Account", ["Name": .string(long)], localID: "local_1", now: scene.later())
    let run = try await scene.run(device, as: "ada.sqlite")
    #expect(run.verdicts == [.conflict: 1, .deletedOnServer: 1, .failed: 1])
    for night in 1...2 {
      let fresh = try scene.world.device("ada", as: "fresh-\(night)")
      #expect(try scene.row(accounts[0], on: fresh)["__locally_deleted__"] == true)
      #expect(try scene.row(accounts[1], on: fresh)["__locally_updated__"] == true)
      #expect(try scene.row("local_1", on: fresh)["__locally_created__"] == true)
      #expect(try scene.dirty(fresh).count == 3)
      // The next prime builds on the store with the org's values.
      try scene.scene.office(accounts[2], ["Phone": .string("\(night)")])
      try await scene.world.run()
    }
  }

  @Test func `open edits of one record from two phones are not redelivered`() async throws {
    let scene = try CarriedScene()
    try await scene.world.run()
    try scene.world.org.moveClock(by: 5000)
    let phones = try ["one", "two"].map { try scene.world.device("ada", as: $0) }
    let id = try scene.scene.account(phones[0])
    for (place, phone) in phones.enumerated() {
      try phone.edit("accounts", id: id, ["Phone": .string("p\(place)")], now: scene.later())
      try scene.handBack(phone, as: "\(place).sqlite")
    }
    #expect(try await scene.world.run().verdicts == [.deviceConflict: 2])
    #expect(try scene.includes().isEmpty)
    #expect(try scene.dirty(scene.world.device("ada", as: "fresh")).isEmpty)
  }

  @Test func `with returnOpenEdits off, the return stays out, on its device`() async throws {
    let scene = try CarriedScene {
      $0.replacing(#""returnOpenEdits": true"#, with: #""returnOpenEdits": false"#)
    }
    let (phone, _) = try await scene.carriedConflict()
    #expect(try scene.dirty(phone).isEmpty)
    #expect(try scene.includes().isEmpty)
  }

  // MARK: returns

  @Test func `an unchanged redelivered edit stays one open edit on all phones`() async throws {
    let (scene, phone, id) = try await CarriedScene.carriedConflict()
    let second = try scene.world.device("ada", as: "second")
    try scene.handBack(phone, as: "two.sqlite")
    let night = try await scene.run(second, as: "three.sqlite")
    #expect(night.verdicts.isEmpty)
    #expect(night.edits.found == 2 && night.edits.known == 2 && night.edits.new == 0)
    #expect(try scene.verdicts() == ["conflict"])
    #expect(
      try scene.includes().keys.sorted().contains(scene.install(of: phone))
        && scene.includes().keys.contains(scene.install(of: second)))
    // Once decided, it is sent once, and the phones' remaining rows are not edits.
    try scene.scene.decide(1, .device)
    #expect(try await scene.world.run().verdicts == [.updated: 1])
    try scene.scene.office(id, ["Phone": "office again"])
    try scene.handBack(phone, as: "four.sqlite")
    #expect(try await scene.verdicts(second, as: "five.sqlite").isEmpty)
    #expect(try scene.scene.field("Phone", of: id) == "office again")
    #expect(try scene.verdicts() == ["updated"])
    #expect(try scene.dirty(scene.world.device("ada", as: "last")).isEmpty)
  }

  @Test func `a fixed edit is sent over the value that was shown`() async throws {
    let scene = try CarriedScene()
    let (phone, id) = try await scene.carriedConflict(["Phone": "device", "Description": "mine"])
    try phone.fix("accounts", id: id, ["Phone": "mended"], now: scene.later(30))
    #expect(try await scene.verdicts(phone, as: "two.sqlite") == [.superseded: 1, .updated: 1])
    #expect(try scene.scene.field("Phone", of: id) == "mended")
    #expect(try scene.scene.field("Description", of: id) == "mine")
    #expect(try scene.scene.states() == ["device done"])
    #expect(try scene.includes()[scene.install(of: phone)] == 1)
    let fresh = try scene.world.device("ada", as: "fresh")
    #expect(try scene.dirty(fresh).isEmpty)
    #expect(try scene.row(id, on: fresh)["__last_error__"] == nil)
  }

  @Test func `a fix needs a new decision if the org has changed the shown value`() async throws {
    let (scene, phone, id) = try await CarriedScene.carriedConflict()
    try phone.fix("accounts", id: id, ["Phone": "mended"], now: scene.later(30))
    try scene.scene.office(id, ["Phone": "newer"])
    #expect(try await scene.verdicts(phone, as: "two.sqlite") == [.superseded: 1, .conflict: 1])
    #expect(try scene.scene.field("Phone", of: id) == "newer")
    let third = try scene.world.device("ada", as: "ada-3")
    let row = try scene.row(id, on: third)
    #expect(row["Phone"] == "mended")
    #expect(row["__last_error__"]?.string?.contains("\"newer\"") == true)
    // Fixed again, over the newer value that was shown.
    try third.fix("accounts", id: id, ["Phone": "at last"], now: scene.later(60))
    #expect(try await scene.verdicts(third, as: "three.sqlite") == [.superseded: 1, .updated: 1])
    #expect(try scene.scene.field("Phone", of: id) == "at last")
    try await scene.world.run()
    #expect(try scene.dirty(scene.world.device("ada", as: "last")).isEmpty)
  }

  @Test func `a change of another field does not decide about the shown one`() async throws {
    let (scene, phone, id) = try await CarriedScene.carriedConflict()
    try phone.fix("accounts", id: id, ["Description": "new"], now: scene.later(30))
    #expect(try await scene.verdicts(phone, as: "two.sqlite") == [.superseded: 1, .conflict: 1])
    #expect(try scene.scene.field("Phone", of: id) == "office")
    #expect(try scene.scene.field("Description", of: id) != "new")
  }

  @Test func `entering the org's value on the phone resolves the edit`() async throws {
    let (scene, phone, id) = try await CarriedScene.carriedConflict()
    try phone.fix("accounts", id: id, ["Phone": "office"], now: scene.later(30))
    try scene.handBack(phone, as: "two.sqlite")
    let writes = scene.world.server.log.writes.count
    #expect(try await scene.world.run().verdicts == [.superseded: 1, .alreadyInOrg: 1])
    #expect(scene.world.server.log.writes.count == writes)
  }

  @Test func `an edit reverted on the phone is discarded and reported as such`() async throws {
    let (scene, phone, id) = try await CarriedScene.carriedConflict()
    try phone.clean("accounts", id: id, now: scene.later(30))
    let night = try await scene.run(phone, as: "two.sqlite")
    #expect(night.verdicts == [.superseded: 1])
    let told = try scene.scene.edits(of: night.run)
    #expect(told.first?.detail.message?.contains("discarded it") == true)
    #expect(try scene.scene.field("Phone", of: id) == "office")
    #expect(try scene.includes()[scene.install(of: phone)] == 1)
    #expect(try scene.dirty(scene.world.device("ada", as: "fresh")).isEmpty)
  }

  @Test func `saving the same values again retries the same edit`() async throws {
    let (scene, phone, id) = try await CarriedScene.carriedConflict()
    try phone.fix("accounts", id: id, ["Phone": "device"], now: scene.later(30))
    #expect(try await scene.verdicts(phone, as: "two.sqlite") == [.conflict: 1])
    #expect(try scene.verdicts() == ["conflict"])
    #expect(try scene.scene.field("Phone", of: id) == "office")
  }

  @Test func `a phone that kept its store and one that installed are distinguished`() async throws {
    let scene = try CarriedScene()
    let (first, id) = try await scene.primed()
    try first.edit("accounts", id: id, ["Phone": "device"], now: scene.later())
    try scene.scene.office(id, ["Phone": "office"])
    try scene.handBack(first, as: "one.sqlite")
    let second = try await scene.world.primed("ada", as: "second")
    try first.edit("accounts", id: id, ["Phone": "first"], now: scene.later(20))
    #expect(try await scene.verdicts(first, as: "two.sqlite") == [.superseded: 1, .conflict: 1])
    // The redelivered edit is superseded by now; fixed elsewhere, it is another edit.
    try second.fix("accounts", id: id, ["Phone": "second"], now: scene.later(30))
    #expect(try await scene.run(second, as: "three.sqlite").verdicts[.updated] == nil)
    #expect(try scene.scene.field("Phone", of: id) == "office")
    // Of the two open edits, the one redelivered before stays.
    #expect(try scene.row(id, on: scene.world.device("ada", as: "fresh"))["Phone"] == "first")
  }
}
