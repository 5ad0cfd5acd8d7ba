import JSON
import Ledger
import Pipelines
import Rehearsal
import Reports
import SmartStore
import Testing

/// Edits that are sent with permissions other than their user's, and attempts of a device to abuse
/// that.
@Suite struct ExceedsUserAccessTests {
  private static func world(_ reconcile: String = "\"sendAs\": \"integration\"") throws -> World {
    try World { text in
      text.replacing("\"reconcile\": {", with: "\"reconcile\": { \(reconcile), ")
        .replacing("\"scope\": \"global\",", with: "\"scope\": \"global\", \"reconcile\": [],")
    }
  }

  private func put(
    _ device: Device, _ soup: String, _ id: String, type: String,
    flag: String = "__locally_updated__", _ fields: JSONObject = [:]
  ) throws {
    let store = try Store(opening: device.storePath)
    var element = try store.elements(in: soup, where: "Id", is: id).first?.object ?? [:]
    element["Id"] = .string(id)
    element["attributes"] = ["type": .string(type)]
    for (name, value) in fields { element[name] = value }
    for name in ["created", "updated", "deleted"] { element["__locally_\(name)__"] = false }
    element["__local__"] = true
    element[flag] = true
    try store.upsert([.object(element)], into: soup)
    try store.close()
  }

  private func own(_ object: String, of name: String, _ world: World) throws -> [String] {
    let owner = try world.user(name)
    return try world.column("SELECT Id FROM \(object) WHERE OwnerId = '\(owner.id)' ORDER BY Id")
  }

  /// The messages of the edits that exceeded their user's access in the last run.
  private func refusals(_ world: World) throws -> [String] {
    let state = try LedgerDatabase(path: world.data.state)
    let run = try #require(try state.runs(limit: 1).first)
    return try ReportModel(state: state, run: run.id, called: "demo").edits.all()
      .filter { $0.verdict == .exceedsUserAccess }.compactMap(\.detail.message).sorted()
  }

  @Test func `records that a user was issued or created are sent as that user`() async throws {
    let world = try Self.world()
    let device = try await world.primed("ada")
    let accounts = try own("Account", of: "ada", world)
    let contacts = try own("Contact", of: "ada", world)
    try put(device, "accounts", accounts[0], type: "ACCOUNT", ["Phone": "1"])
    try put(device, "contacts", contacts[0], type: "Contact", flag: "__locally_deleted__")
    try put(
      device, "accounts", "local_1", type: "Account", flag: "__locally_created__", ["Name": "New"])
    try put(
      device, "contacts", "local_2", type: "Contact", flag: "__locally_created__",
      ["LastName": "New", "AccountId": "local_1"])
    try put(
      device, "contacts", "local_3", type: "Contact", flag: "__locally_created__",
      ["LastName": "Two", "AccountId": .string(String(accounts[1].prefix(15)))])
    let first = try await world.run(device, as: "ada.sqlite")
    #expect(first.verdicts == [.updated: 1, .deleted: 1, .created: 3])
    // The device has not installed the new bundle, and continues with its own record.
    try put(
      device, "contacts", "local_2", type: "Contact", flag: "__locally_created__", ["Title": "Dr."])
    #expect(try await world.run(device, as: "ada2.sqlite").verdicts[.exceedsUserAccess] == nil)
    #expect(try refusals(world) == [])
  }

