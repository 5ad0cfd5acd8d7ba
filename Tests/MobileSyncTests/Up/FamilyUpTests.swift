import JSON
import MobileSync
import SmartStore
import Testing

/// Cases of a parent-children sync up that the SDK's tests omit.
@Suite struct FamilyUpTests {
  private let store: ManagedStore
  init() async throws { store = try await ManagedStore() }

  private func composites(_ store: ManagedStore) -> Int { store.org.requests(.composite) }

  private func syncedFamilies(
    _ store: ManagedStore, _ count: Int, children: Int, _ type: RelationshipType = .masterDetail
  ) async throws -> [Family] {
    let families = try store.org.makeFamilies(count, children: children)
    try await store.syncFamilies(.accounts(families, type))
    return families
  }

  @Test func `a tree of more than 25 requests is split, and its ids are set`() async throws {
    let account = try await store.createAccounts(["A"])
    try await store.create(
      (0..<60).map { ["LastName": .string("c\($0)"), "AccountId": .string(account[0])] },
      type: "Contact", in: "contacts")
    let (state, report, story) = try await store.up(.accounts(), fields: nil)
    #expect(state.status == .done)
    #expect(story == ["RUNNING 0/-1", "RUNNING 0/1", "DONE 100/1"])
    #expect(composites(store) == 3)
    #expect(report.records.count == 61)
    let id = try #require(try await store.column("Id").first)
    #expect(Set(try await store.values("AccountId", of: "contacts").values) == [id])
    #expect(try await store.dirty("contacts").isEmpty)
    #expect(try await store.elements("contacts").allSatisfy { $0["LastModifiedDate"] != nil })
    #expect(try contacts(store, of: id).count == 60)
  }

  @Test func `children of a refused parent are not sent without it`() async throws {
    let account = try await store.create([["Description": "no name"]])
    try await store.create(
      (0..<30).map { ["LastName": .string("c\($0)"), "AccountId": .string(account[0])] },
      type: "Contact", in: "contacts")
    let (state, report, _) = try await store.up(.accounts(), fields: nil)
    #expect(state.status == .done)
    #expect(composites(store) == 1)
    #expect(report.records.count == 31)
    #expect(report.records.allSatisfy { $0.outcome.isFailed })
    #expect(try store.org.org.query("SELECT Id FROM Contact", as: store.org.admin).totalSize == 0)
    for contact in try await store.elements("contacts") {
      #expect(contact["__last_error__"]?.string?.contains("PROCESSING_HALTED") == true)
      #expect(contact["__locally_created__"] == true)
      #expect(contact["AccountId"]?.string == account[0])
    }
    try await store.edit(account) {
      $0["Name"] = "A"
      $0["__locally_updated__"] = false
    }
    #expect(try await store.up(.accounts(), fields: nil).report.records.count == 31)
    #expect(try await store.dirty("contacts").isEmpty)
  }

  @Test(arguments: Platform.allCases)
  func `a refused child of a new parent gets the parent's id, and is sent with the next sync`(
    _ platform: Platform
  ) async throws {
    let store = try await ManagedStore(platform)
    let account = try await store.createAccounts(["A"])
    try await store.create(
      [
        ["LastName": "good", "AccountId": .string(account[0])],
        ["FirstName": "bad", "AccountId": .string(account[0])],
      ], type: "Contact", in: "contacts")
    try await store.up(.accounts(), fields: nil)
    let id = try #require(try await store.column("Id").first)
    #expect(!id.hasPrefix("local_"))
    let contacts = try await store.elements("contacts")
    #expect(contacts.allSatisfy { $0["AccountId"]?.string == id })
    let bad = try #require(contacts.first { $0["FirstName"] == "bad" })
    #expect(bad["__locally_created__"] == true)
    #expect(bad["__last_error__"]?.string?.contains("REQUIRED_FIELD_MISSING") == true)
    try await store.edit([bad["Id"]?.string ?? ""], of: "contacts") { $0["LastName"] = "mended" }
    #expect(try await store.up(.accounts(), fields: nil).state.totalSize == 1)
    #expect(try self.contacts(store, of: id).sorted() == ["good", "mended"])
  }

