import Bundles
import JSON
import Rehearsal
import SmartStore
import Snapshots
import System
import TestSupport
import Testing

@Suite struct SeveralStoresTests {
  let world: World
  init() throws {
    let directory = TemporaryDirectory("several-stores")
    try OrgTemplate.small.get().copy(to: directory.file("org"))
    let pipelines = directory.file("pipelines")
    try Tree.copy(Files.parent(of: OwnEffectsTests.pipeline.get().file("x")) ?? "/", to: pipelines)
    let people = """
      {"soups":[{"soupName":"people","indexes":[{"path":"Id","type":"string"},
        {"path":"__local__","type":"string"},{"path":"__sync_id__","type":"integer"}]}]}
      """
    let syncs = """
      {"syncs":[
        {"syncName":"down","syncType":"syncDown","soupName":"people","target":{"type":"soql",
         "query":"SELECT Id, LastName, Department FROM Contact WHERE OwnerId = :userId"},
         "options":{"mergeMode":"OVERWRITE"}},
        {"syncName":"up","syncType":"syncUp","soupName":"people","target":{},
         "options":{"mergeMode":"LEAVE_IF_CHANGED","fieldlist":["Department","LastName"]}}]}
      """
    try DurableFile.write(Array(people.utf8), to: pipelines + "/people.json")
    try DurableFile.write(Array(syncs.utf8), to: pipelines + "/peoplesyncs.json")
    world = try World(directory, file: pipelines + "/orders.json") {
      $0.replacing(
        #"{"schema":"userstore.json","syncs":"usersyncs.json"}"#,
        with: #"""
          {"schema":"userstore.json","syncs":"usersyncs.json"},
          {"storeName":"größe é","schema":"people.json","syncs":"peoplesyncs.json"}
          """#)
    }
  }

  /// Ada's phone, with one installation for both stores.
  private func install(_ place: String) throws -> (first: Device, second: Device) {
    let first = try world.device("ada", as: place)
    let root = world.directory.file("devices/\(place)")
    let manifest = try Manifest(
      parsing: Files.read(root + "/manifest.json"), path: root + "/manifest.json")
    let entry = try #require(manifest.stores.first { root + "/" + $0.path != first.storePath })
    let second = Device(platform: .ios, storePath: root + "/" + entry.path)
    let own = try stamp(of: first)
    let store = try Store(opening: second.storePath)
    var other = try stamp(of: second)
    (other["install"], other["handback"]) = (own["install"], own["handback"])
    _ = try store.upsert([.object(other)], into: Provenance.soupName)
    try store.close()
    return (first, second)
  }

  private func stamp(of device: Device) throws -> JSONObject {
    let store = try Store(opening: device.storePath, readOnly: true)
    var stamp: JSONObject = [:]
    try store.forEachElement(in: Provenance.soupName) { stamp = try $0.value().object ?? [:] }
    try store.close()
    return stamp
  }

  private func included() throws -> [Int?] {
    try BundleReader.inspect(world.bundle("ada")).includes.map(\.handback)
  }

  @Test func `a clean store under another number is not a second phone`() async throws {
    let ada = try world.user("ada")
    let account = try #require(
      world.org.create("Account", ["Name": "A", "Phone": "1"], as: ada).id)
    try await world.run()
    let (first, second) = try install("phone")
    try world.handBack(first, as: "first.sqlite", edited: account, ["Phone": "2"])
    #expect(try await world.verdicts(second, as: "second.sqlite") == [.updated: 1])
    try first.edit("accounts", id: account, ["Phone": "3"], now: world.org.now() + 60_000)
    #expect(try await world.verdicts(first, as: "third.sqlite") == [.updated: 1])
    #expect(try world.record("Account", account)["Phone"] == "3")
  }

  @Test func `a bare store is identified by issued records, not by pipelines`() async throws {
    try await world.run()
    let (_, second) = try install("phone")
    try second.create(
      "people", type: "Contact", ["LastName": "Lovelace"], localID: "local_1", now: world.org.now())
    try world.handBack(second, as: "first.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 1])
    // The row still belongs to a new record, and the created record is known.
    try world.rewrite(#""storeName":"größe é""#, #""storeName":"persons""#, in: "orders.json")
    try world.handBack(second, as: "second.sqlite")
    _ = try await world.runAsWritten([.ingest, .reconcile])
    let made = try world.org.query(
      "SELECT Id FROM Contact WHERE LastName = 'Lovelace'", as: try world.user("admin"))
    #expect(made.totalSize == 1)
  }

  @Test func `a return is included when the last of its stores has arrived`() async throws {
    let ada = try world.user("ada")
    let account = try #require(
      world.org.create("Account", ["Name": "A", "Phone": "1"], as: ada).id)
    let contact = try #require(world.org.create("Contact", ["LastName": "C"], as: ada).id)
    try await world.run()
    let (first, second) = try install("phone")
    try first.edit("accounts", id: account, ["Phone": "2"], now: world.org.now())
    try second.edit("people", id: contact, ["Department": "2"], now: world.org.now())
    #expect(try await world.verdicts(first, as: "first.sqlite") == [.updated: 1])
    // The content of the other store is still unknown.
    #expect(try included() == [])
    #expect(try await world.verdicts(second, as: "second.sqlite") == [.updated: 1])
    #expect(try included() == [1])
    // Numbers continue; an older one is included while a later one is incomplete.
    try first.edit("accounts", id: account, ["Phone": "3"], now: world.org.now() + 60_000)
    #expect(try await world.verdicts(first, as: "third.sqlite") == [.updated: 1])
    #expect(try included() == [1])
    try await world.run(second, as: "fourth.sqlite")
    #expect(try included() == [2])
  }
}