  @Test(arguments: ["\"sendAs\": \"integration\"", "\"onInactiveUser\": \"integration\""])
  func `no device changes a record that its user was not issued`(_ reconcile: String) async throws {
    let world = try Self.world(reconcile)
    let device = try await world.primed("ada")
    let foreign = try own("Account", of: "ben", world)
    let accounts = try own("Account", of: "ada", world)
    let order = try own("WorkOrder", of: "ben", world)[0]
    let before = try foreign.map { try world.record("Account", $0) }
    // Another user's record, by its long and its short ID, changed and deleted.
    try put(device, "accounts", foreign[1], type: "Account", ["Phone": "666"])
    try put(device, "accounts", String(foreign[2].prefix(15)), type: "account", ["Phone": "666"])
    try put(device, "accounts", foreign[3], type: "Account", flag: "__locally_deleted__")
    // A record that was issued in another soup, one of another type, and a new one of another type.
    try put(device, "contacts", accounts[0], type: "Account", ["Phone": "666"])
    try put(device, "accounts", order, type: "WorkOrder", ["Description": "666"])
    try put(
      device, "accounts", "local_1", type: "Product2", flag: "__locally_created__", ["Name": "666"])
    // New records below another user's.
    try put(
      device, "contacts", "local_2", type: "Contact", flag: "__locally_created__",
      ["LastName": "666", "AccountId": .string(foreign[1])])
    try put(
      device, "workorders", "local_3", type: "WorkOrder", flag: "__locally_created__",
      ["Subject": "666", "AccountId": .string(String(foreign[1].prefix(15)))])
    try world.handBack(device, as: "ada.sqlite")
    try world.org.setActive("ada@example.com", reconcile.contains("sendAs"))
    let summary = try await world.run(.ingest, .reconcile)
    #expect(summary.verdicts == [.exceedsUserAccess: 8])
    #expect(summary.findings.contains(.unsettledEdits))
    #expect(
      try refusals(world) == [
        "AccountId refers to a record that was not issued to the user",
        "AccountId refers to a record that was not issued to the user",
        "none of the app's syncs for it names the object type Account",
        "none of the app's syncs for it names the object type Product2",
        "none of the app's syncs for it names the object type WorkOrder",
        "the user was not issued the record in the soup where the device edited it",
        "the user was not issued the record in the soup where the device edited it",
        "the user was not issued the record in the soup where the device edited it",
      ])
    #expect(try foreign.map { try world.record("Account", $0) } == before)
    let admin = try world.user("admin")
    for object in ["Account", "Contact", "WorkOrder", "Product2"] {
      let name = ["Contact": "LastName", "WorkOrder": "Subject"][object] ?? "Name"
      #expect(
        try world.org.query("SELECT Id FROM \(object) WHERE \(name) = '666'", as: admin).totalSize
          == 0)
    }
  }

  @Test func `a row that a device gives another record's Id does not become it`() async throws {
    let world = try Self.world()
    let device = try await world.primed("ada")
    let foreign = try own("Account", of: "ben", world)[1]
    // The first return fails, so that the row has no record yet.
    try put(
      device, "accounts", "local_1", type: "Account", flag: "__locally_created__",
      ["Name": .string(String(repeating: "x", count: 300))])
    #expect(try await world.verdicts(device, as: "ada.sqlite") == [.failed: 1])
    let store = try Store(opening: device.storePath)
    var element = try #require(
      try store.elements(in: "accounts", where: "Id", is: "local_1").first?.object)
    element["Id"] = .string(foreign)
    element["Name"] = "666"
    element["__locally_created__"] = false
    try store.upsert([.object(element)], into: "accounts")
    try store.close()
    try put(
      device, "contacts", "local_2", type: "Contact", flag: "__locally_created__",
      ["LastName": "666", "AccountId": "local_1"])
    let summary = try await world.run(device, as: "ada2.sqlite")
    #expect(summary.verdicts == [.exceedsUserAccess: 2, .superseded: 1])
    #expect(try world.record("Account", foreign)["Name"] != "666")
  }

  @Test func `a device may change records that an earlier generation issued`() async throws {
    let world = try Self.world()
    let device = try await world.primed("ada")
    // Cleo's account, which ada can no longer see.
    let account = try #require(
      try own("Account", of: "cleo", world).first {
        try world.ids("accounts", on: device).contains($0)
      })
    try world.org.unshare(account, from: "ada@example.com")
    try await world.run { $0.maxDeletes = Percentage(100) }
    #expect(try !world.ids("accounts", on: world.device("ada", as: "new")).contains(account))
    try put(device, "accounts", account, type: "Account", ["Phone": "1"])
    try world.handBack(device, as: "ada.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
  }

  @Test func `a device may refer to records that an earlier generation issued`() async throws {
    let world = try Self.world()
    let device = try await world.primed("ada")
    let account = try #require(
      try own("Account", of: "cleo", world).first {
        try world.ids("accounts", on: device).contains($0)
      })
    let never = try #require(
      try own("Account", of: "ben", world).first {
        try !world.ids("accounts", on: device).contains($0)
      })
    let contact = try own("Contact", of: "ada", world)[0]
    // The two generations since then do not contain it.
    try world.org.unshare(account, from: "ada@example.com")
    try await world.run { $0.maxDeletes = Percentage(100) }
    let admin = try world.user("admin")
    #expect(world.org.update("Contact", id: contact, ["Phone": "1"], as: admin).errors == [])
    try await world.run()
    #expect(try world.data.generations(of: world.user("ada").id).count == 3)
    for (local, parent) in [("local_1", account), ("local_2", never)] {
      try put(
        device, "contacts", local, type: "Contact", flag: "__locally_created__",
        ["LastName": .string(local), "AccountId": .string(parent)])
    }
    let summary = try await world.run(device, as: "ada.sqlite", .ingest, .reconcile)
    #expect(summary.verdicts == [.created: 1, .exceedsUserAccess: 1])
    let made = try world.org.query(
      "SELECT Id FROM Contact WHERE LastName = 'local_1' AND AccountId = '\(account)'", as: admin)
    #expect(made.totalSize == 1)
  }

  @Test func `a global store's return changes nothing unless its syncs are named`() async throws {
    let world = try Self.world()
    try await world.run()
    let bundle = try world.bundle("ada")
    let place = world.directory.file("devices/global")
    let phone = try Device.install(bundle, .ios, into: place, now: world.org.now())
    let path = try #require(
      try Tree.files(place).map { place + "/" + $0 }.first {
        $0.hasSuffix(".sqlite") && $0 != phone.storePath && !$0.contains("/005")
      })
    let global = Device(platform: .ios, storePath: path)
    let product = try #require(try world.ids("products", on: global).first)
    try put(global, "products", product, type: "Product2", ["Name": "666"])
    try world.handBack(global, as: "global.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.notConfigured: 1])
    #expect(try world.record("Product2", product)["Name"] != "666")
  }
}
