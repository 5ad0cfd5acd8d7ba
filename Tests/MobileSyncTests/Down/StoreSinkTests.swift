import MobileSync
import Salesforce
import System
import TestSupport
import Testing

@Suite struct StoreSinkTests {
  private static let date = "2024-01-31T12:34:56.000+0000"
  private let directory = TemporaryDirectory("load")

  private struct NoTarget: SyncDownTarget {
    nonisolated(nonsending) func pages(
      since: Int64?, _ context: SyncContext
    ) async throws(SyncError) -> any SyncDownPages { throw SyncError(.definition, "none") }
    func destinations(soupName: String) -> [SyncDestination] {
      [ManagedStore.accounts, ManagedStore.contacts].map {
        SyncDestination(soupName: $0, idPath: "Id", modificationPath: "LastModifiedDate")
      }
    }
    nonisolated(nonsending) func remoteIDs(
      _ context: SyncContext
    ) async throws(SyncError) -> [RemoteIDs] { [] }
  }

  private func cursor(_ sink: StoreSink, after stamp: Int64, overlap: Int = 0) -> Int64 {
    var cursor = SyncCursor(maxTimeStamp: stamp, overlapSeconds: overlap)
    cursor.advance(to: sink.latestModification)
    return cursor.maxTimeStamp
  }

  private func context(overlap: Int = 0, isDisposable: Bool = false) throws -> SyncContext {
    var state = SyncState(
      type: .syncDown, name: nil, target: [:], options: [:], soupName: ManagedStore.accounts)
    state.id = 7
    return SyncContext(
      state, options: SyncOptions(), settings: SyncSettings(overlapSeconds: overlap),
      store: try ManagedStore.makeStore(
        directory.file("store.db"), .android, isDisposable: isDisposable)
    ) { () async throws(Salesforce.OrgError) in
      throw Salesforce.OrgError(.configuration, message: "no org here", request: "login")
    }
  }

  private func page(_ soups: (String, String)...) -> SyncPage {
    SyncPage(
      parts: soups.map { soup, records in
        SyncPage.Part(
          SyncDestination(soupName: soup, idPath: "Id", modificationPath: "LastModifiedDate"),
          bytes: Array("[\(records)]".utf8), container: .array)
      })
  }

