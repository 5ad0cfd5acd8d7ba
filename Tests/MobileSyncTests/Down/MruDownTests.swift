import HTTP
import MobileSync
import SmartStore
import Testing

@Suite struct MruDownTests {
  static func target(_ fields: String...) -> SyncTarget {
    .mru(MruTarget(sobjectType: "Account", fieldlist: fields))
  }

  // SDK: testCleanResyncGhostsForMRUTarget (12)
  @Test(arguments: Platform.allCases)
  func `recent records are fetched, deleted ones are ghosts`(_ platform: Platform) async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 3, platform)
    let run = try await store.manager.syncDown(Self.target("Id", "Name"))
    #expect(await run.story == ["RUNNING 0/-1", "RUNNING 0/3", "DONE 100/3"])
    #expect(try await store.column("Id") == ids.sorted())
    #expect(store.org.requests(.object) == 1)
    #expect(store.org.requests(.query) == 1)
    try store.org.delete(ids[0])
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 1)
    #expect(try await store.column("Id") == ids[1...].sorted())
  }

  @Test(arguments: Platform.allCases)
  func `the id and modification date are fetched only once`(_ platform: Platform) async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 2, platform)
    for fields in [["Name"], ["Name", "id", "lastmodifieddate"]] {
      let run = try await store.manager.syncDown(
        .mru(MruTarget(sobjectType: "Account", fieldlist: fields))
      ).finished()
      #expect(await run.lastState.maxTimeStamp > 0)
    }
    let elements = try await store.elements()
    #expect(elements.compactMap { $0["Id"]?.string }.sorted() == ids.sorted())
    #expect(elements.allSatisfy { $0["LastModifiedDate"]?.string != nil })
  }

  @Test func `a user without recent records gets none, and loses none`() async throws {
    let org = try SyncedOrg()
    let store = try await ManagedStore(org: org, as: "ben@example.com")
    let run = try await store.manager.syncDown(Self.target("Name"))
    #expect(await run.story == ["RUNNING 0/-1", "RUNNING 0/0", "DONE 100/0"])
    #expect(org.requests(.query) == 0)
  }

  @Test func `a recent record that is deleted by now is not counted in the total`() async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 3)
    let org = store.org
    store.org.server.faults.add(.kind(.query), .mutate { _ in try org.delete(ids[1]) })
    let run = try await store.manager.syncDown(Self.target("Name"))
    #expect(await run.story == ["RUNNING 0/-1", "RUNNING 0/2", "DONE 100/2"])
  }

  @Test func `a record that is no longer recent stays, even if it was changed`() async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 2)
    let run = try await store.manager.syncDown(Self.target("Name")).finished()
    try store.org.makeAccounts(205, name: "later")
    try store.org.delete(ids[1])
    try await store.rename([ids[1]])
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 0)
    #expect(try await store.column("Id") == ids.sorted())
  }

  @Test func `more ids than one query accepts are checked in one call`() async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 510)
    let run = try await store.manager.syncDown(.soql(.accounts())).finished()
    let target = Self.target("Name")
    try await store.manager.withStore { store in
      var state = try #require(try SyncsSoup.states(in: store).first)
      state.target = target.json
      _ = try SyncsSoup.save(state, in: store)
    }
    try store.org.delete(ids[3])
    try store.org.delete(ids[509])
    let before = store.org.requests(.query) + store.org.requests(.composite)
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 2)
    #expect(store.org.requests(.query) + store.org.requests(.composite) == before + 1)
    #expect(try await store.elements().count == 508)
  }

  @Test func `a response with fewer ids than announced makes no ghosts`() async throws {
    let (store, ids) = try await ManagedStore.with(accounts: 3)
    let run = try await store.manager.syncDown(Self.target("Name")).finished()
    let answer = ServerResponse.json(#"{"totalSize":3,"done":true,"records":[]}"#)
    store.org.server.faults.add(.kind(.query), .respond(answer))
    let error = await #expect(throws: SyncError.self) {
      try await store.manager.cleanResyncGhosts(id: run.syncID)
    }
    #expect(error?.code == .incomplete)
    #expect(try await store.column("Id") == ids.sorted())
  }
}

extension ServerResponse {
  static func json(_ text: String) -> ServerResponse {
    ServerResponse(
      status: 200, headers: ["Content-Type": "application/json"], body: Array(text.utf8))
  }
}
