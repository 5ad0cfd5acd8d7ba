import HTTP
import JSON
import SmartStore
import Testing

import MobileSync

/// Requests of a live store that exceed the org's limits: they are split, and a single record that
/// is too large fails alone.
@Suite struct TooLargeRequestTests {
  private static let most = 4_000
  private static let text = JSONValue.string(String(repeating: "x", count: 400))
  private static let tooLong = JSONValue.string(String(repeating: "y", count: most))

  private func store(_ platform: Platform = .ios) async throws -> ManagedStore {
    try await ManagedStore(
      platform, org: SyncedOrg { $0.mostBodyBytes = Self.most },
      settings: SyncSettings(overlapSeconds: 0, unansweredWaitSeconds: 0))
  }

  @Test(arguments: UpCase.all, [MergeMode.overwrite, .leaveIfChanged])
  func `a request that is too large is split, and one record alone fails alone`(
    _ up: UpCase, _ mode: MergeMode
  ) async throws {
    let store = try await store(up.platform)
    let ids = try await store.syncedAccounts(24)
    try await store.edit(ids) { $0["Description"] = Self.text }
    let long = ids[7]
    try await store.edit([long]) { $0["Description"] = Self.tooLong }
    try await store.create((0..<24).map { ["Name": .string("A\($0)"), "Description": Self.text] })
    let longLocal = try await store.create([["Name": "L", "Description": Self.tooLong]])[0]
    for _ in 0..<2 {
      let end = try await store.up(up.kind, mode)
      #expect(end.state.status == .done)
      for id in [long, longLocal] {
        guard case .failed(let code, let message) = end.report.outcomes[id] else {
          Issue.record("\(String(describing: end.report.outcomes[id]))")
          continue
        }
        #expect(code == "JSON_PARSER_ERROR")
        #expect(message.contains("Maximum size of request reached"))
        #expect(
          try await store.element(id)?["__last_error__"]?.string?.contains("JSON_PARSER_ERROR")
            == true)
      }
      #expect(end.report.records.count { $0.outcome != .sent } == 2)
      #expect(try await store.dirty() == [long, longLocal].sorted())
      #expect(try store.accountCount() == 48)
    }
    try await store.edit([long, longLocal]) { $0["Description"] = "short" }
    try await store.up(up.kind, mode)
    #expect(try await store.dirty().isEmpty)
    #expect(try store.accountCount() == 49)
  }

  @Test(arguments: Platform.allCases)
  func `a tree that is too large is sent in several requests, and waits for no other`(
    _ platform: Platform
  ) async throws {
    let store = try await store(platform)
    let parents = try await store.create(
      [Self.text, Self.tooLong, Self.text].enumerated().map {
        ["Name": .string("A\($0)"), "Description": $1]
      })
    try await store.create(
      parents.flatMap { id in
        (0..<20).map {
          [
            "LastName": .string("c\($0) " + String(repeating: "n", count: 70)),
            "AccountId": .string(id),
          ]
        }
      }, type: "Contact", in: "contacts")
    let end = try await store.up(.accounts(), fields: nil)
    #expect(end.state.status == .done)
    #expect(try store.accountCount() == 2)
    #expect(try store.org.org.query("SELECT Id FROM Contact", as: store.org.admin).totalSize == 40)
    #expect(try await store.dirty() == [parents[1]])
    #expect(try await store.dirty("contacts").count == 20)
    #expect(end.report.outcomes[parents[1]]?.failureCode == "JSON_PARSER_ERROR")
    try await store.edit([parents[1]]) { $0["Description"] = "short" }
    try await store.up(.accounts(), fields: nil)
    #expect(try await store.dirty("contacts").isEmpty)
    #expect(try store.accountCount() == 3)
  }

  /// A gateway's page, which does not show that the org has not got the request.
  private static let page = ServerResponse(
    status: 413, headers: ["Content-Type": "text/html"], body: Array("<html></html>".utf8))

  @Test(arguments: UpCase.kinds, [MergeMode.overwrite, .leaveIfChanged])
  func `a request that a gateway answers as too large stops no sync up`(
    _ up: UpCase, _ mode: MergeMode
  ) async throws {
    let store = try await store(up.platform)
    let ids = try await store.syncedAccounts(3)
    try await store.edit(ids) { $0["Name"] = "new" }
    try await store.createAccounts(["A", "B", "C", "D"])
    store.org.server.faults.add(.writes, times: 2, .respond(Self.page))
    for _ in 0..<3 { #expect(try await store.up(up.kind, mode).state.status == .done) }
    #expect(try await store.dirty().isEmpty)
    #expect(try store.accountCount() == 7)
  }

  @Test func `the records of a request that a gateway answers as too large are sent alone`()
    async throws
  {
    let store = try await store()
    try await store.createAccounts(["A", "B", "C", "D"])
    store.org.server.faults.add(.writes, .respond(Self.page))
    try await store.up(.collection)
    #expect(try await store.dirty().count == 4)
    let before = store.org.requests(.collectionCreate)
    try await store.up(.collection)
    #expect(try await store.dirty().isEmpty)
    #expect(try store.accountCount() == 4)
    #expect(store.org.requests(.collectionCreate) == before + 4)
  }
}
