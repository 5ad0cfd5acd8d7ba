import JSON
import LocalOrg
import MobileSync
import SmartStore
import System
import Testing

/// Ghosts of families, and cases of a parent-children sync down that the SDK's tests omit.
@Suite struct FamilyDownTests {
  private func small(_ adjust: (inout OrgServer.Options) -> Void = { _ in }) throws -> SyncedOrg {
    try SyncedOrg { options in
      options.childPageSize = 2
      adjust(&options)
    }
  }

  private func check(_ store: ManagedStore, has families: [Family]) async throws {
    #expect(try await store.column("Id") == families.map(\.id).sorted())
    #expect(try await store.column("Id", of: "contacts") == families.flatMap(\.children).sorted())
  }

  // MARK: Ghosts

  // SDK: testCleanResyncGhostsForParentChildrenTarget (150)
  @Test(arguments: Platform.allCases)
  func `a deleted parent is removed with its children, but counted alone`(_ platform: Platform)
    async throws
  {
    let (store, families) = try await ManagedStore.with(families: 4, children: 3, platform)
    let run = try await store.syncFamilies(.accounts(families))
    try store.org.delete(families[0].id)
    let ghosts = try await store.manager.cleanResyncGhosts(id: run.syncID)
    #expect(ghosts.count == 1)
    #expect(ghosts.removed == ["accounts": 1, "contacts": 3])
    try await check(store, has: Array(families[1...]))
  }

  // SDK: testCleanResyncGhostsForParentChildrenWithMultipleSyncs (151)
  @Test(arguments: Platform.allCases)
  func `ghosts belong to the sync that fetched them last`(_ platform: Platform) async throws {
    let (store, families) = try await ManagedStore.with(families: 6, children: 3, platform)
    let first = try await store.syncFamilies(.accounts(Array(families[0..<3])))
    let second = try await store.syncFamilies(.accounts(Array(families[2..<6])))
    try await check(store, has: families)
    for place in [0, 2, 5] { try store.org.delete(families[place].id) }
    #expect(try await store.manager.cleanResyncGhosts(id: first.syncID).count == 1)
    try await check(store, has: Array(families[1...]))
    #expect(try await store.manager.cleanResyncGhosts(id: second.syncID).count == 2)
    try await check(store, has: [families[1], families[3], families[4]])
  }

  @Test(arguments: Platform.allCases)
  func `no part of a tree changed on the device is a ghost`(_ platform: Platform) async throws {
    let (store, families) = try await ManagedStore.with(families: 3, children: 2, platform)
    let run = try await store.syncFamilies(.accounts(families))
    try await store.edit([families[0].children[0]], of: "contacts") { $0["LastName"] = "local" }
    try await store.rename([families[1].id])
    for family in families { try store.org.delete(family.id) }
    #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 1)
    try await check(store, has: Array(families[..<2]))
  }

  @Test func `existing children of all pages stay, and a deleted one is removed`() async throws {
    let store = try await ManagedStore(org: small())
    store.org.server.faults.add(.kind(.query), times: 100, .shortPage(records: 2))
    let families = try store.org.makeFamilies(5, children: 5)
    let run = try await store.syncFamilies(.accounts(families))
    try await check(store, has: families)
    try store.org.delete(families[4].children[4])
    let ghosts = try await store.manager.cleanResyncGhosts(id: run.syncID)
    #expect(ghosts.count == 0)
    #expect(ghosts.removed == ["contacts": 1])
    var left = families
    left[4].children.removeLast()
    try await check(store, has: left)
  }

  @Test func `children that the org did not return completely are not ghosts`() async throws {
    let (store, families) = try await ManagedStore.with(families: 2, children: 3)
    let run = try await store.syncFamilies(.accounts(families))
    func family(_ family: Family, isDone: Bool) -> String {
      let child = "{\"Id\":\"\(family.children[0])\"}"
      return "{\"Id\":\"\(family.id)\",\"Contacts\":"
        + "{\"totalSize\":3,\"done\":\(isDone),\"records\":[\(child)]}}"
    }
    let body =
      "{\"totalSize\":2,\"done\":true,\"records\":["
      + "\(family(families[0], isDone: false)),\(family(families[1], isDone: true))]}"
    store.org.server.faults.add(.kind(.query), .respond(.json(body)))
    _ = try await store.manager.cleanResyncGhosts(id: run.syncID)
    var left = families
    left[1].children = [families[1].children[0]]
    try await check(store, has: left)
  }

