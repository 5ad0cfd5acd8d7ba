import MobileSync
import Testing

/// Which element the note of a lost request refers to, and which record an element already
/// represents.
@Suite struct SyncUpNotesTests {
  private func lose(
    _ store: ManagedStore, arrives: Bool, _ mode: MergeMode = .overwrite
  ) async throws {
    store.org.server.faults.add(.writes, .drop(afterCommit: arrives))
    #expect(try await store.up(.collection, mode).state.status == .failed)
  }

  @Test func `a note does not refer to an element that got the row since`() async throws {
    let store = try await ManagedStore(UpCase.kinds[2])
    try await store.createAccounts(["A"])
    try await lose(store, arrives: true)
    // The rows of a soup that is registered again are counted from one.
    try await store.manager.withStore { store in
      let specs = try store.indexSpecs(of: ManagedStore.accounts)
      try store.removeSoup(ManagedStore.accounts)
      try store.registerSoup(ManagedStore.accounts, indexSpecs: specs)
    }
    try await store.createAccounts(["A"])
    #expect(try await store.elements().first?["_soupEntryId"] == 1)
    try await store.up(.collection)
    #expect(try store.accountCount() == 2)
    #expect(try await store.dirty().isEmpty)
  }

  @Test func `a note of a clean element is removed without a request`() async throws {
    let store = try await ManagedStore(UpCase.kinds[2])
    let ids = try await store.syncedAccounts(1)
    try await store.editAccounts(ids)
    try await lose(store, arrives: true, .leaveIfChanged)
    try await store.down(nil)
    #expect(try await store.dirty().isEmpty)
    let before = store.org.server.log.count
    #expect(try await store.up(.collection, .leaveIfChanged).report.records.isEmpty)
    #expect(store.org.server.log.count == before)
    let left = try await store.manager.withStore { store in
      try PendingRequest.all(of: ManagedStore.accounts, in: store).count
    }
    #expect(left == 0)
  }

  @Test(arguments: [MergeMode.overwrite, .leaveIfChanged])
  func `a fetched record of a lost create is that create's record`(_ mode: MergeMode) async throws {
    let store = try await ManagedStore(UpCase.kinds[2])
    try await store.createAccounts(["A"])
    try await lose(store, arrives: true)
    try await store.down(nil, mode)
    #expect(try await store.elements().count == 2)
    try await store.up(.collection)
    #expect(try store.accountCount() == 1)
    #expect(try await store.elements().count == 1)
    #expect(try await store.dirty().isEmpty)
  }

  @Test func `a record that the store had before was not created by a later create`() async throws {
    let store = try await ManagedStore(UpCase.kinds[2])
    let known = try store.org.make("Account", ["Name": "A", "Description": "of A"])
    try await store.down(nil)
    try await store.createAccounts(["A"])
    try await lose(store, arrives: false)
    try await store.up(.collection)
    #expect(try store.accountCount() == 2)
    #expect(try await store.elements().count == 2)
    #expect(try await store.element(known) != nil)
    #expect(try await store.dirty().isEmpty)
  }

  @Test func `a record that an app put into the store was not created by a create`() async throws {
    let store = try await ManagedStore(UpCase.kinds[2])
    try await store.createAccounts(["A"])
    try await lose(store, arrives: false)
    let other = try store.org.make("Account", ["Name": "A", "Description": "of A"])
    try await store.manager.withStore { store in
      _ = try store.upsert(
        [["Id": .string(other), "Name": "A", "attributes": ["type": "Account"]]],
        into: ManagedStore.accounts)
    }
    try await store.up(.collection)
    #expect(try store.accountCount() == 2)
    #expect(try await store.elements().count == 2)
    #expect(try await store.dirty().isEmpty)
  }

  @Test(arguments: [(Int64(0), true), (2000, false)])
  func `a record changed since the second of a lost upsert counts as changed`(
    _ milliseconds: Int64, _ isLeft: Bool
  ) async throws {
    let store = try await ManagedStore(UpCase.kinds[2])
    let other = try store.org.make("Account", ["Name": "other"])
    let office = try store.org.org.addUser(
      "office@example.com", lastName: "Office", profile: "System Administrator")
    let id = try store.org.make("Account", ["Name": "office", "External_Id__c": "E1"], as: office)
    try store.org.org.moveClock(by: milliseconds)
    // The org's time comes from a response.
    try await store.down([other])
    try await store.create([["Name": "device", "External_Id__c": "E1"]])
    let target = SyncUpTarget(externalIdFieldName: "External_Id__c")
    store.org.server.faults.add(.writes, .drop(afterCommit: false))
    try await store.up(target, .leaveIfChanged)
    let end = try await store.up(target, .leaveIfChanged)
    #expect(end.report.records.map(\.outcome) == [isLeft ? .left(.changedOnServer) : .sent])
    #expect(try store.serverName(id) == (isLeft ? "office" : "device"))
  }
}
