import MobileSync
import SmartStore
import System
import Testing

@Suite struct SharedStoreTests {
  @Test func `a sync and the writers of a queue on the same file lose nothing`() async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 40)
    try await store.down(nil)
    let queue = try StoreQueue(store.directory.file("store.db"), waitSeconds: 60)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for id in ids {
          try await queue.write { store in
            let all = try store.elements(in: ManagedStore.accounts, where: "Id", is: id)
            var element = try #require(all.first?.object)
            element["Name"] = .string("edited \(id)")
            element["__local__"] = true
            element["__locally_updated__"] = true
            try store.upsert([.object(element)], into: ManagedStore.accounts)
          }
        }
      }
      for _ in 0..<6 {
        let manager = store.manager
        group.addTask {
          let options = SyncOptions(fieldlist: ["Name"], mergeMode: .overwrite)
          try await manager.syncUp(options: options, soupName: ManagedStore.accounts).finish()
        }
      }
      try await group.waitForAll()
    }
    try await store.manager.syncUp(
      options: SyncOptions(fieldlist: ["Name"]), soupName: ManagedStore.accounts
    ).finish()
    #expect(try await store.dirty() == [])
    for id in ids {
      #expect(try store.server("Account", "Name", of: id) == .string("edited \(id)"))
    }
    try await queue.close()
  }

  @Test func `while another process writes the store a sync waits, then names it`() async throws {
    var settings = SyncSettings(overlapSeconds: 0)
    settings.waitSeconds = 0
    let store = try await ManagedStore(settings: settings)
    try store.org.makeAccounts(3)
    let lock = store.directory.file("store.db.lock")
    let other = try ChildProcess.start(
      "/usr/bin/flock", ["-F", "-n", "-x", lock, "/bin/sh", "-c", "echo held; exec sleep 60"],
      environment: ["PATH": "/usr/bin:/bin"])
    #expect(other.readLine() == "held")
    let error = await #expect(throws: SyncError.self) { try await store.down(nil) }
    #expect(error?.code == .store)
    #expect(error?.message.contains("in use") == true)
    other.kill(9)
    other.wait()
    try await store.down(nil)
    #expect(try await store.elements().count == 3)
  }

  @Test func `a first load holds the lock until committed, so a queue waits for it`() async throws {
    let gate = PageGate(closedAt: 1)
    let target = GatedTarget(6, perPage: 2, gate: gate)
    let store = try await ManagedStore(customTargets: target.targets())
    let run = try await store.manager.syncDown(GatedTarget.target())
    await gate.reached()
    let path = store.directory.file("store.db")
    #expect(throws: StoreError.self) { _ = try StoreQueue(path, waitSeconds: 0) }
    // Access to the manager's own store ends the first load.
    #expect(try await store.elements().count == 2)
    let queue = try StoreQueue(path, waitSeconds: 0)
    #expect(try await queue.read { try $0.count(of: ManagedStore.accounts) } == 2)
    await gate.open()
    try await run.finish()
    #expect(try await queue.read { try $0.count(of: ManagedStore.accounts) } == 6)
    try await queue.close()
  }
}
