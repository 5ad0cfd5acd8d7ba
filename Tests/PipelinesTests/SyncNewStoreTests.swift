import JSON
import LocalOrg
import MobileSync
import SmartStore
import System
import TestSupport
import Testing

/// `attache sync run` into a store that does not exist: it appears when the syncs have ended.
@Suite struct SyncNewStoreTests {
  private static func words(_ store: String, _ platform: Platform = .ios) -> [String] {
    ["sync", "run", "--store", store, "--all"] + SyncScene.files("accounts", platform)
      + SyncScene.login
  }

  /// Answers of two records, so that a sync needs several.
  private static func shorten(_ scene: SyncScene) {
    for pages in [LocalOrg.RequestKind.query, .queryMore] {
      scene.world.server.faults.add(.kind(pages), times: 1000, .shortPage(records: 2))
    }
  }

  /// The files of the store and those next to it.
  private static func files(_ scene: SyncScene) throws -> [String] {
    let directory = try #require(Files.parent(of: scene.store))
    return try Files.list(directory).filter { $0.hasPrefix(Files.name(of: scene.store)) }
  }

  /// The accounts and the states of the syncs, without times.
  private static func content(_ scene: SyncScene) throws -> [String] {
    let accounts = try scene.elements("accounts").map {
      "\($0["_soupEntryId"]?.text ?? "") \($0["Id"]?.string ?? "") \($0["Name"]?.string ?? "")"
    }
    let states = try scene.elements("syncs_soup").map {
      "\($0["name"]?.string ?? "") \($0["status"]?.string ?? "") \($0["maxTimeStamp"]?.text ?? "")"
    }
    return accounts + states
  }

  private static func expectSound(_ scene: SyncScene) throws {
    let check = StoreCheck(origin: .server)
    #expect(try check.violations(at: scene.store).isEmpty)
  }

  // MARK: killed

  /// One run, which is killed at a point.
  private static func run(_ scene: SyncScene, killedAt point: KillPoint?) throws -> ChildRun {
    shorten(scene)
    defer { scene.world.server.faults.removeAll() }
    return try ChildRun(words(scene.store), scene.world, killedAt: point)
  }

  @Test func `a killed run leaves no store or the whole one, and the next run ends the same`()
    async throws
  {
    // Waiting for children must not block the other tests.
    let thread = StoreThread(name: "kill")
    let deaths = try await thread.run { () throws -> Int in
      let scene = try SyncScene()
      let whole = try Self.run(scene, killedAt: nil)
      #expect(whole.status == 0)
      try #require(!whole.counts.isEmpty)
      let expected = try Self.content(scene)
      #expect(try Self.files(scene) == ["store.sqlite"])
      var dice = HistoryRandom(20_261_129)
      let points = 24
      var deaths = 0
      for part in 0..<points {
        for name in try Self.files(scene) {
          try Files.remove(scene.world.directory.file(name))
        }
        let point = KillPoint.random(part: part, of: points, counts: whole.counts, using: &dice)
        let killed = try Self.run(scene, killedAt: point)
        if killed.status == 137 { deaths += 1 }
        if Files.exists(scene.store) {
          #expect(try Self.content(scene) == expected, "\(point)")
          try Self.expectSound(scene)
        }
        let next = try scene.attache(Self.words(scene.store))
        #expect(next.status == 0, "\(point): \(next.error)")
        #expect(try Self.content(scene) == expected, "\(point)")
        #expect(try !Self.files(scene).contains { $0.contains(".partial") }, "\(point)")
        try Self.expectSound(scene)
      }
      return deaths
    }
    #expect(deaths > 8)
  }

  // MARK: failed

  @Test(arguments: Platform.allCases)
  func `a failed sync leaves a store with what arrived, and the next run ends it`(
    _ platform: Platform
  ) throws {
    let scene = try SyncScene()
    Self.shorten(scene)
    scene.world.server.faults.add(
      .kind(.queryMore), nth: 2, .status(400, code: "MALFORMED_QUERY", message: "no"))
    let failed = try scene.attache(Self.words(scene.store, platform))
    #expect(failed.status != 0)
    #expect(try scene.elements("accounts").count == 4)
    #expect(
      try scene.elements("syncs_soup").contains {
        $0["name"] == "sync1" && $0["status"] == "FAILED"
      })
    #expect(try Self.files(scene) == ["store.sqlite"])
    try Self.expectSound(scene)
    scene.world.server.faults.removeAll()
    #expect(try scene.sync("--all").status == 0)
    #expect(try scene.elements("accounts").count == 5)
    try Self.expectSound(scene)
  }

  @Test func `two runs cannot create one store`() throws {
    let scene = try SyncScene()
    let lock = try FileLock(scene.store + ".partial", note: nil)
    let refused = try scene.prime("accounts")
    #expect(refused.status == 7)
    #expect(refused.error.contains("[sync.locked]"))
    #expect(!Files.exists(scene.store))
    lock.close()
    #expect(try scene.prime("accounts").status == 0)
    #expect(try Self.files(scene) == ["store.sqlite"])
  }

  @Test func `a file that appears while the syncs run is not replaced`() throws {
    let scene = try SyncScene()
    let store = scene.store
    scene.world.server.faults.add(
      .kind(.query),
      .pause(afterBytes: 0) { try? DurableFile.write(Array("mine".utf8), to: store) })
    let refused = try scene.prime("accounts")
    #expect(refused.status == 7, "\(refused.error)")
    #expect(refused.error.contains("another program created"))
    #expect(try Files.read(store) == Array("mine".utf8))
    #expect(try Self.files(scene) == ["store.sqlite"])
  }

  @Test func `a store whose pages could not be written is not created`() async throws {
    let scene = try SyncScene()
    let ada = try scene.world.user("ada")
    for number in 0..<300 {
      let name = String(repeating: "long ", count: 40) + String(number)
      _ = try #require(scene.world.org.create("Account", ["Name": .string(name)], as: ada).id)
    }
    let unfinished = scene.store + ".partial"
    let empty = Locked<Int64>(0)
    scene.world.server.faults.add(
      .kind(.query),
      .pause(afterBytes: 0) {
        let size = (try? Files.size(of: unfinished)) ?? 0
        empty.withLock { $0 = size }
      })
    #expect(try scene.prime("accounts").status == 0)
    try Files.remove(scene.store)
    // A file cannot become larger than the store without records.
    let kibibytes = empty.withLock { $0 / 1024 }
    try #require(kibibytes > 0)
    let failed = try await ProgramRun.blocking(
      Self.words(scene.store), variables: scene.world.variables,
      shell: #"trap '' XFSZ; ulimit -f \#(kibibytes); exec "$@""#)
    #expect(failed.status == 1, "\(failed.everything)")
    #expect(try Self.files(scene) == [])
    #expect(try scene.prime("accounts").status == 0)
    #expect(try scene.elements("accounts").count == 305)
  }

  @Test func `what a removed store or a killed run left is not read`() throws {
    let scene = try SyncScene()
    for suffix in ["-journal", "-wal", ".partial", ".partial-journal"] {
      try DurableFile.write(Array("rubbish".utf8), to: scene.store + suffix)
    }
    let primed = try scene.prime("accounts")
    #expect(primed.status == 0, "\(primed.error)")
    #expect(try scene.elements("accounts").count == 5)
    #expect(try Self.files(scene) == ["store.sqlite"])
    try Self.expectSound(scene)
  }
}
