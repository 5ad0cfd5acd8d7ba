import LocalOrg
import MobileSync
import Salesforce
import Testing

@Suite struct LargeAnswerTests {
  private static let text = String(repeating: "x", count: 2000)

  private func org(_ count: Int, text: String = Self.text) throws -> (SyncedOrg, [String]) {
    let (org, _, _) = try BriefcasePrimeTests.org(accounts: 0)
    let ids = try org.org.transaction {
      try (0..<count).map {
        try org.make("Account", ["Name": .string("Account \($0)"), "Description": .string(text)])
      }
    }
    return (org, ids)
  }

  private func soql(_ org: SyncedOrg) -> Snapshot {
    Snapshot(
      org, soups: [.sample("accounts", "Name")],
      syncs: [.soql("down", "SELECT Id, Name, Description FROM Account", into: "accounts")])
  }

  private func message(_ snapshot: Snapshot) async throws -> String {
    let error = await #expect(throws: SyncError.self) { try await snapshot.prime() }
    #expect(snapshot.files.isEmpty)
    return try #require(error).message
  }

  @Test func `a briefcase batch is requested in halves until each fits`() async throws {
    let (org, ids) = try org(40)
    org.answerLimit = 20_000
    let snapshot = BriefcasePrimeTests.snapshot(org)
    #expect(try await snapshot.prime().soups.map(\.fetched) == [40, 0])
    #expect(try snapshot.column("Id", of: "accounts") == ids.sorted())
    #expect(org.requests(.retrieve) == 15)
    #expect(try await !snapshot.prime().changed)
  }

  @Test func `a query continues with smaller pages after the records it has`() async throws {
    let (org, ids) = try org(900, text: "short")
    org.answerLimit = 60_000
    let snapshot = soql(org)
    #expect(try await snapshot.prime().soups.map(\.fetched) == [900])
    #expect(try snapshot.column("Id", of: "accounts") == ids.sorted())
  }

  @Test func `a query continues with fewer records than the org's smallest page`() async throws {
    let (org, ids) = try org(40)
    for id in ids[20...] { try org.update("Account", id, ["Description": "short"]) }
    org.answerLimit = 12_000
    let snapshot = soql(org)
    #expect(try await snapshot.prime().soups.map(\.fetched) == [40])
    #expect(try snapshot.column("Id", of: "accounts") == ids.sorted())
    // In the next run, changes and deletions come in one request, which is too large as well.
    for id in ids[1..<20] { try org.update("Account", id, ["Name": "changed"]) }
    try org.delete(ids[0])
    #expect(try await snapshot.prime().soups.map(\.ghosts) == [1])
    #expect(try snapshot.column("Id", of: "accounts") == ids[1...].sorted())
    #expect(try snapshot.column("Name", of: "accounts").count { $0 == "changed" } == 19)
  }

  @Test func `a single record that is too large is named`() async throws {
    let (org, ids) = try org(5)
    try org.update(
      "Account", ids[3], ["Description": .string(String(repeating: "x", count: 15_000))])
    org.answerLimit = 12_000
    #expect(try await message(soql(org)).contains("the record \(ids[3]) alone"))
    #expect(
      try await message(BriefcasePrimeTests.snapshot(org)).contains("the record \(ids[3]) alone"))
    let session = try await org.session()
    let error = await #expect(throws: Salesforce.OrgError.self) {
      try await session.records("Account", ids: ids, fields: ["Id", "Description"])
    }
    #expect(error?.message.contains(ids[3]) == true)
  }

  @Test func `lookups by id are requested in halves`() async throws {
    let (org, ids) = try org(30)
    org.answerLimit = 20_000
    let session = try await org.session()
    let records = try await session.records("Account", ids: ids, fields: ["Id", "Description"])
    #expect(Set(records.keys) == Set(ids))
    let query = IDQuery("Account", idField: "Id")
    let answer = try await session.answer(about: ids) {
      query.soql(["Id", "Description"], values: $0)
    }
    #expect(try answer.read() == 30)
  }

  @Test func `families are fetched with fewer parents per page`() async throws {
    let (org, ids) = try org(700, text: "short")
    for id in ids.prefix(3) {
      try org.make("Contact", ["LastName": "c", "AccountId": .string(id)])
    }
    org.answerLimit = 80_000
    let store = try await ManagedStore(org: org)
    #expect(try await store.manager.syncDown(.parentChildren(.accounts())).finish().fetched == 703)
    #expect(try await store.column("Id") == ids.sorted())
  }
}
