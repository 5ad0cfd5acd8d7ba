import Archive
import Bundles
import Ledger
import Rehearsal
import System
import TestSupport
import Testing

@Suite struct GlobalStoreReturnsTests {
  let world: World
  init() throws {
    let directory = TemporaryDirectory("shared-phone")
    try OrgTemplate.small.get().copy(to: directory.file("org"))
    let pipelines = directory.file("pipelines")
    try Tree.copy(World.repository + "/pipelines", to: pipelines)
    let syncs = pipelines + "/demo/globalsyncs.json"
    let text = String(decoding: try Files.read(syncs), as: UTF8.self)
    let up = """
      { "syncName": "syncUpProducts", "syncType": "syncUp", "soupName": "products",
        "target": { "createFieldlist": ["Name"], "updateFieldlist": ["Name"] },
        "options": { "fieldlist": ["Name"], "mergeMode": "LEAVE_IF_CHANGED" } },
      """
    let changed = text.replacing("\"syncs\": [", with: "\"syncs\": [" + up)
    try DurableFile.write(Array(changed.utf8), to: syncs)
    world = try World(directory, file: pipelines + "/demo.json") { text in
      text.replacing("\"reconcile\": {", with: "\"reconcile\": { \"sendAs\": \"integration\", ")
        .replacing(
          "\"scope\": \"global\",",
          with: "\"scope\": \"global\", \"reconcile\": [\"syncUpProducts\"],")
    }
  }

  private struct Phone {
    var place: String
    var manifest: Manifest
    var user: Device
    var global: Device
  }

  private func install(_ name: String) throws -> Phone {
    let place = world.directory.file("devices/\(name)")
    let user = try world.device(name)
    let manifest = try Manifest(
      parsing: Files.read(place + "/manifest.json"), path: place + "/manifest.json")
    let entry = try #require(manifest.stores.first { $0.scope == .global })
    let global = Device(platform: .ios, storePath: place + "/" + entry.path)
    return Phone(place: place, manifest: manifest, user: user, global: global)
  }

  private func handBack(_ phone: Phone, global: Device, as name: String) throws {
    try world.handBack(phone.user, as: ".\(name).user")
    let writer = try ArchiveWriter(
      path: world.data.inbox("inbox") + "/" + name, format: .zip, modified: 0)
    try writer.add(name: "manifest.json", bytes: phone.manifest.bytes)
    for entry in phone.manifest.stores {
      let device = entry.scope == .global ? global : phone.user
      try writer.add(name: entry.path, file: device.storePath)
    }
    try writer.close()
    try Files.remove(world.data.inbox("inbox") + "/.\(name).user")
  }

  private func products(named name: String) throws -> Int {
    try world.column("SELECT Id FROM Product2 WHERE Name = '\(name)'").count
  }

  private func make(_ name: String, on device: Device) throws {
    try device.create(
      "products", type: "Product2", ["Name": .string(name)], localID: "local_" + name,
      now: world.org.now())
  }

  @Test func `a global store's new record returned by two users is created once`() async throws {
    try await world.run()
    let (ada, ben) = (try install("ada"), try install("ben"))
    try make("Ladder", on: ada.global)
    try handBack(ada, global: ada.global, as: "ada.zip")
    try handBack(ben, global: ada.global, as: "ben.zip")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 1])
    #expect(try products(named: "Ladder") == 1)
    // The next run, with another phone's edits.
    try make("Rope", on: ada.global)
    try handBack(ben, global: ada.global, as: "ben-2.zip")
    try handBack(ada, global: ada.global, as: "ada-2.zip")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 1, .superseded: 2])
    #expect(try products(named: "Ladder") == 1)
    #expect(try products(named: "Rope") == 1)
  }

  @Test func `a bundle returns with the global store of another's later bundle`() async throws {
    try await world.run()
    let ada = try install("ada")
    let product = try #require(try world.ids("products", on: ada.global).first)
    _ = world.org.update("Product2", id: product, ["Name": "Newer"], as: try world.user("admin"))
    try await world.run()
    let ben = try install("ben")
    let contact = try #require(try world.ids("contacts", on: ada.user).first)
    try ada.user.edit("contacts", id: contact, ["Title": "Mate"], now: world.org.now())
    try make("Ladder", on: ben.global)
    try handBack(ada, global: ben.global, as: "ada.zip")
    let run = try await world.run(.ingest, .reconcile)
    #expect(run.returns.quarantined == 0)
    #expect(run.verdicts == [.created: 1, .updated: 1])
    try handBack(ben, global: ben.global, as: "ben.zip")
    try await world.run(.ingest, .reconcile)
    #expect(try products(named: "Ladder") == 1)
  }

  @Test func `a new record returned in a bundle and a bare store is created once`() async throws {
    try await world.run()
    let ada = try install("ada")
    try make("Ladder", on: ada.global)
    try handBack(ada, global: ada.global, as: "ada.zip")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 1])
    try Files.copy(ada.global.storePath, to: world.data.inbox("inbox") + "/global.sqlite")
    try await world.run(.ingest, .reconcile)
    #expect(try products(named: "Ladder") == 1)
  }

  @Test func `an open global edit keeps its return out of includes`() async throws {
    try await world.run()
    let ada = try install("ada")
    let id = try #require(try world.ids("products", on: ada.global).first)
    try ada.global.edit("products", id: id, ["Name": "Ours"], now: world.org.now())
    _ = world.org.update("Product2", id: id, ["Name": "Theirs"], as: try world.user("admin"))
    try handBack(ada, global: ada.global, as: "ada.zip")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.conflict: 1])
    let ledger = try LedgerDatabase(path: world.data.state)
    let snapshot = try world.user("ada").id
    #expect(try ledger.includes(snapshotID: snapshot) == [])

    try ada.global.clean("products", id: id, now: world.org.now() + 7_200_000)
    try handBack(ada, global: ada.global, as: "ada-2.zip")
    try await world.run(.ingest, .reconcile)
    #expect(try ledger.includes(snapshotID: snapshot).map(\.handback) == [2])
  }

  @Test func `an unchanged global store resolves nothing of an earlier return`() async throws {
    try await world.run()
    let ada = try install("ada")
    let issued = Device(platform: .ios, storePath: world.directory.file("issued.sqlite"))
    try Files.copy(ada.global.storePath, to: issued.storePath)
    try make(String(repeating: "x", count: 300), on: ada.global)
    try handBack(ada, global: ada.global, as: "ada.zip")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.failed: 1])
    // The app has replaced the file by the issued one, which does not show the outcome of the edit.
    try handBack(ada, global: issued, as: "ada-2.zip")
    let second = try await world.run(.ingest, .reconcile)
    #expect(second.returns.ingested == 1)
    #expect(second.open == [.failed: 1])
  }
}
