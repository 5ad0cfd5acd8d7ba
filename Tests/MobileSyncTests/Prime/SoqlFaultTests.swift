import MobileSync
import System
import Testing

@Suite struct SoqlFaultTests {
  private func snapshot(_ org: SyncedOrg, _ query: String = "SELECT Id, Name FROM Account")
    -> Snapshot
  {
    Snapshot(
      org, soups: [.sample("accounts", "Name")], syncs: [.soql("down", query, into: "accounts")])
  }

  private func paged(_ count: Int) throws -> (SyncedOrg, [String], Snapshot) {
    let (org, ids) = try SyncedOrg.with(accounts: count)
    let snapshot = snapshot(org)
    snapshot.stores[0].syncs = [
      .down(
        "down", .soql(SoqlTarget(query: "SELECT Id, Name FROM Account", maxBatchSize: 200)),
        into: "accounts")
    ]
    return (org, ids, snapshot)
  }

  @Test func `pages are followed to the last`() async throws {
    let (org, ids, snapshot) = try paged(450)
    #expect(try await snapshot.prime().soups.map(\.fetched) == [450])
    #expect(org.requests(.query) == 1)
    #expect(org.requests(.queryMore) == 2)
    #expect(try snapshot.column("Id", of: "accounts") == ids.sorted())
    let totals = snapshot.events.all.compactMap { event -> Int? in
      if case .progressed(let progress) = event { progress.total } else { nil }
    }
    #expect(totals == [450, 450, 450])
  }

  @Test func `a refused query is reported with the org's message and its sync`() async throws {
    let org = try SyncedOrg()
    let snapshot = snapshot(org, "SELECT Id, Region__c FROM Contact")
    let error = await #expect(throws: SyncError.self) { try await snapshot.prime() }
    #expect(error?.code == .queryRefused)
    #expect(error?.syncName == "down")
    #expect(error?.cause?.code == "INVALID_FIELD")
    #expect(snapshot.files.isEmpty)
  }

  @Test func `the files of an interrupted prime are overwritten`() async throws {
    let (org, ids, snapshot) = try paged(5)
    try DurableFile.write(Array("rubbish".utf8), to: snapshot.path(.ios, 1) + ".partial")
    try DurableFile.write(Array("rubbish".utf8), to: snapshot.path(.ios, 1) + ".partial-journal")
    try await snapshot.prime()
    #expect(try snapshot.column("Id", of: "accounts") == ids.sorted())
    try DurableFile.write(Array("rubbish".utf8), to: snapshot.path(.ios, 2) + ".partial")
    try org.update("Account", ids[0], ["Name": "new"])
    try await snapshot.prime()
    #expect(try snapshot.column("Name", of: "accounts").contains("new"))
    #expect(!snapshot.files.contains { $0.contains("partial") })
  }

  @Test func `an error of the finishing step publishes nothing`() async throws {
    struct Refusal: Error {}
    let (_, _, snapshot) = try paged(5)
    await #expect(throws: SyncError.self) {
      try await snapshot.prime { _, platform in if platform == .ios { throw Refusal() } }
    }
    #expect(!snapshot.files.contains { $0.contains("ios") || $0.contains("partial") })
  }

  @Test func `an unreadable page in the middle is reported, and leaves no files`() async throws {
    let (org, _, snapshot) = try paged(1050)
    let head = #"{"totalSize":1050,"done":true,"records":[{"Id":"001000000000001AAA"},"#
    for (record, words) in [
      (#"{"Name":"without id"}"#, "neither text nor a number at \"Id\""), ("{\"Id\" 5}", "page"),
    ] {
      org.server.faults.add(.kind(.queryMore), nth: 3, .respond(.json(head + record + "]}")))
      let error = await #expect(throws: SyncError.self) { try await snapshot.prime() }
      #expect(error?.syncName == "down")
      #expect(error?.description.contains("accounts") == true)
      #expect(error?.description.contains(words) == true, "\(String(describing: error))")
      #expect(snapshot.files.isEmpty)
    }
  }

  @Test func `a prime cancelled between pages leaves no files, the next is whole`() async throws {
    let (org, ids, snapshot) = try paged(1050)
    try await snapshot.cancelPrime(of: org, at: .queryMore, nth: 3)
    #expect(snapshot.files.isEmpty)
    try await snapshot.prime()
    #expect(try snapshot.column("Id", of: "accounts", .android) == ids.sorted())
  }

  @Test func `a locator lost after a page whose last record changed loses none`() async throws {
    let (org, ids, snapshot) = try paged(650)
    org.server.faults.add(.kind(.queryMore), nth: 1, .update(ids[399], ["Name": "moved"]))
    org.server.faults.add(.kind(.queryMore), nth: 2, .expireCursors)
    let outcome = try await snapshot.prime()
    #expect(outcome.soups.map(\.total) == [650])
    #expect(try snapshot.column("Id", of: "accounts") == ids.sorted())
    #expect(outcome.soups.first.map { $0.fetched < 2 * 650 } == true)
  }
}
