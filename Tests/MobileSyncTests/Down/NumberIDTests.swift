import JSON
import MobileSync
import SmartStore
import Testing

@Suite struct NumberIDTests {
  static let soup = "numbered"
  static let amounts = ["7", "0.5", "12345678", "120000000000.25"]

  private func store(_ platform: Platform, by field: String) async throws -> ManagedStore {
    try await ManagedStore(platform) { store in
      try store.registerSoup(
        Self.soup,
        indexSpecs: [
          IndexSpec(path: field, type: .string), IndexSpec(path: "__local__", type: .string),
          IndexSpec(path: "__sync_id__", type: .integer),
        ])
    }
  }

  private func target(by field: String) -> SyncTarget {
    .soql(
      SoqlTarget(
        query: "SELECT \(field), Name, LastModifiedDate FROM Account WHERE Site = 'here'",
        fields: TargetFields(idFieldName: field)))
  }

  @Test(arguments: Platform.allCases)
  func `records with number ids are kept, updated and cleaned`(_ platform: Platform) async throws {
    let field = "AnnualRevenue"
    let store = try await store(platform, by: field)
    let ids = try Self.amounts.map {
      try store.org.make("Account", ["Name": "n", "Site": "here", field: .number($0)])
    }
    let manager = store.manager
    let run = try await manager.syncDown(
      target: target(by: field), options: SyncOptions(mergeMode: .leaveIfChanged),
      soupName: Self.soup)
    #expect(try await run.finish().written == 4)
    #expect(try await manager.cleanResyncGhosts(id: run.syncID).count == 0)
    // One is edited on the device, and all change in the org.
    try await manager.withStore { store in
      var edited: JSONValue?
      try store.forEachElement(in: Self.soup) { edited = try $0.value() }
      var element = try #require(edited?.object)
      element["__local__"] = true
      element["Name"] = "mine"
      try store.upsert([.object(element)], into: Self.soup)
    }
    for id in ids { try store.org.update("Account", id, ["Name": "new"]) }
    #expect(try await manager.reSync(id: run.syncID).finish().skipped[Self.soup]?.count == 1)
    #expect(try await store.column("Name", of: Self.soup) == ["mine", "new", "new", "new"])
    try store.org.delete(ids[2])
    #expect(try await manager.cleanResyncGhosts(id: run.syncID).count == 1)
    #expect(try await store.elements(Self.soup).count == 3)
  }

  @Test(arguments: Platform.allCases)
  func `records with escaped text ids are kept and cleaned`(_ platform: Platform) async throws {
    let field = "AccountNumber"
    let store = try await store(platform, by: field)
    let numbers = [#"a"b"#, #"c\d"#, "e"]
    let ids = try numbers.map {
      try store.org.make("Account", ["Name": "n", "Site": "here", field: .string($0)])
    }
    let manager = store.manager
    let run = try await manager.syncDown(target: target(by: field), soupName: Self.soup)
    #expect(try await run.finish().written == 3)
    for id in ids { try store.org.update("Account", id, ["Name": "new"]) }
    try await manager.reSync(id: run.syncID).finish()
    #expect(try await store.column("Name", of: Self.soup) == ["new", "new", "new"])
    #expect(try await manager.cleanResyncGhosts(id: run.syncID).count == 0)
    try store.org.delete(ids[0])
    #expect(try await manager.cleanResyncGhosts(id: run.syncID).count == 1)
    #expect(try await store.column(field, of: Self.soup) == [#"c\d"#, "e"])
  }
}

@Suite struct RecordIDSetTests {
  @Test func `a number equals any text that a store makes of it`() {
    var listed = RecordIDSet()
    listed.insert(12_345_678)
    listed.insert("b")
    for text in ["12345678", "12345678.0", "1.2345678E7", "b"] { #expect(listed.contains(text)) }
    #expect(!listed.contains("12345679"))
    let held = RecordIDSet(["1.2345678E7", "0.5", "a", "b"])
    #expect(held.contains(12_345_678) && held.contains(0.5) && !held.contains(1))
    #expect(held.intersection(listed).count == 2)
    var rest = held
    rest.subtract(listed)
    #expect(rest.count == 2 && rest.contains("a") && rest.contains(0.5))
    // No query finds a number among texts.
    #expect(listed.subtracting(RecordIDSet()).slice(0, of: 9) == ["b"])
    rest.formUnion(listed)
    #expect(rest.count == 4 && rest.hasNumbers)
  }
}