  @Test func `a parent that is only invisible is not recreated`() async throws {
    let org = try SyncedOrg()
    let store = try await ManagedStore(org: org, as: "ada@example.com")
    let ada = try #require(org.org.user(named: "ada@example.com"))
    let account = try org.make("Account", ["Name": "A"], as: ada)
    let contact = try org.make(
      "Contact", ["LastName": "c", "AccountId": .string(account)], as: ada)
    try await store.syncFamilies(.accounts())
    #expect(try await store.column("Id") == [account])
    try await store.rename([account])
    try await store.edit([contact], of: "contacts") { $0["LastName"] = "local" }
    try org.org.transfer(account, to: "ben@example.com")
    try org.org.transfer(contact, to: "ben@example.com")
    let accounts = try store.accountCount()
    let (state, report, _) = try await store.up(.accounts(), fields: nil)
    #expect(state.status == .done)
    #expect(try store.accountCount() == accounts)
    #expect(try await store.dirty() == [account])
    #expect(try await store.dirty("contacts") == [contact])
    #expect(report.records.count == 2)
    #expect(report.records.allSatisfy { $0.outcome.isFailed })
  }

  @Test func `a record that the org deletes repeatedly is recreated once`() async throws {
    let families = try await syncedFamilies(store, 1, children: 1)
    let child = families[0].children[0]
    try await store.edit([child], of: "contacts") { $0["LastName"] = "local" }
    try store.org.delete(child)
    // Before the second round another user deletes the parent too.
    let parent = families[0].id
    store.org.server.faults.add(.kind(.composite), nth: 2, .delete(parent))
    let (state, report, _) = try await store.up(.accounts(), fields: nil)
    #expect(state.status == .done)
    #expect(composites(store) == 2)
    #expect(report.outcomes[child]?.failureCode == "ENTITY_IS_DELETED")
    let contact = try #require(try await store.element(child, in: "contacts"))
    #expect(contact["__local__"] == true)
    #expect(contact["__last_error__"] != nil)
    try await store.up(.accounts(), fields: nil)
    #expect(try await store.dirty("contacts").isEmpty)
    #expect(try await store.column("Id") != [parent])
  }

  @Test func `a parent that the app deletes in transit is not recreated`() async throws {
    let families = try await syncedFamilies(store, 1, children: 1)
    let parent = families[0].id
    try await store.rename([parent])
    try store.org.delete(parent)
    let accounts = try store.accountCount()
    try await store.up(.accounts(), holding: .kind(.composite), fields: nil) {
      try await store.delete([parent])
    }.finish()
    #expect(try store.accountCount() == accounts)
    #expect(try await store.flags(parent) == "ld")
    try await store.up(.accounts(), fields: nil)
    #expect(try await store.elements().isEmpty)
    #expect(try store.accountCount() == accounts)
  }

  @Test(arguments: Platform.allCases)
  func `a refused child of a removed parent is reported`(_ platform: Platform) async throws {
    let (store, parent, children) = try await withSubsidiaries(platform)
    try await store.delete([parent])
    try await store.edit([children[0]], of: "subsidiaries") { $0["Name"] = "local" }
    try store.org.delete(children[0])
    let (state, report, _) = try await store.up(subsidiaries.up, fields: nil)
    #expect(state.status == .done)
    #expect(try await store.elements().isEmpty)
    #expect(report.outcomes[children[0]]?.isFailed == true)
    let child = try #require(try await store.element(children[0], in: "subsidiaries"))
    #expect(child["__local__"] == true)
    #expect(child["__last_error__"] != nil)
  }

  // MARK: Relationships

  /// Accounts with their child accounts: deleting one does not delete the others.
  private var subsidiaries: (down: ParentChildrenTarget, up: SyncUpTarget) {
    let parent = FamilyMember(sobjectType: "Account", soupName: "accounts")
    var child = FamilyMember(sobjectType: "Account", soupName: "subsidiaries")
    child.sobjectTypePlural = "ChildAccounts"
    child.parentIdFieldName = "ParentId"
    let family = ParentChildrenFamily(parent: parent, children: child, relationshipType: .lookup)
    var up = SyncUpTarget(
      kind: .parentChildren, createFieldlist: ["Name"], updateFieldlist: ["Name"])
    up.family = family
    up.childrenCreateFieldlist = ["Name"]
    up.childrenUpdateFieldlist = ["Name"]
    let down = ParentChildrenTarget(
      family: family, parentFieldlist: ["Name"], childrenFieldlist: ["Name"],
      parentSoqlFilter: "ParentId = null")
    return (down, up)
  }

