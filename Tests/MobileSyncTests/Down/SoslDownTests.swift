import HTTP
import MobileSync
import Salesforce
import SmartStore
import Testing

@Suite struct SoslDownTests {
  private let store: ManagedStore
  init() async throws { store = try await ManagedStore() }

  static let search = "FIND {Acme} IN NAME FIELDS RETURNING Account(Id, Name)"

  @discardableResult static func acmes(_ count: Int, _ store: ManagedStore) throws -> [String] {
    try store.org.makeAccounts(count, name: "Acme")
  }

  // SDK: testCleanResyncGhostsForSOSLTarget (13)
  @Test(arguments: Platform.allCases)
  func `a record that a search no longer finds is a ghost`(_ platform: Platform) async throws {
    let store = try await ManagedStore(platform)
    let ids = try Self.acmes(3, store)
    let run = try await store.manager.syncDown(.sosl(SoslTarget(query: Self.search)))
    #expect(await run.story == ["RUNNING 0/-1", "RUNNING 0/3", "DONE 100/3"])
    #expect(try await store.column("Id") == ids.sorted())
    try store.org.delete(ids[0])
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 1)
    #expect(try await store.column("Id") == ids[1...].sorted())
  }

  @Test(arguments: Platform.allCases)
  func `a search runs in full each time, with unchanged text`(_ platform: Platform) async throws {
    let store = try await ManagedStore(platform)
    let ids = try Self.acmes(2, store)
    let query = "FIND {Acme} IN NAME FIELDS RETURNING Account(Id, LastModifiedDate)"
    let run = try await store.manager.syncDown(.sosl(SoslTarget(query: query))).finished()
    let state = try #require(try await store.manager.syncStatus(id: run.syncID))
    #expect(state.maxTimeStamp > 0)
    #expect(state.target["query"]?.string == query)
    #expect(try await store.elements().allSatisfy { $0["Name"] == nil })
    try store.org.update("Account", ids[0], ["Site": "new"])
    #expect(try await store.manager.reSync(id: run.syncID).finish().fetched == 2)
  }

  @Test func `a search without dates has no cursor`() async throws {
    try Self.acmes(2, store)
    let run = try await store.manager.syncDown(.sosl(SoslTarget(query: Self.search)))
    #expect(await run.lastState.maxTimeStamp == -1)
  }

  @Test func `a search without results is DONE`() async throws {
    let run = try await store.manager.syncDown(.sosl(SoslTarget(query: Self.search)))
    #expect(await run.story == ["RUNNING 0/-1", "RUNNING 0/0", "DONE 100/0"])
  }

  @Test func `records without an id are an error that shows where to add it`() async throws {
    try Self.acmes(1, store)
    let answer = ServerResponse.json(#"{"searchRecords":[{"Name":"Acme"}]}"#)
    store.org.server.faults.add(.kind(.search), .respond(answer))
    let run = try await store.manager.syncDown(.sosl(SoslTarget(query: Self.search)))
    let error = await #expect(throws: SyncError.self) { try await run.finish() }
    #expect(error?.code == .definition)
    #expect(error?.description.contains("RETURNING") == true)
    #expect(await run.lastState.status == .failed)
  }

  @Test func `a response that is not a search result fails the sync`() async throws {
    store.org.server.faults.add(.kind(.search), .respond(.json(#"{"other":1}"#)))
    let run = try await store.manager.syncDown(.sosl(SoslTarget(query: Self.search)))
    let error = await #expect(throws: SyncError.self) { try await run.finish() }
    #expect(error?.code == .badResponse)
  }

  @Test(arguments: [
    ("FIND {Acme} RETURNING Account(Id LIMIT 2)", 0),
    ("FIND {Acme} RETURNING Account(Id) LIMIT 2", 0),
    ("FIND {Acme} RETURNING Account(Id LIMIT 9 OFFSET 1)", 0),
    ("FIND {Acme} RETURNING Account(Id LIMIT 9)", 1),
  ])
  func `a cut search makes no ghosts`(_ query: String, _ removed: Int) async throws {
    let ids = try Self.acmes(3, store)
    let run = try await store.manager.syncDown(
      .sosl(SoslTarget(query: "FIND {Acme} RETURNING Account(Id)"))
    ).finished()
    let target = SyncTarget.sosl(SoslTarget(query: query))
    try await store.manager.withStore { store in
      var state = try #require(try SyncsSoup.states(in: store).first)
      state.target = target.json
      _ = try SyncsSoup.save(state, in: store)
    }
    try store.org.delete(ids[0])
    let ghosts = try await store.manager.cleanResyncGhosts(id: run.syncID)
    #expect(ghosts.count == removed)
    #expect(ghosts.warnings.isEmpty == (removed > 0))
  }

  @Test func `a search that reaches the org's limit warns, and removes nothing`() async throws {
    let records = (0..<RequestLimits.search).map { number in
      #"{"attributes":{"type":"Account"},"Id":"001000000000\#(1000 + number % 1000)\#(number / 1000)AAA"}"#
    }
    let answer = ServerResponse.json("{\"searchRecords\":[\(records.joined(separator: ","))]}")
    store.org.server.faults.add(.kind(.search), times: 2, .respond(answer))
    let run = try await store.manager.syncDown(.sosl(SoslTarget(query: Self.search)))
    let report = try await run.finish()
    #expect(report.fetched == RequestLimits.search)
    #expect(report.warnings.contains { $0.contains("more records may match") })
    let ghosts = try await store.manager.cleanResyncGhosts(id: run.syncID)
    #expect(ghosts.count == 0)
    #expect(ghosts.warnings.count == 1)
  }

  @Test(arguments: [
    ("FIND {Acme} RETURNING Account(Id)", 2000),
    ("find {limit 5} returning Account(Id limit 7), Contact(Id LIMIT 3) limit 100", 3),
    (#"FIND {a\} LIMIT 1} RETURNING Account(Id WHERE Name = 'LIMIT 2') LIMIT 40"#, 40),
    ("FIND {x} RETURNING Account(Id LIMIT 5000)", 2000),
    ("FIND {x} RETURNING Account(Id LIMIT 5 OFFSET 2)", 0),
  ])
  func `the smallest LIMIT outside of a search's text cuts it`(_ query: String, _ limit: Int) {
    #expect(SoslTarget.limit(of: query) == limit)
  }

  @Test func `variables are replaced outside of the searched text`() throws {
    let target = SoslTarget(
      query: #"FIND {Joe's :user} RETURNING Account(Id WHERE OwnerId = :user)"#)
    #expect(
      try target.search(variables: ["user": "'005'"])
        == #"FIND {Joe's :user} RETURNING Account(Id WHERE OwnerId = '005')"#)
    #expect(throws: SyncError.self) { try target.search(variables: [:]) }
  }
}
