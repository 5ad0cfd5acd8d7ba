import JSON
import MobileSync
import SmartStore
import Testing

@Suite struct FamilyFaultTests {
  private static let settings = SyncSettings(overlapSeconds: 0, unansweredWaitSeconds: 0)

  private func store(
    _ accounts: [String], contacts: Int, _ platform: Platform = .ios
  ) async throws -> ManagedStore {
    let store = try await ManagedStore(platform, settings: Self.settings)
    let ids = try await store.createAccounts(accounts)
    try await store.create(
      ids.flatMap { id in
        (0..<contacts).map { ["LastName": .string("c\($0)"), "AccountId": .string(id)] }
      }, type: "Contact", in: "contacts")
    return store
  }

  /// Both sides have the same families, each record once, and nothing is dirty.
  private func checkEqual(_ store: ManagedStore, accounts: Int, contacts: Int) async throws {
    func server(_ soql: String) throws -> [JSONValue] {
      let page = try store.org.org.query(soql, as: store.org.admin)
      return try JSONValue(parsing: page.records).array ?? []
    }
    let remote = try server("SELECT Id, Name FROM Account")
    #expect(remote.count == accounts)
    #expect(try await store.column("Id") == remote.compactMap { $0["Id"]?.string }.sorted())
    let children = try server("SELECT Id, AccountId FROM Contact")
    #expect(children.count == contacts)
    let parents = try await store.values("AccountId", of: "contacts")
    #expect(
      parents
        == Dictionary(
          uniqueKeysWithValues: children.compactMap { child in
            guard let id = child["Id"]?.string, let parent = child["AccountId"]?.string else {
              return nil
            }
            return (id, parent)
          }))
    #expect(try await store.dirty().isEmpty)
    #expect(try await store.dirty("contacts").isEmpty)
  }

  @Test(arguments: [true, false], Platform.allCases)
  func `a new tree whose response was lost is created once, whether it arrived or not`(
    _ afterCommit: Bool, _ platform: Platform
  ) async throws {
    let store = try await store(["A", "B", "C"], contacts: 2, platform)
    store.org.server.faults.add(.kind(.composite), nth: 2, .drop(afterCommit: afterCommit))
    let lost = try await store.up(.accounts(), fields: nil)
    #expect(lost.state.status == .failed)
    #expect(lost.report.records.filter { $0.outcome == .sent }.count == 3)
    #expect(lost.report.records.count(where: \.outcome.isUnconfirmed) == 3)
    #expect(try await store.up(.accounts(), fields: nil).state.status == .done)
    try await checkEqual(store, accounts: 3, contacts: 6)
  }

  @Test(arguments: [true, false])
  func `between requests of one large tree nothing is orphaned`(_ afterCommit: Bool) async throws {
    let store = try await store(["A"], contacts: 60)
    store.org.server.faults.add(.kind(.composite), nth: 2, .drop(afterCommit: afterCommit))
    #expect(try await store.up(.accounts(), fields: nil).state.status == .failed)
    let id = try #require(try await store.column("Id").first)
    #expect(!id.hasPrefix("local_"))
    #expect(Set(try await store.values("AccountId", of: "contacts").values) == [id])
    #expect(try await store.up(.accounts(), fields: nil).state.status == .done)
    try await checkEqual(store, accounts: 1, contacts: 60)
  }

  @Test(arguments: 0...3)
  func `a request interrupted midway is resumed there`(_ parts: Int) async throws {
    let store = try await store(["A"], contacts: 2)
    store.org.server.faults.add(.kind(.composite), .interrupt(afterParts: parts, drops: true))
    #expect(try await store.up(.accounts(), fields: nil).state.status == .failed)
    #expect(try await store.up(.accounts(), fields: nil).state.status == .done)
    try await checkEqual(store, accounts: 1, contacts: 2)
  }

  @Test func `a tree that may still be in transit waits completely`() async throws {
    let store = try await ManagedStore(
      settings: SyncSettings(overlapSeconds: 0, unansweredWaitSeconds: 3600))
    let account = try await store.createAccounts(["A"])
    try await store.create(
      [["LastName": "c", "AccountId": .string(account[0])]], type: "Contact", in: "contacts")
    store.org.server.faults.add(.kind(.composite), .drop(afterCommit: false))
    try await store.up(.accounts(), fields: nil)
    let end = try await store.up(.accounts(), fields: nil)
    #expect(end.state.status == .done)
    #expect(end.report.records.count == 2)
    #expect(end.report.records.allSatisfy { $0.outcome.isUnconfirmed })
    #expect(try store.accountCount() == 0)
  }

  @Test func `the session's end between two trees loses none and duplicates none`() async throws {
    let store = try await store(["A", "B", "C"], contacts: 1)
    store.org.server.faults.add(.kind(.composite), nth: 2, .expireSession)
    let (state, report, _) = try await store.up(.accounts(), fields: nil)
    #expect(state.status == .failed)
    #expect(report.records.count == 2)
    #expect(try await store.dirty().count == 2)
    // The program restarts with another token.
    let manager = try await store.restarted(settings: Self.settings)
    try await manager.syncUp(
      target: .syncUp(.accounts()), options: SyncOptions(), soupName: "accounts"
    ).finish()
    try await checkEqual(store, accounts: 3, contacts: 3)
  }

  @Test func `a stopped sync up resumes with the next tree`() async throws {
    let store = try await store(["A", "B", "C", "D"], contacts: 1)
    let manager = store.manager
    let run = try await manager.syncUp(
      target: .syncUp(.accounts()), options: SyncOptions(), soupName: "accounts")
    for await state in run where state.progress > 0 { await manager.stop() }
    let stopped = await run.lastState
    #expect(stopped.status == .stopped)
    #expect((25..<100).contains(stopped.progress))
    #expect(!(try await store.dirty().isEmpty))
    for next in try await manager.restart(restartStoppedSyncs: true) { try await next.finish() }
    try await checkEqual(store, accounts: 4, contacts: 4)
  }

  @Test func `an edit while the tree is in transit is sent next time`() async throws {
    let store = try await store(["A"], contacts: 1)
    try await store.up(.accounts(), holding: .kind(.composite), fields: nil) {
      let local = try #require(try await store.column("Id", of: "contacts").first)
      try await store.edit([local], of: "contacts") { $0["LastName"] = "edited" }
    }.finish()
    let contact = try #require(try await store.elements("contacts").first)
    #expect(contact["__local__"] == true)
    #expect(contact["__locally_created__"] == false)
    #expect(contact["AccountId"]?.string == (try await store.column("Id").first))
    #expect(try await store.up(.accounts(), .leaveIfChanged, fields: nil).state.status == .done)
    try await checkEqual(store, accounts: 1, contacts: 1)
    let id = try #require(try await store.column("Id", of: "contacts").first)
    #expect(try store.server("Contact", "LastName", of: id) == "edited")
  }
}
