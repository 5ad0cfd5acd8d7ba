import JSON
import MobileSync
import SmartStore
import Testing

/// Rows 152–158 of the conformance table (ParentChildrenSyncTest, ParentChildrenSyncTests).
@Suite struct ParentChildrenUpTests {
  /// Every contact in the store is clean and has the org's ID and its account's, as in the org.
  private func checkContacts(_ store: ManagedStore, under accounts: [String: String]) async throws {
    for contact in try await store.elements(ManagedStore.contacts) {
      let id = try #require(contact["Id"]?.string)
      #expect(!id.hasPrefix("local_"))
      #expect(contact["__local__"] == false)
      let server = try #require(try store.org.values("Contact", ["LastName", "AccountId"], of: id))
      #expect(server["LastName"] == contact["LastName"])
      #expect(server["AccountId"] == contact["AccountId"])
      let name = contact["LastName"]?.string?.split(separator: "|").first.map(String.init)
      #expect(contact["AccountId"]?.string == name.flatMap { accounts[$0] })
    }
  }

  /// Accounts by name; each is clean and in the org.
  private func checkedAccounts(_ store: ManagedStore) async throws -> [String: String] {
    var accounts: [String: String] = [:]
    for account in try await store.elements() {
      let id = try #require(account["Id"]?.string)
      let name = try #require(account["Name"]?.string)
      #expect(!id.hasPrefix("local_"))
      #expect(account["__local__"] == false)
      #expect(try store.server("Account", "Name", of: id)?.string == name)
      accounts[name] = id
    }
    return accounts
  }

  /// Contacts of accounts on the device; the name shows the account: `A|0`.
  private func makeContacts(
    _ store: ManagedStore, of accounts: [(name: String, id: String)], _ count: Int
  ) async throws {
    try await store.create(
      accounts.flatMap { account in
        (0..<count).map {
          ["LastName": .string("\(account.name)|\($0)"), "AccountId": .string(account.id)]
        }
      }, type: "Contact", in: ManagedStore.contacts)
  }

