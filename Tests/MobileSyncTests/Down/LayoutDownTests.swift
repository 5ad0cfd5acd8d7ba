import MobileSync
import SmartStore
import Testing

@Suite struct LayoutDownTests {
  static func store(_ platform: Platform = .ios) async throws -> ManagedStore {
    try await ManagedStore(platform) { store in
      for soup in [LayoutTarget.soupName, MetadataTarget.soupName] {
        try store.registerSoup(soup, indexSpecs: [IndexSpec(path: "Id", type: .json1)])
      }
    }
  }

  // SDK: testSyncDownForMetadataTarget (4)
  @Test(arguments: Platform.allCases)
  func `a description is one element whose id is the type`(_ platform: Platform) async throws {
    let store = try await Self.store(platform)
    let run = try await store.manager.syncDown(
      target: .metadata(MetadataTarget(sobjectType: "Account")), soupName: MetadataTarget.soupName)
    #expect(await run.story == ["RUNNING 0/-1", "RUNNING 0/1", "DONE 100/1"])
    let elements = try await store.elements(MetadataTarget.soupName)
    #expect(elements.count == 1)
    let element = try #require(elements.first)
    #expect(element["Id"] == "Account")
    #expect(element["keyPrefix"] == "001")
    #expect(element["label"] == "Account")
    #expect(element["fields"]?.array?.isEmpty == false)
    #expect(await run.lastState.maxTimeStamp == -1)
  }

  // SDK: testSyncDownForLayoutTarget (5)
  @Test(arguments: Platform.allCases)
  func `a layout is one element whose id has its parameters`(_ platform: Platform) async throws {
    let store = try await Self.store(platform)
    let target = LayoutTarget(
      sobjectType: "Account", formFactor: .medium, layoutType: .compact, mode: .edit)
    let run = try await store.manager.syncDown(
      target: .layout(target), soupName: LayoutTarget.soupName)
    #expect(await run.story == ["RUNNING 0/-1", "RUNNING 0/1", "DONE 100/1"])
    let elements = try await store.elements(LayoutTarget.soupName)
    #expect(elements.count == 1)
    let element = try #require(elements.first)
    #expect(element["layoutType"] == "Compact")
    #expect(element["mode"] == "Edit")
    let nothing = platform == .ios ? "(null)" : "null"
    #expect(element["Id"]?.string == "Account-Medium-Compact-Edit-\(nothing)")
  }

  @Test(arguments: Platform.allCases)
  func `they are never ghosts, and a rerun writes nothing`(_ platform: Platform) async throws {
    let store = try await Self.store(platform)
    for (target, soup) in [
      (
        SyncTarget.layout(LayoutTarget(sobjectType: "Account", layoutType: .full)),
        LayoutTarget.soupName
      ),
      (.metadata(MetadataTarget(sobjectType: "Account")), MetadataTarget.soupName),
    ] {
      let run = try await store.manager.syncDown(target: target, soupName: soup).finished()
      #expect(try await store.manager.cleanResyncGhosts(id: run.syncID).count == 0)
      let again = try await store.manager.reSync(id: run.syncID).finish()
      #expect(again.unchanged == 1)
      #expect(again.written == 0)
      #expect(try await store.elements(soup).count == 1)
    }
  }

  @Test func `an unknown type fails the sync`() async throws {
    let store = try await Self.store()
    for (target, soup) in [
      (
        SyncTarget.layout(LayoutTarget(sobjectType: "Nothing__c", layoutType: .full)),
        LayoutTarget.soupName
      ),
      (.metadata(MetadataTarget(sobjectType: "Nothing__c")), MetadataTarget.soupName),
    ] {
      let run = try await store.manager.syncDown(target: target, soupName: soup)
      await #expect(throws: SyncError.self) { try await run.finish() }
      #expect(await run.lastState.status == .failed)
    }
  }

  @Test(arguments: [
    ("{}", #"[{"Id":"a\"b"}]"#), ("{ }", #"[{ "Id":"a\"b"}]"#),
    (#" {"a":{"b":1}} "#, #"[ {"a":{"b":1},"Id":"a\"b"}]"#),
  ])
  func `only the id turns a response into an element`(_ answer: String, _ element: String) {
    let bytes = AnswerElement.bytes(Array(answer.utf8), id: "a\"b")
    #expect(String(decoding: bytes, as: UTF8.self) == element)
  }
}