  private static func record(_ id: String, _ date: String?) -> String {
    let member = date.map { #","LastModifiedDate":"\#($0)""# } ?? ""
    return #"{"Id":"\#(id)"\#(member)}"#
  }

  @Test(arguments: ["nowhere", "contacts"], [false, true])
  func `the parts of a page are stored together or not at all`(
    _ second: String, _ isDisposable: Bool
  ) throws {
    let context = try context(isDisposable: isDisposable)
    let sink = StoreSink(context, NoTarget())
    // The second part has no soup, or a record without an ID.
    let page = page(
      (ManagedStore.accounts, Self.record("001X", Self.date)), (second, #"{"Name":"x"}"#))
    let error = #expect(throws: SyncError.self) { _ = try sink.load(page, expected: { _ in 0 }) }
    #expect(error?.message.contains(second) == true)
    #expect(try context.store.count(of: ManagedStore.accounts) == 0)
    let good = self.page(
      (ManagedStore.accounts, Self.record("001A", Self.date)),
      (ManagedStore.contacts, Self.record("003A", nil)))
    #expect(try sink.load(good, expected: { _ in 0 }) == 2)
    // Finished pages are not in the soups until the load ends.
    if isDisposable { try sink.finish() }
    #expect(try context.store.count(of: ManagedStore.accounts) == 1)
    #expect(try context.store.count(of: ManagedStore.contacts) == 1)
  }

  @Test func `a record without a date neither advances nor lowers the cursor`() throws {
    let context = try context()
    let sink = StoreSink(context, NoTarget())
    func store(_ records: String...) throws -> Int64 {
      _ = try sink.load(
        page((ManagedStore.accounts, records.joined(separator: ","))), expected: { _ in 0 })
      return cursor(sink, after: -1)
    }
    let date = try #require(Dates.milliseconds(iso8601: Self.date))
    #expect(try store(Self.record("001A", nil)) == -1)
    #expect(try store(Self.record("001B", Self.date), Self.record("001C", nil)) == date)
    #expect(try store(Self.record("001D", nil)) == date)
    #expect(try store(Self.record("001E", "2023-01-31T12:34:56.000+0000")) == date)
    #expect(cursor(sink, after: date + 5) == date + 5)
  }

  @Test func `the cursor is an overlap before the last record, but never none`() throws {
    let context = try context(overlap: 300)
    let sink = StoreSink(context, NoTarget())
    let date = try #require(Dates.milliseconds(iso8601: Self.date))
    _ = try sink.load(
      page((ManagedStore.accounts, Self.record("001A", Self.date))), expected: { _ in 0 })
    #expect(cursor(sink, after: -1, overlap: 300) == date - 300_000)
    try sink.finish()
    let early = StoreSink(context, NoTarget())
    _ = try early.load(
      page((ManagedStore.accounts, Self.record("001A", "1970-01-01T00:01:00.000Z"))),
      expected: { _ in 0 })
    #expect(cursor(early, after: -1, overlap: 300) == 1)
  }

  @Test func `an element is replaced as a whole, with clean flags and without its error`() throws {
    let context = try context()
    let store = context.store
    try store.upsert(
      [
        [
          "Id": "001A", "Mine": 1, "__local__": true, "__locally_deleted__": true,
          "__last_error__": "no", "__sync_id__": 3,
        ]
      ], into: ManagedStore.accounts)
    let sink = StoreSink(context, NoTarget())
    _ = try sink.load(
      page((ManagedStore.accounts, Self.record("001A", Self.date))), expected: { _ in 0 })
    let element = try #require(
      try store.elements(in: ManagedStore.accounts, where: "Id", is: "001A").first?.object)
    #expect(element["Mine"] == nil)
    #expect(element["__last_error__"] == nil)
    #expect(element["__local__"] == false)
    #expect(element["__locally_deleted__"] == false)
    #expect(element["__sync_id__"] == 7)
    #expect(context.report.overwritten == [ManagedStore.accounts: ["001A"]])
  }

  @Test(arguments: [nil, Int64(5)])
  func `the overlap's record keeps its edit, a full run overwrites it`(_ seenUntil: Int64?) throws {
    let context = try context()
    context.seenUntil = seenUntil
    try context.store.upsert(
      [["Id": "001A", "Mine": 1, "LastModifiedDate": .string(Self.date), "__local__": true]],
      into: ManagedStore.accounts)
    let sink = StoreSink(context, NoTarget())
    _ = try sink.load(
      page((ManagedStore.accounts, Self.record("001A", Self.date))), expected: { _ in 0 })
    let element = try #require(
      try context.store.elements(in: ManagedStore.accounts, where: "Id", is: "001A").first)
    #expect((element["Mine"] == nil) == (seenUntil == nil))
    #expect(context.report.overwritten.isEmpty == (seenUntil != nil))
  }

  @Test(arguments: [nil, Int64(5)])
  func `only a first run into empty soups is a single transaction`(_ seenUntil: Int64?) throws {
    let context = try context()
    context.seenUntil = seenUntil
    let sink = StoreSink(context, NoTarget())
    _ = try sink.load(
      page((ManagedStore.accounts, Self.record("001A", Self.date))), expected: { _ in 0 })
    #expect(sink.isInitialLoad == (seenUntil == nil))
    try sink.finish()
    #expect(!sink.isInitialLoad)
    #expect(try context.store.count(of: ManagedStore.accounts) == 1)
  }

  @Test func `a part for another platform is not stored`() throws {
    let context = try context()
    let sink = StoreSink(context, NoTarget())
    var page = page(
      (ManagedStore.accounts, Self.record("001A", Self.date)),
      (ManagedStore.contacts, Self.record("003A", Self.date)))
    page.parts[0].platform = .ios
    page.parts[1].platform = .android
    #expect(try sink.load(page, expected: { _ in 0 }) == 1)
    try sink.finish()
    #expect(try context.store.count(of: ManagedStore.accounts) == 0)
    #expect(try context.store.count(of: ManagedStore.contacts) == 1)
  }
}
