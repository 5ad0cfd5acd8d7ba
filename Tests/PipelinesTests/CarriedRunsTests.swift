import SmartStore
import Snapshots
import System
import Testing

@Suite struct CarriedRunsTests {
  @Test func `a run interrupted before it packed leaves nothing incomplete`() async throws {
    let scene = try CarriedScene()
    _ = try await scene.scene.conflict()
    try await scene.world.die { event in
      if case .snapshotPrimed(_, "ada@example.com", _, _, _) = event { true } else { false }
    }
    let phone = try await scene.world.primed("ada", as: "ada-2")
    #expect(try scene.dirty(phone).count == 1)
    #expect(try await scene.verdicts(phone, as: "two.sqlite").isEmpty)
    #expect(try scene.verdicts() == ["conflict"])
  }

  @Test func `the contents of a separate pack are known when they return`() async throws {
    let scene = try CarriedScene()
    _ = try await scene.scene.conflict()
    try await scene.world.run(.prime)
    try await scene.world.run(.pack)
    let phone = try scene.world.device("ada", as: "ada-2")
    #expect(try await scene.world.verdicts(phone, as: "two.sqlite", .ingest, .reconcile).isEmpty)
    #expect(try scene.verdicts() == ["conflict"])
  }

  @Test func `the store that the next prime builds on matches the org`() async throws {
    let (scene, _, id) = try await CarriedScene.carriedConflict()
    let ada = try scene.world.user("ada").id
    let newest = try #require(try scene.world.data.generations(of: ada).last)
    let place = scene.world.data.generation(newest, of: ada)
    let record = try SnapshotDirectory(path: scene.world.data.snapshot(ada)).record(of: newest)
    let name = try #require(record.entries(of: .ios).first?.path)
    let store = try Store(opening: "\(place)/clean/ios/\(name)", readOnly: true)
    #expect(!Files.exists(place + "/clean/android"))
    let held = try store.elements(in: "accounts", where: "Id", is: id).first
    try store.close()
    #expect(held?["Phone"]?.string == "office" && held?["__local__"] == false)
    #expect(record.carried.map(\.edit) == [1])
    #expect(try GenerationRecord(parsing: record.bytes, path: "").carried == record.carried)
    try SnapshotDirectory(path: scene.world.data.snapshot(ada)).verify(record)

    // Once resolved, it is clean, and there is only one store again.
    try scene.scene.decide(1, .server)
    #expect(try await scene.world.run().verdicts == [.discarded: 1])
    let last = try #require(try scene.world.data.generations(of: ada).last)
    #expect(last == newest + 1)
    #expect(!Files.exists(scene.world.data.generation(last, of: ada) + "/clean"))
    #expect(try scene.dirty(scene.world.device("ada", as: "fresh")).isEmpty)
  }

  @Test func `an app replaces a store with open rows if its return is included`() async throws {
    let (scene, phone, id) = try await CarriedScene.carriedConflict()
    let idle = try scene.world.device("ada", as: "idle")
    try scene.scene.office(scene.scene.account(phone, 1), ["Phone": "other"])
    try await scene.world.run()
    let packed = try scene.world.bundle("ada")
    // Neither discarded nor untouched edits are replaced by an installation before they were
    // reported.
    try phone.clean("accounts", id: id, now: scene.later(30))
    #expect(try !phone.mayInstall(packed) && !idle.mayInstall(packed))
    try scene.handBack(phone, as: "two.sqlite")
    try scene.handBack(idle, as: "three.sqlite")
    #expect(try !phone.mayInstall(packed))
    #expect(try await scene.world.run().verdicts == [.superseded: 1])
    let next = try scene.world.bundle("ada")
    #expect(try phone.mayInstall(next) && idle.mayInstall(next))
    let fresh = try scene.world.device("ada", as: "fresh")
    #expect(try scene.dirty(fresh).isEmpty && fresh.mayInstall(next))
    try fresh.edit("accounts", id: id, ["Phone": "new"], now: scene.later(60))
    #expect(try !fresh.mayInstall(next))
  }

  @Test func `nothing is redelivered to an app that does not mark its installation`() async throws {
    let scene = try CarriedScene()
    let (device, id) = try await scene.primed()
    try scene.drop("install", fromStampOf: device)
    try device.edit("accounts", id: id, ["Phone": "device"], now: scene.later())
    try scene.scene.office(id, ["Phone": "office"])
    #expect(try await scene.verdicts(device, as: "one.sqlite") == [.conflict: 1])
    #expect(try scene.dirty(scene.world.device("ada", as: "fresh")).isEmpty)
  }

  @Test func `sealed stores redeliver open edits too`() async throws {
    let sealed = SealedBundlesTests()
    let scene = try CarriedScene { SealedBundlesTests.sealing($0, SealedBundlesTests.passphrase) }
    try await scene.world.run()
    let device = try sealed.device("ada", scene.world, .ios)
    let id = try scene.scene.account(device)
    try device.edit("accounts", id: id, ["Phone": "device"], now: scene.later())
    try scene.scene.office(id, ["Phone": "office"])
    try sealed.handBack(device, scene.world, as: "one.sqlite", key: sealed.key())
    #expect(try await scene.world.run().verdicts == [.conflict: 1])
    try Files.remove(scene.world.directory.file("devices"))
    let phone = try sealed.device("ada", scene.world, .ios)
    #expect(try scene.row(id, on: phone)["Phone"] == "device")
    try phone.fix("accounts", id: id, ["Phone": "mended"], now: scene.later(30))
    try sealed.handBack(phone, scene.world, as: "two.sqlite", key: sealed.key())
    #expect(try await scene.world.run().verdicts == [.superseded: 1, .updated: 1])
  }
}
