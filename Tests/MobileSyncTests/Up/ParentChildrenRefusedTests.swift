import MobileSync
import Testing

@Suite struct ParentChildrenRefusedTests {
  private func family(_ store: ManagedStore, children: Int = 1) async throws -> Family {
    let families = try store.org.makeFamilies(1, children: children)
    try await store.syncFamilies(.accounts(families))
    return families[0]
  }

  @Test(arguments: MergeMode.allCases)
  func `a parent deleted between the check and the write is recreated only under OVERWRITE`(
    _ mode: MergeMode
  ) async throws {
    let store = try await ManagedStore()
    let family = try await family(store)
    try await store.edit([family.id]) { $0["Name"] = "local" }
    try await store.edit(family.children, of: "contacts") { $0["LastName"] = "local" }
    store.org.server.faults.add(.kind(.composite), .delete(family.id))
    let end = try await store.up(.accounts(), mode, fields: nil)
    #expect(try store.accountCount() == (mode == .overwrite ? 1 : 0))
    if mode == .leaveIfChanged {
      #expect(end.report.outcomes[family.id] == .left(.deletedOnServer))
      #expect(store.org.requests(.composite) == 1)
      #expect(try await store.dirty() == [family.id])
    } else {
      #expect(try await store.dirty().isEmpty)
    }
  }

  @Test func `a changed child without its parent in the store is reported unsent`() async throws {
    let store = try await ManagedStore()
    let family = try await family(store, children: 2)
    try await store.edit([family.children[0]], of: "contacts") {
      ($0["LastName"], $0["AccountId"]) = ("local", "001000000000009AAA")
    }
    let end = try await store.up(.accounts(), fields: nil)
    #expect(end.state.status == .done)
    #expect(
      end.report.outcomes == [
        family.children[0]: .failed(
          code: "", message: "its parent is not in the soup \"accounts\": not sent")
      ])
    #expect(end.report.records.map(\.soupName) == ["contacts"])
    #expect(try await store.dirty("contacts") == [family.children[0]])
  }

  @Test func `a missing reference to another record recreates no family`() async throws {
    let store = try await ManagedStore()
    let family = try await family(store)
    var target = SyncUpTarget.accounts()
    target.childrenUpdateFieldlist = ["LastName", "AccountId", "ReportsToId"]
    try await store.edit(family.children, of: "contacts") {
      $0["ReportsToId"] = "003000000000000AAA"
    }
    let end = try await store.up(target, fields: nil)
    #expect(end.report.outcomes[family.children[0]]?.isFailed == true)
    #expect(store.org.requests(.composite) == 1)
    #expect(store.org.server.log.entries.allSatisfy { $0.soql?.contains("IsDeleted") != true })
    #expect(try await store.dirty("contacts") == family.children)
  }

  @Test func `a child that the app deletes before its request is sent is omitted`() async throws {
    let store = try await ManagedStore(
      settings: SyncSettings(overlapSeconds: 0, unansweredWaitSeconds: 0))
    let account = try await store.createAccounts(["A"])
    let contacts = try await store.create(
      (0..<40).map { ["LastName": .string("c\($0)"), "AccountId": .string(account[0])] },
      type: "Contact", in: "contacts")
    // The last one is sent in the second request.
    try await store.up(.accounts(), holding: .kind(.composite), fields: nil) {
      try await store.delete([contacts[39]], of: "contacts")
    }.finish()
    #expect(try store.org.org.query("SELECT Id FROM Contact", as: store.org.admin).totalSize == 39)
    #expect(try await store.dirty("contacts") == [contacts[39]])
    try await store.up(.accounts(), fields: nil)
    #expect(try await store.elements("contacts").count == 39)
    #expect(try store.org.org.query("SELECT Id FROM Contact", as: store.org.admin).totalSize == 39)
  }
}