  // MARK: Pages

  @Test(arguments: Platform.allCases)
  func `all further children of a parent are fetched`(_ platform: Platform) async throws {
    let store = try await ManagedStore(platform, org: small())
    let families = try store.org.makeFamilies(3, children: 7)
    let run = try await store.syncFamilies(.accounts(families))
    try await check(store, has: families)
    let parents = try await store.values("AccountId", of: "contacts")
    for family in families { #expect(family.children.allSatisfy { parents[$0] == family.id }) }
    #expect(await run.report.fetched == 24)
    #expect(await run.lastState.totalSize == 3)
  }

  @Test func `parents on several pages are reported page by page`() async throws {
    let store = try await ManagedStore(org: small())
    store.org.server.faults.add(.kind(.query), .shortPage(records: 2))
    store.org.server.faults.add(.kind(.queryMore), times: 10, .shortPage(records: 2))
    let families = try store.org.makeFamilies(5, children: 1)
    let run = try await store.manager.syncDown(
      target: .parentChildren(.accounts(families)), soupName: "accounts")
    #expect(
      await run.story == [
        "RUNNING 0/-1", "RUNNING 0/5", "RUNNING 40/5", "RUNNING 80/5", "DONE 100/5",
      ])
    try await check(store, has: families)
  }

  // MARK: Cursor

  @Test func `a stopped sync resumes without missing a parent or older child`() async throws {
    let store = try await ManagedStore()
    store.org.server.faults.add(.kind(.query), times: 10, .shortPage(records: 2))
    let families = try store.org.makeFamilies(6, children: 1)
    // A child of the first page is newer than every parent.
    try store.org.update("Contact", families[0].children[0], ["LastName": "new"])
    let manager = store.manager
    let run = try await manager.syncDown(
      target: .parentChildren(.accounts(families)), soupName: "accounts")
    for await state in run where state.progress > 0 { await manager.stop() }
    let stopped = await run.lastState
    #expect(stopped.status == .stopped)
    #expect(stopped.maxTimeStamp == -1)
    #expect(try await store.elements().count < 6)
    for next in try await manager.restart(restartStoppedSyncs: true) { try await next.finish() }
    try await check(store, has: families)
  }

  // SDK: testGetLatestModificationTimeStamp (144)
  @Test(arguments: [
    ("AccountTimeStamp1", "ContactTimeStamp1", 3), ("AccountTimeStamp1", "ContactTimeStamp2", 3),
    ("AccountTimeStamp2", "ContactTimeStamp1", 1), ("AccountTimeStamp2", "ContactTimeStamp2", 2),
  ])
  func `the latest date covers parents and children, by their own date fields`(
    parentField: String, childField: String, expected: Int
  ) async throws {
    let store = try await ManagedStore()
    let stamps: [Int64] = [100_000_000, 200_000_000, 300_000_000, 400_000_000]
    let dates = stamps.map(Dates.salesforce)
    let accounts = (0..<4).map { place -> JSONValue in
      let contacts = (0..<3).map { child -> JSONValue in
        [
          "Id": .string("c\(place)\(child)"), "ContactTimeStamp1": .string(dates[1]),
          "ContactTimeStamp2": .string(dates[child]),
        ]
      }
      return [
        "Id": .string("a\(place)"), "AccountTimeStamp1": .string(dates[place]),
        "AccountTimeStamp2": .string(dates[0]),
        "Contacts": ["totalSize": 3, "done": true, "records": .array(contacts)],
      ]
    }
    let body: JSONValue = ["totalSize": 4, "done": true, "records": .array(accounts)]
    store.org.server.faults.add(
      .kind(.query),
      .respond(.init(status: 200, headers: ["Content-Type": "application/json"], body: body.bytes)))
    var target = ParentChildrenTarget.accounts()
    target.family = .accounts(dates: (parentField, childField))
    #expect(try await store.syncFamilies(target).lastState.maxTimeStamp == stamps[expected])
  }

  // MARK: Changed children