  // SDK: ParentChildrenSyncTest.testSyncUpWithLocallyCreatedRecords (152)
  // SDK: ParentChildrenSyncTest.testSyncUpWithLocallyCreatedRecordsWithoutOverwrite (153)
  @Test(arguments: Platform.allCases, MergeMode.allCases)
  func `new trees are created in one request each`(
    _ platform: Platform, _ mode: MergeMode
  ) async throws {
    let store = try await ManagedStore(platform)
    let names = ["A", "B", "C", "D", "E", "F"]
    let ids = try await store.createAccounts(names)
    try await makeContacts(store, of: zip(names, ids).map { ($0, $1) }, 3)
    let (state, report, story) = try await store.up(.accounts(), mode, fields: nil)
    #expect(state.status == .done)
    #expect(
      story == ["RUNNING 0/-1", "RUNNING 0/6"]
        + [16, 33, 50, 66, 83].map { "RUNNING \($0)/6" } + ["DONE 100/6"])
    #expect(store.org.requests(.composite) == 6)
    #expect(store.org.requests(.query) == 0)
    let accounts = try await checkedAccounts(store)
    #expect(accounts.count == 6)
    try await checkContacts(store, under: accounts)
    #expect(try await store.elements(ManagedStore.contacts).count == 18)
    #expect(report.records.count == 24)
    #expect(report.records.allSatisfy { $0.outcome == .sent && $0.operation == .create })
    #expect(report.records.first?.soupName == "accounts")
    for account in try await store.elements() {
      let id = try #require(account["Id"]?.string)
      #expect(
        account["LastModifiedDate"] == (try store.server("Account", "LastModifiedDate", of: id)))
    }
  }

  // SDK: testSyncUpWithLocallyCreatedParentRecords (154)
  @Test(arguments: Platform.allCases)
  func `the org's children get the id of the new parent to which they were moved`(
    _ platform: Platform
  ) async throws {
    let store = try await ManagedStore(platform)
    let names = ["A", "B"]
    let contacts = try (0..<6).map {
      try store.org.make("Contact", ["LastName": .string("\(names[$0 % 2])|\($0)")])
    }
    _ = try await store.manager.syncDown(
      target: .soql(SoqlTarget(query: "SELECT Id, LastName FROM Contact")),
      soupName: ManagedStore.contacts
    ).finish()
    let ids = try await store.createAccounts(names)
    for (place, contact) in contacts.enumerated() {
      try await store.edit([contact], of: ManagedStore.contacts) {
        $0["AccountId"] = .string(ids[place % 2])
      }
    }
    let (state, report, _) = try await store.up(.accounts(), fields: nil)
    #expect(state.totalSize == 2)
    let accounts = try await checkedAccounts(store)
    try await checkContacts(store, under: accounts)
    #expect(try await store.column("Id", of: ManagedStore.contacts) == contacts.sorted())
    #expect(report.records.count == 8)
  }

  // SDK: testSyncUpWithLocallyCreatedChildrenRecords (155)
  @Test(arguments: Platform.allCases)
  func `new children make their clean parents' trees dirty, and the parents are not sent`(
    _ platform: Platform
  ) async throws {
    let store = try await ManagedStore(platform)
    let ids = try await store.syncedAccounts(2)
    try await makeContacts(store, of: ids.enumerated().map { ("name \($0.offset)", $0.element) }, 3)
    let before = try await store.elements()
    let (state, report, _) = try await store.up(.accounts(), fields: nil)
    #expect(state.totalSize == 2)
    try await checkContacts(store, under: try await checkedAccounts(store))
    #expect(try await store.elements() == before)
    #expect(report.records.map(\.soupName).allSatisfy { $0 == "contacts" })
    #expect(report.records.count == 6)
  }

  // SDK: testSyncUpWithLocallyCreatedChildrenRemotelyDeletedParent (156)
  @Test(arguments: Platform.allCases)
  func `a parent deleted by the org is recreated for children`(_ platform: Platform) async throws {
    let store = try await ManagedStore(platform)
    let ids = try await store.syncedAccounts(1)
    try await makeContacts(store, of: [("name 0", ids[0])], 3)
    try store.org.delete(ids[0])
    let (state, report, _) = try await store.up(.accounts(), fields: nil)
    #expect(state.status == .done)
    let accounts = try await checkedAccounts(store)
    #expect(accounts["name 0"] != nil)
    #expect(accounts["name 0"] != ids[0])
    try await checkContacts(store, under: accounts)
    #expect(try await store.elements(ManagedStore.contacts).count == 3)
    #expect(store.org.requests(.composite) == 2)
    #expect(report.records.filter { $0.outcome == .recreated }.map(\.id) == [accounts["name 0"]])
    #expect(report.records.filter { $0.outcome == .sent }.count == 3)
  }

  // SDK: ParentChildrenSyncTest.testSyncUpWithErrors (157)
  @Test(arguments: Platform.allCases)
  func `refused records stay dirty with their error, the rest of the tree is sent`(
    _ platform: Platform
  ) async throws {
    let store = try await ManagedStore(platform)
    let families = try store.org.makeFamilies(3, children: 3)
    try await store.syncFamilies(.accounts(families))
    let tooLong = JSONValue.string(String(repeating: "x", count: 256))
    try await store.edit([families[0].id]) { $0["Name"] = "local" }
    try await store.edit([families[0].children[0], families[1].children[0]], of: "contacts") {
      $0["LastName"] = "local"
    }
    try await store.edit([families[1].id]) { $0["Name"] = tooLong }
    try await store.edit([families[0].children[1], families[1].children[1]], of: "contacts") {
      $0["LastName"] = tooLong
    }
    let (state, report, _) = try await store.up(.accounts(), fields: nil)
    #expect(state.status == .done)
    #expect(state.totalSize == 2)
    #expect(try await store.dirty() == [families[1].id])
    let bad = [families[0].children[1], families[1].children[1]]
    #expect(try await store.dirty("contacts") == bad.sorted())
    let account = try #require(try await store.element(families[1].id))
    try checkError(account, "Account Name: data value too large")
    for id in bad {
      try checkError(
        try #require(try await store.element(id, in: "contacts")), "Last Name: data value too large"
      )
    }
    #expect(try store.server("Account", "Name", of: families[0].id) == "local")
    #expect(try store.server("Account", "Name", of: families[1].id) == "Account 1")
    for (family, child) in [(0, 0), (1, 0)] {
      let id = families[family].children[child]
      #expect(try store.server("Contact", "LastName", of: id) == "local")
    }
    for id in bad {
      #expect(try store.server("Contact", "LastName", of: id)?.string?.hasPrefix("Contact") == true)
    }
    #expect(report.outcomes.values.filter { $0 == .sent }.count == 3)
  }

  /// The first error of a composite's response, as the SDK stores it: an object.
  private func checkError(_ element: JSONValue, _ words: String) throws {
    let error = try JSONValue(parsing: try #require(element["__last_error__"]?.string))
    #expect(error["errorCode"] == "STRING_TOO_LONG")
    #expect(error["message"]?.string?.contains(words) == true)
    #expect(element["__locally_updated__"] == true)
  }

  // SDK: testParentChildrenSyncUpWithExternalId (158)
  @Test(arguments: Platform.allCases)
  func `new records with an external id change existing ones`(_ platform: Platform) async throws {
    let store = try await ManagedStore(platform)
    let families = try store.org.makeFamilies(3, children: 1)
    let local = try await store.create(
      [
        ["Name": "A", "Id": .string(families[0].id)], ["Name": "B", "Id": .string(families[1].id)],
        ["Name": "C"],
      ])
    try await store.create(
      [
        ["LastName": "A|0", "AccountId": .string(local[0])],
        [
          "LastName": "B|0", "AccountId": .string(local[1]), "Id": .string(families[1].children[0]),
        ],
        [
          "LastName": "C|0", "AccountId": .string(local[2]), "Id": .string(families[2].children[0]),
        ],
      ], type: "Contact", in: "contacts")
    let (state, _, _) = try await store.up(.accounts(externalIDs: ("Id", "Id")), fields: nil)
    #expect(state.status == .done)
    #expect(state.totalSize == 3)
    let accounts = try await checkedAccounts(store)
    #expect(accounts["A"] == families[0].id)
    #expect(accounts["B"] == families[1].id)
    #expect(!families.map(\.id).contains(accounts["C"] ?? ""))
    try await checkContacts(store, under: accounts)
    let contacts = try await store.values("LastName", of: "contacts")
    #expect(contacts[families[1].children[0]] == "B|0")
    #expect(contacts[families[2].children[0]] == "C|0")
    // Records that no record of the device names are unchanged.
    #expect(try store.server("Account", "Name", of: families[2].id) == "Account 2")
    #expect(try store.server("Contact", "LastName", of: families[0].children[0]) == "Contact 0.0")
    #expect(try store.server("Account", "Description", of: families[0].id) == "server")
  }
}