  private func withSubsidiaries(_ platform: Platform) async throws -> (
    ManagedStore, parent: String, children: [String]
  ) {
    let store = try await ManagedStore(platform) { store in
      try store.registerSoup(
        "subsidiaries",
        indexSpecs: ["Id", "ParentId", "__local__"].map { IndexSpec(path: $0, type: .string) })
    }
    let parent = try store.org.make("Account", ["Name": "parent"])
    let children = try (0..<2).map {
      try store.org.make("Account", ["Name": .string("child \($0)"), "ParentId": .string(parent)])
    }
    try await store.syncFamilies(subsidiaries.down)
    #expect(try await store.column("Id", of: "subsidiaries") == children.sorted())
    return (store, parent, children)
  }

  @Test(arguments: Platform.allCases)
  func `children of a lookup outlive their parent on both sides`(_ platform: Platform) async throws
  {
    let (store, parent, children) = try await withSubsidiaries(platform)
    try await store.delete([parent])
    try await store.edit([children[0]], of: "subsidiaries") { $0["Name"] = "local" }
    let (_, report, _) = try await store.up(subsidiaries.up, fields: nil)
    #expect(try await store.elements().isEmpty)
    #expect(try store.serverName(parent) == nil)
    #expect(try store.serverName(children[0]) == "local")
    #expect(try store.serverName(children[1]) == "child 1")
    #expect(try await store.dirty("subsidiaries").isEmpty)
    #expect(try await store.elements("subsidiaries").count == 2)
    #expect(report.records.map(\.outcome) == [.sent, .sent])
  }

  @Test(arguments: Platform.allCases)
  func `children of a lookup get the id of a recreated parent`(_ platform: Platform) async throws {
    let (store, parent, children) = try await withSubsidiaries(platform)
    try store.org.delete(parent)
    try store.org.delete(children[1])
    try await store.rename([parent])
    #expect(
      try await store.up(subsidiaries.up, .leaveIfChanged, fields: nil).report.outcomes[parent]
        == .left(.deletedOnServer))
    try await store.up(subsidiaries.up, fields: nil)
    let new = try #require(try await store.column("Id").first)
    #expect(new != parent)
    let names = try await store.values("Name", of: "subsidiaries")
    #expect(names[children[0]] == "child 0")
    #expect(names[children[1]] == nil)
    #expect(names.count == 2)
    for id in names.keys { #expect(try store.server("Account", "ParentId", of: id)?.string == new) }
    #expect(Set(try await store.values("ParentId", of: "subsidiaries").values) == [new])
    #expect(try await store.dirty("subsidiaries").isEmpty)
  }

  @Test func `without the parent's field in the list no details are moved`() async throws {
    let families = try await syncedFamilies(store, 2, children: 1)
    let child = families[0].children[0]
    // The org moved the child; an update that names the old parent would move it back.
    try store.org.update("Contact", child, ["AccountId": .string(families[1].id)])
    try await store.edit([child], of: "contacts") { $0["LastName"] = "local" }
    var target = SyncUpTarget.accounts()
    target.childrenUpdateFieldlist = ["LastName"]
    try await store.up(target, fields: nil)
    #expect(try store.server("Contact", "LastName", of: child) == "local")
    #expect(try store.server("Contact", "AccountId", of: child)?.string == families[1].id)
    #expect(try await store.dirty("contacts").isEmpty)
    // A lookup's child names its parent, and so does a listed field.
    try await store.edit([child], of: "contacts") { $0["LastName"] = "again" }
    target.family?.relationshipType = .lookup
    try await store.up(target, fields: nil)
    #expect(try store.server("Contact", "AccountId", of: child)?.string == families[0].id)
  }

  @Test func `a new parent and its new children deleted again need no request`() async throws {
    let account = try await store.createAccounts(["A"])
    try await store.create(
      [["LastName": "c", "AccountId": .string(account[0])]], type: "Contact", in: "contacts")
    try await store.delete(account)
    let (_, report, _) = try await store.up(.accounts(), fields: nil)
    #expect(try await store.elements().isEmpty)
    #expect(try await store.elements("contacts").isEmpty)
    #expect(composites(store) == 0)
    #expect(report.records.map(\.outcome) == [.removed, .removed])
  }

