import LocalOrg
import MobileSync
import SmartStore
import Testing

/// Rows 197–205 of the conformance table (BriefcaseSyncDownTargetTest, BriefcaseSyncDownTests) in the
/// sync manager; `BriefcasePrimeTests` has them for a prime.
@Suite struct BriefcaseDownTests {
  static let accounts = BriefcasePrimeTests.accounts
  static let contacts = BriefcasePrimeTests.contacts

  static func store(
    _ platform: Platform = .ios, accounts: Int, contacts: Int = 0,
    _ adjust: (inout OrgServer.Options) -> Void = { _ in }
  ) async throws -> (ManagedStore, accounts: [String], contacts: [String]) {
    let (org, accountIDs, contactIDs) = try BriefcasePrimeTests.org(
      accounts: accounts, contacts: contacts, adjust)
    return (try await ManagedStore(platform, org: org), accountIDs, contactIDs)
  }

  static func target(
    _ infos: [BriefcaseObjectInfo] = [accounts, contacts], perRetrieve: Int = 2000
  ) -> SyncTarget { .briefcase(BriefcaseTarget(infos: infos, countIdsPerRetrieve: perRetrieve)) }

  static func start(
    _ store: ManagedStore, _ target: SyncTarget = target(), _ mode: MergeMode = .overwrite
  ) async throws -> SyncRun {
    try await store.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: mode), soupName: "does-not-matter")
  }

  /// Briefcases of twelve records of each type, with the retrieves of a sync and the progress that
  /// it reports after each page but the last.
  private static let pages:
    [(infos: [BriefcaseObjectInfo], perRetrieve: Int, retrieves: Int, progress: [Int])] = [
      ([accounts], 500, 1, []), ([accounts], 2, 6, [16, 33, 50, 66, 83]),
      // Two types share a page, or one page has the end of the first and the start of the second.
      ([accounts, contacts], 2000, 2, []), ([accounts, contacts], 5, 6, [20, 41, 62, 83]),
      ([accounts, contacts], 3, 8, [12, 25, 37, 50, 62, 75, 87]),
    ]

  // SDK: testStartFetchNoMaxTimeStamp (197)
  // SDK: testSyncDownFetchingOneObjectType (199)
  // SDK: testSyncDownFetchingOneObjectTypeWithMultipleRetrieveCalls (200)
  // SDK: testSyncDownFetchingTwoObjectTypes (201)
  // SDK: testSyncDownFetchingTwoObjectTypesWithMultipleRetrieveCalls (202)
  @Test(arguments: Platform.allCases, pages.indices)
  func `the briefcase's records arrive in pages of the size given, in the order of the infos`(
    _ platform: Platform, _ number: Int
  ) async throws {
    let (infos, perRetrieve, retrieves, progress) = Self.pages[number]
    let (store, accounts, contacts) = try await Self.store(
      platform, accounts: 12, contacts: 12 * (infos.count - 1))
    let run = try await Self.start(store, Self.target(infos, perRetrieve: perRetrieve))
    let total = 12 * infos.count
    #expect(
      await run.story == ["RUNNING 0/-1", "RUNNING 0/\(total)"]
        + progress.map { "RUNNING \($0)/\(total)" } + ["DONE 100/\(total)"])
    #expect(try await store.column("Id") == accounts.sorted())
    #expect(try await store.column("Id", of: "contacts") == contacts.sorted())
    #expect(store.org.requests(.priming) == 1)
    #expect(store.org.requests(.retrieve) == retrieves)
    for element in try await store.elements() {
      #expect(element["__sync_id__"]?.int == run.syncID)
      #expect(element["__local__"] == false)
      #expect(element["attributes"]?["type"] == "Account")
    }
  }

  // SDK: testStartFetchWithMaxTimeStamp (198)
  @Test(arguments: Platform.allCases)
  func `a second run fetches only new and modified records`(_ platform: Platform) async throws {
    let (store, ids, _) = try await Self.store(platform, accounts: 6)
    let first = try await Self.start(store, Self.target([Self.accounts])).finished()
    let cursor = await first.lastState.maxTimeStamp
    #expect(cursor > 0)
    let new = try store.org.makeAccounts(6, name: "New")
    try store.org.update("Account", ids[2], ["Name": "changed"])
    let run = try await store.manager.reSync(id: first.syncID)
    #expect(await run.story == ["RUNNING 0/-1", "RUNNING 0/7", "DONE 100/7"])
    #expect(try await run.finish().written == 7)
    #expect(try await store.column("Id") == (ids + new).sorted())
    #expect(try await store.element(ids[2])?["Name"] == "changed")
    #expect(await run.lastState.maxTimeStamp > cursor)
    let retrieves = store.org.requests(.retrieve)
    let unmoved = try await store.manager.reSync(id: first.syncID)
    #expect(await unmoved.story == ["RUNNING 0/-1", "RUNNING 0/0", "DONE 100/0"])
    #expect(store.org.requests(.retrieve) == retrieves)
  }

  @Test func `an old record that is added to the briefcase is fetched`() async throws {
    let (store, _, contacts) = try await Self.store(accounts: 2, contacts: 2)
    let run = try await Self.start(store).finished()
    // As if it had not been assigned before: the soup does not have it.
    try await store.manager.withStore { store in
      _ = try store.deleteElements(in: "contacts", where: "Id", in: [contacts[0]])
    }
    try await store.manager.reSync(id: run.syncID).finish()
    #expect(try await store.column("Id", of: "contacts") == contacts.sorted())
  }

  // SDK: testCleanGhostsOneObjectType (203), testCleanGhostsTwoObjectTypes (204)
  @Test(arguments: Platform.allCases)
  func `ghosts of two types are removed from both soups`(_ platform: Platform) async throws {
    let (store, accounts, contacts) = try await Self.store(platform, accounts: 4, contacts: 4)
    let run = try await Self.start(store).finished()
    let parents = try await store.createAccounts(["mine"])
    let children = try await store.create(
      [["LastName": "mine", "AccountId": .string(parents[0])]], type: "Contact", in: "contacts")
    for id in accounts[0..<2] + contacts[0..<2] { try store.org.delete(id) }
    let ghosts = try await store.manager.cleanResyncGhosts(id: run.syncID)
    #expect(ghosts.count == 4)
    #expect(ghosts.removed == ["accounts": 2, "contacts": 2])
    #expect(try await store.column("Id") == (accounts[2...] + parents).sorted())
    #expect(try await store.column("Id", of: "contacts") == (contacts[2...] + children).sorted())
  }

  // SDK: testIdsToSkip (205)
  @Test(arguments: Platform.allCases)
  func `LEAVE_IF_CHANGED skips exactly the dirty records`(_ platform: Platform) async throws {
    let (store, accounts, contacts) = try await Self.store(platform, accounts: 4, contacts: 4)
    try await Self.start(store, Self.target(), .leaveIfChanged).finish()
    try await store.delete(Array(accounts[0..<2]))
    try await store.delete(Array(contacts[0..<2]), of: "contacts")
    for id in accounts { try store.org.update("Account", id, ["Name": "theirs"]) }
    for id in contacts { try store.org.update("Contact", id, ["LastName": "theirs"]) }
    let left = try await Self.start(store, Self.target(), .leaveIfChanged).finish()
    #expect(
      left.skipped.mapValues { $0.sorted() }
        == ["accounts": accounts[0..<2].sorted(), "contacts": contacts[0..<2].sorted()])
    #expect(try await store.dirty() == accounts[0..<2].sorted())
    #expect(try await store.dirty("contacts") == contacts[0..<2].sorted())
    #expect(try await store.column("Name").filter { $0 == "theirs" }.count == 2)
    let overwritten = try await Self.start(store).finish()
    #expect(overwritten.overwritten.mapValues(\.count) == ["accounts": 2, "contacts": 2])
    #expect(try await store.dirty().isEmpty)
    #expect(try await store.column("LastName", of: "contacts") == contacts.map { _ in "theirs" })
  }
}
