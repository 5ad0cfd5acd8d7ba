import MobileSync
import SmartStore
import Testing

/// Rows 143 and 145–151 of the conformance table (ParentChildrenSyncTest, ParentChildrenSyncTests).
@Suite struct ParentChildrenDownTests {
  // SDK: testSaveRecordsToLocalStore (143)
  @Test(arguments: Platform.allCases)
  func `trees are split into both soups, clean, with their ids`(_ platform: Platform) async throws {
    let (store, families) = try await ManagedStore.with(families: 4, children: 3, platform)
    // The parent's ID is not requested, so it must be added to the children.
    var target = ParentChildrenTarget.accounts(families)
    target.childrenFieldlist = ["LastName"]
    let run = try await store.syncFamilies(target)
    for element in try await store.elements() + store.elements(ManagedStore.contacts) {
      for flag in ["", "ly_created", "ly_updated", "ly_deleted"] {
        let name = flag.isEmpty ? "__local__" : "__local\(flag)__"
        #expect(element[name] == false)
      }
      #expect(element["__sync_id__"]?.int == run.syncID)
      #expect(element["Contacts"] == nil)
      #expect(element["attributes"]?["type"]?.string != nil)
    }
    let parents = try await store.values("AccountId", of: ManagedStore.contacts)
    #expect(
      parents
        == Dictionary(
          uniqueKeysWithValues: families.flatMap { family in family.children.map { ($0, family.id) }
          }))
  }

  // SDK: ParentChildrenSyncTest.testSyncDown (145)
  @Test(arguments: Platform.allCases)
  func `families arrive in one request; parents are counted`(_ platform: Platform) async throws {
    let (store, families) = try await ManagedStore.with(families: 4, children: 3, platform)
    let run = try await store.manager.syncDown(.parentChildren(.accounts(families)))
    #expect(await run.story == ["RUNNING 0/-1", "RUNNING 0/4", "DONE 100/4"])
    #expect(try await store.column("Id") == families.map(\.id).sorted())
    #expect(
      try await store.column("Id", of: ManagedStore.contacts)
        == families.flatMap(\.children).sorted())
    #expect(store.org.requests(.query) == 1)
    #expect(try await run.finish().fetched == 16)
    let state = try #require(try await store.manager.syncStatus(id: run.syncID))
    #expect(state.maxTimeStamp > SyncedOrg.start)
  }

  // SDK: testSyncDownNoChildren (146)
  @Test(arguments: Platform.allCases)
  func `parents without children arrive alone`(_ platform: Platform) async throws {
    let (store, families) = try await ManagedStore.with(families: 4, children: 0, platform)
    try await store.syncFamilies(.accounts(families))
    #expect(try await store.column("Id") == families.map(\.id).sorted())
    #expect(try await store.elements(ManagedStore.contacts).isEmpty)
  }

  // SDK: ParentChildrenSyncTest.testSyncDownWithoutOverwrite (147)
  @Test(arguments: Platform.allCases)
  func `LEAVE_IF_CHANGED skips all of a changed tree`(_ platform: Platform) async throws {
    let (store, families) = try await ManagedStore.with(families: 4, children: 3, platform)
    let target = ParentChildrenTarget.accounts(families)
    try await store.syncFamilies(target)
    try await store.rename([families[0].id])
    try await store.edit([families[0].children[0]], of: ManagedStore.contacts) {
      $0["LastName"] = "local"
    }
    try await store.edit([families[1].children[1]], of: ManagedStore.contacts) {
      $0["LastName"] = "local"
    }
    // Everything changes in the org, and the changed trees get another child.
    for family in families {
      try store.org.update("Account", family.id, ["Name": "remote"])
      for child in family.children {
        try store.org.update("Contact", child, ["LastName": "remote"])
      }
      try store.org.make("Contact", ["LastName": "new", "AccountId": .string(family.id)])
    }
    let run = try await store.syncFamilies(target, .leaveIfChanged)
    let names = try await store.values("Name")
    #expect(names[families[0].id]?.hasPrefix("local") == true)
    #expect(names[families[1].id] == "Account 1")
    #expect(names[families[2].id] == "remote")
    let contacts = try await store.elements(ManagedStore.contacts)
    for (place, family) in families.enumerated() {
      let found = contacts.filter { $0["AccountId"]?.string == family.id }
        .compactMap { $0["LastName"]?.string }.sorted()
      let expected: [String] =
        switch place {
        case 0: ["Contact 0.1", "Contact 0.2", "local"]
        case 1: ["Contact 1.0", "Contact 1.2", "local"]
        default: ["new", "remote", "remote", "remote"]
        }
      #expect(found == expected)
    }
    #expect(try await store.dirty() == [families[0].id])
    let report = await run.report
    #expect(Set(report.skipped["accounts"] ?? []) == [families[0].id, families[1].id])
    #expect(
      Set(report.skipped["contacts"] ?? []) == Set(families[0].children + families[1].children))

    let again = try await store.syncFamilies(target)
    #expect(Set(try await store.values("Name").values) == ["remote"])
    #expect(
      Set(try await store.values("LastName", of: ManagedStore.contacts).values)
        == ["new", "remote"])
    #expect(try await store.dirty(ManagedStore.contacts).isEmpty)
    let overwritten = await again.report.overwritten
    #expect(overwritten["accounts"] == [families[0].id])
    #expect(
      Set(overwritten["contacts"] ?? []) == [families[0].children[0], families[1].children[1]])
  }

  private static let plain = SyncSettings(overlapSeconds: 0, readsChangedChildren: false)

  // SDK: testReSyncWithUpdatedParents (148)
  @Test(arguments: Platform.allCases)
  func `a second run fetches only the changed parents`(_ platform: Platform) async throws {
    let (store, families) = try await ManagedStore.with(families: 4, children: 3, platform)
    let first = try await store.syncFamilies(.accounts(families))
    let cursor = await first.lastState.maxTimeStamp
    for family in families[1...2] { try store.org.update("Account", family.id, ["Name": "remote"]) }
    let run = try await store.manager.reSync(id: first.syncID)
    #expect(await run.story == ["RUNNING 0/-1", "RUNNING 0/2", "DONE 100/2"])
    #expect(await run.report.fetched == 2)
    #expect(try await store.values("Name")[families[1].id] == "remote")
    #expect(try await store.values("Name")[families[0].id] == "Account 0")
    #expect(await run.lastState.maxTimeStamp > cursor)
  }

  // SDK: testReSyncWithUpdatedChildren (149)
  @Test(arguments: Platform.allCases)
  func `a changed child arrives only with its changed parent`(_ platform: Platform) async throws {
    let store = try await ManagedStore(platform, settings: Self.plain)
    let families = try store.org.makeFamilies(4, children: 3)
    let first = try await store.syncFamilies(.accounts(families))
    try store.org.update("Account", families[0].id, ["Name": "remote"])
    for child in families[0].children[...1] + families[1].children {
      try store.org.update("Contact", child, ["LastName": "remote"])
    }
    let run = try await store.manager.reSync(id: first.syncID)
    #expect(await run.story == ["RUNNING 0/-1", "RUNNING 0/1", "DONE 100/1"])
    #expect(await run.report.fetched == 3)
    let names = try await store.values("LastName", of: ManagedStore.contacts)
    #expect(names[families[0].children[0]] == "remote")
    #expect(names[families[0].children[1]] == "remote")
    #expect(names[families[0].children[2]] == "Contact 0.2")
    #expect(families[1].children.allSatisfy { names[$0]?.hasPrefix("Contact 1") == true })
  }
}