  @Test(arguments: Platform.allCases)
  func `a changed child of an unchanged parent is fetched too`(_ platform: Platform) async throws {
    let (store, families) = try await ManagedStore.with(families: 4, children: 2, platform)
    let target = ParentChildrenTarget.accounts(
      nil, filter: "Name != 'Account 3' OR Name = 'nobody'")
    let run = try await store.syncFamilies(target)
    try store.org.update("Account", families[0].id, ["Name": "remote"])
    for family in families {
      try store.org.update("Contact", family.children[0], ["LastName": "remote"])
    }
    // It moves to another parent, and neither parent changes.
    try store.org.update("Contact", families[1].children[1], ["AccountId": .string(families[2].id)])
    let before = store.org.requests(.query)
    let next = try await store.reSync(run)
    #expect(store.org.requests(.query) == before + 2)
    #expect(await next.lastState.totalSize == 1)
    // A child fetched with its parent and alone is identical byte for byte.
    #expect(await next.report.written == 5)
    #expect(await next.report.fetched == 6)
    let names = try await store.values("LastName", of: "contacts")
    for family in families[..<3] { #expect(names[family.children[0]] == "remote") }
    #expect(names[families[3].children[0]] == nil)
    let parents = try await store.values("AccountId", of: "contacts")
    #expect(parents[families[1].children[1]] == families[2].id)
    #expect(try await store.reSync(next).report.fetched == 0)
  }

  @Test func `a new child of a changed tree is not stored if it arrives alone`() async throws {
    let (store, families) = try await ManagedStore.with(families: 2, children: 1)
    let run = try await store.manager.syncDown(
      target: .parentChildren(.accounts()), options: SyncOptions(mergeMode: .leaveIfChanged),
      soupName: "accounts"
    ).finished()
    try await store.rename([families[0].id])
    for family in families {
      try store.org.make("Contact", ["LastName": "new", "AccountId": .string(family.id)])
    }
    try await store.reSync(run)
    #expect(try await store.elements("contacts").count == 3)
  }

  @Test func `an org that refuses changed children is queried like by the SDK`() async throws {
    let store = try await ManagedStore()
    try store.org.makeFamilies(1, children: 1)
    let run = try await store.syncFamilies(.accounts())
    store.org.server.faults.add(.kind(.query), nth: 2, .status(400, code: "MALFORMED_QUERY"))
    let next = try await store.reSync(run)
    #expect(await next.lastState.status == .done)
    #expect(await next.report.warnings.count == 1)
  }

  @Test func `the session's end in the middle of the pages is not noticed`() async throws {
    let org = try small()
    let store = try await ManagedStore(org: org)
    org.server.faults.add(.kind(.queryMore), .expireSession)
    let families = try org.makeFamilies(2, children: 5)
    let error = await #expect(throws: SyncError.self) {
      try await store.syncFamilies(.accounts(families))
    }
    // An access token cannot be renewed; nothing of the page was stored.
    #expect(error?.code == .org)
    #expect(try await store.elements().isEmpty)
    #expect(try await store.elements("contacts").isEmpty)
  }

  @Test func `children that the org does not return hold the cursor`() async throws {
    let store = try await ManagedStore()
    let family = try store.org.makeFamilies(1, children: 2)[0]
    let date = "\"LastModifiedDate\":\"2026-01-31T00:00:00.000+0000\""
    let child = #"{"attributes":{"type":"Contact"},"Id":"\#(family.children[0])",\#(date)}"#
    let children = #"{"totalSize":2,"done":false,"records":[\#(child)]}"#
    let parent =
      #"{"attributes":{"type":"Account"},"Id":"\#(family.id)",\#(date),"Contacts":\#(children)}"#
    let page = #"{"totalSize":1,"done":true,"records":[\#(parent)]}"#
    store.org.server.faults.add(.kind(.query), .respond(.json(page)))
    let run = try await store.syncFamilies(.accounts())
    #expect(await run.report.warnings.count == 1)
    #expect(await run.lastState.maxTimeStamp == -1)
    let again = try await store.manager.reSync(id: run.syncID).finished()
    #expect(try await store.column("Id", of: ManagedStore.contacts) == family.children.sorted())
    #expect(await again.lastState.maxTimeStamp > 0)
  }
}