  @Test func `details wait with a master that the org does not delete`() async throws {
    let families = try await syncedFamilies(store, 1, children: 2)
    try await store.delete([families[0].id])
    try await store.edit([families[0].children[0]], of: "contacts") { $0["LastName"] = "local" }
    store.org.server.faults.add(.kind(.composite), .refusePart(0, code: "DELETE_FAILED"))
    let (_, report, _) = try await store.up(.accounts(), fields: nil)
    let failed = SyncReport.Record.Outcome.failed(code: "DELETE_FAILED", message: "injected fault")
    #expect(report.outcomes == [families[0].id: failed, families[0].children[0]: failed])
    #expect(try await store.dirty() == [families[0].id])
    #expect(try await store.elements("contacts").count == 2)
    let account = try #require(try await store.element(families[0].id))
    #expect(account["__last_error__"]?.string?.contains("DELETE_FAILED") == true)
    let (_, again, _) = try await store.up(.accounts(), fields: nil)
    #expect(again.records.map(\.outcome) == [.sent, .removed, .removed])
    #expect(try await store.elements("contacts").isEmpty)
  }

  // MARK: LEAVE_IF_CHANGED

  @Test func `the trees' dates are queried together; a moved child is found`() async throws {
    let families = try await syncedFamilies(store, 5, children: 2)
    try await store.rename(families.map(\.id))
    // The child has another parent now: it is newer than the device's copy, not deleted.
    try store.org.update("Contact", families[0].children[0], ["AccountId": .string(families[1].id)])
    let before = store.org.requests(.query)
    let (state, report, _) = try await store.up(.accounts(), .leaveIfChanged, fields: nil)
    #expect(state.status == .done)
    #expect(store.org.requests(.query) == before + 1)
    #expect(try await store.dirty() == [families[0].id])
    #expect(report.outcomes[families[0].id] == .left(.changedOnServer))
    #expect(composites(store) == 4)
  }

  @Test func `a child that moves to a new parent is checked too`() async throws {
    let families = try await syncedFamilies(store, 1, children: 1)
    let child = families[0].children[0]
    let local = try await store.createAccounts(["A"])
    try await store.edit([child], of: "contacts") { $0["AccountId"] = .string(local[0]) }
    try store.org.update("Contact", child, ["LastName": "remote"])
    let (_, report, _) = try await store.up(.accounts(), .leaveIfChanged, fields: nil)
    #expect(report.outcomes[child] == .left(.changedOnServer))
    #expect(try await store.dirty() == local)
    #expect(try store.server("Contact", "LastName", of: child) == "remote")
    try await store.up(.accounts(), fields: nil)
    #expect(try await store.dirty("contacts").isEmpty)
  }

  @Test func `after a sync up an edit does not conflict with itself`() async throws {
    let families = try await syncedFamilies(store, 1, children: 2)
    for round in 0..<3 {
      try await store.rename([families[0].id], to: "round \(round)")
      try await store.edit([families[0].children[0]], of: "contacts") {
        $0["LastName"] = .string("round \(round)")
      }
      let (_, report, _) = try await store.up(.accounts(), .leaveIfChanged, fields: nil)
      #expect(report.records.map(\.outcome) == [.sent, .sent])
    }
    #expect(try store.server("Contact", "LastName", of: families[0].children[0]) == "round 2")
  }

  @Test func `a change between the check and the write is not overwritten`() async throws {
    let families = try await syncedFamilies(store, 1, children: 1)
    let id = families[0].id
    try await store.rename([id])
    store.org.server.faults.add(.kind(.composite), .update(id, ["Name": "remote"]))
    let (_, report, _) = try await store.up(.accounts(), .leaveIfChanged, fields: nil)
    #expect(report.outcomes[id] == .left(.changedOnServer))
    #expect(try store.server("Account", "Name", of: id) == "remote")
    #expect(try await store.dirty() == [id])
  }

  private func contacts(_ store: ManagedStore, of id: String) throws -> [String] {
    let page = try store.org.org.query(
      "SELECT LastName FROM Contact WHERE AccountId = '\(id)'", as: store.org.admin)
    return try JSONValue(parsing: page.records).array?.compactMap { $0["LastName"]?.string } ?? []
  }
}
