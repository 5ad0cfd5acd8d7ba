import MobileSync
import Salesforce
import SmartStore
import System
import TestSupport
import Testing

private final class ScriptedPages: SyncDownPages {
  /// The records of each page, by ID and date; nil fails there.
  var pages: [[(id: String, date: String)]?]
  var totalSize = 0
  var isSorted = true
  var cursorLimit: Int64?
  var remoteIDs: [RemoteIDs]?
  var deletions: [RemoteIDs]?
  /// Called before the page with this number.
  var before: (Int) async throws(SyncError) -> Void = { _ in }
  private var number = 0
  init(_ pages: [[(id: String, date: String)]?] = []) { self.pages = pages }

  nonisolated(nonsending) func next() async throws(SyncError) -> SyncPage? {
    number += 1
    try await before(number)
    guard number <= pages.count else { return nil }
    guard let records = pages[number - 1] else { throw SyncError(.org, "it broke off") }
    let texts = records.map { #"{"Id":"\#($0.id)","LastModifiedDate":"\#($0.date)"}"# }
    let part = SyncPage.Part(
      ScriptedTarget.place, bytes: Array("[\(texts.joined(separator: ","))]".utf8),
      container: .array)
    return SyncPage(parts: [part])
  }
}

private final class ScriptedTarget: SyncDownTarget, @unchecked Sendable {
  static let place = SyncDestination(
    soupName: ManagedStore.accounts, idPath: "Id", modificationPath: "LastModifiedDate")
  /// The results, in order; empty after the last one.
  var answers: [ScriptedPages]
  var remote: [RemoteIDs] = []
  var deleted: [RemoteIDs] = []
  var asked: [String] = []
  init(_ answers: [ScriptedPages]) { self.answers = answers }

  private func next() -> ScriptedPages { answers.isEmpty ? ScriptedPages() : answers.removeFirst() }

  nonisolated(nonsending) func pages(
    since: Int64?, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    asked.append(since.map { "since \($0)" } ?? "all")
    return next()
  }

  nonisolated(nonsending) func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let names = ids.values.flatMap { $0.slice(0, of: $0.count) }
    asked.append("among \(names.joined(separator: " "))")
    return next()
  }

  func destinations(soupName: String) -> [SyncDestination] { [Self.place] }

  nonisolated(nonsending) func remoteIDs(
    _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    asked.append("list")
    return remote
  }

  nonisolated(nonsending) func deletions(
    since: Int64, _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    asked.append("deleted since \(since)")
    return deleted
  }
}

/// A sink without earlier data: a cold prime.
private final class ColdSink: RecordSink {
  let stores: [Store] = []
  let isInitialLoad = true
  let mayHoldOrphans = false
  let latestModification: Int64? = nil
  func load(_ page: SyncPage, expected: (String) -> Int) throws(SyncError) -> Int { 0 }
  func finish() throws(SyncError) {}
  func end(after error: SyncError) -> Bool { true }
  func makeWritable() throws(SyncError) {}
}

/// A sink that cannot keep what it stored.
private final class FailingSink: RecordSink {
  let stores: [Store] = []
  let isInitialLoad = false
  let mayHoldOrphans = false
  private(set) var latestModification: Int64?
  private let date: Int64
  init(_ date: Int64) { self.date = date }
  func load(_ page: SyncPage, expected: (String) -> Int) throws(SyncError) -> Int {
    latestModification = date
    return 1
  }
  func finish() throws(SyncError) { throw SyncError(.store, "the disk is full") }
  func end(after error: SyncError) -> Bool { false }
  func makeWritable() throws(SyncError) {}
}

/// The engine's own rules: which requests a run sends, the cursor after it, and what is fetched
/// again.
@Suite struct SyncDownEngineTests {
  private static let soup = ManagedStore.accounts
  private static let early = "2024-01-31T12:00:00.000+0000"
  private static let late = "2024-01-31T13:00:00.000+0000"
  private static let earlyTime = Dates.milliseconds(iso8601: early) ?? 0
  private static let lateTime = Dates.milliseconds(iso8601: late) ?? 0
  private let directory = TemporaryDirectory("engine")
  private let store: Store
  init() throws { store = try ManagedStore.makeStore(directory.file("store.db"), .ios) }

  private static func id(_ number: Int) -> String {
    let digits = String(number)
    let short = "001" + String(repeating: "0", count: 12 - digits.count) + digits
    return short.recordID18 ?? short
  }

  private func put(_ id: String, dirty: Bool = false) throws {
    try store.upsert(
      [
        [
          "Id": .string(id), "__local__": .bool(dirty), "__locally_updated__": .bool(dirty),
          "__sync_id__": 7, "LastModifiedDate": .string(Self.early),
        ]
      ], into: Self.soup)
  }

  private func context(
    _ mode: MergeMode = .overwrite, refetch: [String] = [],
    login: @escaping @Sendable () async throws(Salesforce.OrgError) -> Session = {
      () async throws(Salesforce.OrgError) in
      throw Salesforce.OrgError(.configuration, message: "no org here", request: "login")
    }, shouldStop: @escaping () -> Bool = { false }
  ) -> SyncContext {
    var state = SyncState(
      type: .syncDown, name: nil, target: [:], options: [:], soupName: Self.soup)
    state.id = 7
    if !refetch.isEmpty { state.refetch = [Self.soup: refetch] }
    return SyncContext(
      state, options: SyncOptions(mergeMode: mode), settings: SyncSettings(), store: store,
      login: login, shouldStop: shouldStop)
  }

  /// Runs the script; a `mark` of nil is a first run.
  @discardableResult private func run(
    _ target: ScriptedTarget, _ context: SyncContext, mark: Int64? = nil, now: Int64? = .max,
    overlap: Int = 0, ghosts: SyncDownEngine.GhostStep = .left, cold: Bool = false
  ) async throws -> SyncDownEngine.Outcome {
    var request = SyncDownEngine.Request(
      cursor: SyncCursor(highWaterMark: mark, overlapSeconds: overlap))
    request.now = now
    request.ghosts = ghosts
    let sink: any RecordSink = cold ? ColdSink() : StoreSink(context, target)
    return try await SyncDownEngine(target, context, into: sink, request).run()
  }

  // MARK: Cursor

  @Test(arguments: [true, false])
  func `an interrupted run keeps the cursor of ordered pages`(_ isSorted: Bool) async throws {
    let pages = ScriptedPages([[(Self.id(1), Self.early)], nil])
    pages.isSorted = isSorted
    let context = context()
    await #expect(throws: SyncError.self) { try await run(ScriptedTarget([pages]), context) }
    #expect(context.state.maxTimeStamp == (isSorted ? Self.earlyTime : -1))
    #expect(try store.count(of: Self.soup) == 1)
  }

  @Test func `a run whose pages were not kept leaves the cursor unchanged`() async throws {
    let context = context()
    context.set { $0.maxTimeStamp = 5 }
    let target = ScriptedTarget([ScriptedPages([[(Self.id(1), Self.late)]])])
    let engine = SyncDownEngine(
      target, context, into: FailingSink(Self.lateTime),
      .init(cursor: SyncCursor(highWaterMark: 5, overlapSeconds: 0), now: .max))
    await #expect(throws: SyncError.self) { _ = try await engine.run() }
    #expect(context.state.maxTimeStamp == 5)
    #expect(engine.cursor.maxTimeStamp == 5)
  }

  @Test func `the cursor is the greatest date, not past the clock or limit`() async throws {
    func end(now: Int64 = .max, limit: Int64? = nil, mark: Int64? = nil) async throws -> Int64 {
      let pages = ScriptedPages([[(Self.id(1), Self.late)], [(Self.id(2), Self.early)]])
      pages.cursorLimit = limit
      let context = context()
      try await run(ScriptedTarget([pages]), context, mark: mark, now: now)
      return context.state.maxTimeStamp
    }
    #expect(try await end() == Self.lateTime)
    #expect(try await end(now: Self.earlyTime) == Self.earlyTime)
    #expect(try await end(limit: Self.earlyTime) == Self.earlyTime)
    #expect(try await end(mark: Self.lateTime + 9) == Self.lateTime + 9)
  }

  @Test(arguments: [
    // The org's time has whole seconds; a device's cursor includes the overlap.
    (Int64(999), 0, false), (1000, 0, true), (300_999, 300, false), (301_000, 300, true),
    (-5000, 0, false),
  ])
  func `a cursor in the org's future causes a full read`(
    _ ahead: Int64, _ overlap: Int, _ readsAll: Bool
  ) async throws {
    let org = try SyncedOrg()
    let session = try await org.session()
    _ = try await session.describe("Account")
    let clock = try #require(session.serverDate)
    let target = ScriptedTarget([])
    let context = context(login: { () async throws(Salesforce.OrgError) in session })
    try await run(target, context, mark: clock + ahead, now: nil, overlap: overlap)
    let since = clock + ahead - Int64(overlap) * 1000
    #expect(target.asked == [readsAll ? "all" : "since \(since)"])
    #expect(context.report.warnings.isEmpty == !readsAll)
  }

  @Test func `a clock that was set back is noticed with the first response`() async throws {
    let org = try SyncedOrg()
    let session = try await org.session()
    _ = try await session.describe("Account")
    let clock = try #require(session.serverDate)
    let first = ScriptedPages([[(Self.id(1), Self.early)]])
    first.before = { (_) async throws(SyncError) in
      do {
        try org.org.setClock(clock - 60_000)
        _ = try await session.describe("Contact")
      } catch { throw SyncError(.org, "\(error)") }
    }
    let target = ScriptedTarget([first, ScriptedPages([[(Self.id(2), Self.early)]])])
    let context = context(login: { () async throws(Salesforce.OrgError) in session })
    try await run(target, context, mark: clock, now: nil)
    #expect(target.asked == ["since \(clock)", "all"])
    #expect(try store.count(of: Self.soup) == 1)
  }

  // MARK: Records to fetch again

  @Test func `listed records are fetched in addition to the changes, once`() async throws {
    let main = ScriptedPages([[(Self.id(1), Self.early)]])
    main.totalSize = 1
    let extra = ScriptedPages([[(Self.id(2), Self.early), (Self.id(3), Self.early)]])
    extra.totalSize = 2
    let target = ScriptedTarget([main, extra])
    let context = context(refetch: [Self.id(2), Self.id(3)])
    try await run(target, context, mark: 5)
    #expect(target.asked == ["since 5", "among \(Self.id(2)) \(Self.id(3))"])
    #expect(context.state.refetch.isEmpty)
    #expect(context.state.totalSize == 1)
    #expect(try store.count(of: Self.soup) == 3)
  }

  @Test func `a run that reads everything needs no list`() async throws {
    let target = ScriptedTarget([])
    let context = context(refetch: [Self.id(2)])
    try await run(target, context)
    #expect(target.asked == ["all"])
    #expect(context.state.refetch.isEmpty)
  }

  @Test(arguments: [MergeMode.leaveIfChanged, .overwrite])
  func `records still changed locally stay listed if skipped`(_ mode: MergeMode) async throws {
    try put(Self.id(2), dirty: true)
    try put(Self.id(3))
    let target = ScriptedTarget([])
    let context = context(mode, refetch: [Self.id(2), Self.id(3)])
    try await run(target, context, mark: 5)
    let isLeft = mode == .leaveIfChanged
    let ids = isLeft ? [Self.id(3)] : [Self.id(2), Self.id(3)]
    #expect(target.asked == ["since 5", "among \(ids.joined(separator: " "))"])
    #expect(context.state.refetch == (isLeft ? [Self.soup: [Self.id(2)]] : [:]))
  }

  @Test func `skipped records are listed, also if the run is interrupted`() async throws {
    try put(Self.id(1), dirty: true)
    let pages = ScriptedPages([[(Self.id(1), Self.late)], nil])
    let context = context(.leaveIfChanged, refetch: [Self.id(9)])
    context.leftTrees = [Self.soup: [Self.id(4)]]
    await #expect(throws: SyncError.self) {
      try await run(ScriptedTarget([pages]), context, mark: 5)
    }
    #expect(context.state.refetch == [Self.soup: [Self.id(1), Self.id(4), Self.id(9)]])
  }

  @Test func `a skipped tree is listed`() async throws {
    let context = context(.leaveIfChanged)
    context.leftTrees = [Self.soup: [Self.id(4)]]
    try await run(ScriptedTarget([]), context, mark: 5)
    #expect(context.state.refetch == [Self.soup: [Self.id(4)]])
  }

  @Test(arguments: [(2000, 2000), (2001, 0)])
  func `if the list is too long everything is read`(_ left: Int, _ listed: Int) async throws {
    let context = context(.leaveIfChanged)
    context.report.skipped[Self.soup] = (0..<left).map(Self.id)
    try await run(ScriptedTarget([]), context, mark: 5)
    #expect(context.state.refetch[Self.soup, default: []].count == listed)
    #expect(context.state.maxTimeStamp == (listed == 0 ? -1 : 5))
  }

  // MARK: Stopping

  @Test func `a page that arrives after the stop is not stored`() async throws {
    let isStopped = Locked(false)
    let pages = ScriptedPages([[(Self.id(1), Self.early)], [(Self.id(2), Self.late)]])
    pages.before = { (number) async throws(SyncError) in
      if number == 2 { isStopped.withLock { $0 = true } }
    }
    let context = context(shouldStop: { isStopped.withLock { $0 } })
    let error = await #expect(throws: SyncError.self) {
      try await run(ScriptedTarget([pages]), context)
    }
    #expect(error?.code == .stopped)
    #expect(try store.count(of: Self.soup) == 1)
    #expect(context.state.maxTimeStamp == Self.earlyTime)
  }

  @Test func `after a stop no more pages are requested`() async throws {
    let isStopped = Locked(false)
    let pages = ScriptedPages([[(Self.id(1), Self.early)]])
    var last = 0
    pages.before = { (number) async throws(SyncError) in last = number }
    let target = ScriptedTarget([pages])
    let context = context(shouldStop: { isStopped.withLock { $0 } })
    context.set { _ in isStopped.withLock { $0 = true } }
    let error = await #expect(throws: SyncError.self) { try await run(target, context) }
    #expect(error?.code == .stopped)
    #expect(last == 1)
  }

  // MARK: Ghosts

  private func remote(_ ids: [Int]?, asked: [Int]? = nil) -> RemoteIDs {
    RemoteIDs(
      soupName: Self.soup, idPath: "Id", ids: ids.map { RecordIDSet($0.map(Self.id)) },
      asked: asked.map { RecordIDSet($0.map(Self.id)) })
  }

  @Test func `a list of all IDs removes records it lacks, and fetches new ones`() async throws {
    try put(Self.id(1))
    try put(Self.id(2))
    try put(Self.id(3), dirty: true)
    let target = ScriptedTarget([])
    target.remote = [remote([1, 8])]
    let outcome = try await run(target, context(), mark: 5, ghosts: .listed)
    #expect(target.asked == ["since 5", "list", "among \(Self.id(8))"])
    #expect(try store.count(of: Self.soup) == 2)
    #expect(outcome.isListed)
    #expect(outcome.isClean)
  }

  @Test func `a list of some ids affects no others`() async throws {
    try put(Self.id(1))
    try put(Self.id(2))
    let target = ScriptedTarget([])
    target.remote = [remote([8], asked: [1])]
    try await run(target, context(), mark: 5, ghosts: .listed)
    #expect(target.asked == ["since 5", "list", "deleted since 5"])
    #expect(try store.elements(in: Self.soup, where: "Id", is: Self.id(2)).count == 1)
    #expect(try store.count(of: Self.soup) == 1)
  }

  @Test func `deletions are requested from the cursor on`() async throws {
    try put(Self.id(1))
    try put(Self.id(2))
    let target = ScriptedTarget([])
    target.deleted = [.deleted(RecordIDSet([Self.id(2)]), in: ScriptedTarget.place)]
    let outcome = try await run(target, context(), mark: 5, ghosts: .deleted)
    #expect(target.asked == ["since 5", "deleted since 5"])
    #expect(try store.count(of: Self.soup) == 1)
    #expect(!outcome.isListed)
  }

  @Test func `an unknown list removes nothing, and does not count as clean`() async throws {
    try put(Self.id(1))
    let target = ScriptedTarget([])
    target.remote = [remote(nil)]
    let outcome = try await run(target, context(), mark: 5, ghosts: .listed)
    #expect(try store.count(of: Self.soup) == 1)
    #expect(!outcome.isClean)
    #expect(!outcome.isListed)
  }

  @Test func `a first load is clean unless its records are unknown`() async throws {
    func isClean(_ told: [RemoteIDs]?) async throws -> Bool {
      let pages = ScriptedPages()
      pages.remoteIDs = told
      return try await run(ScriptedTarget([pages]), context(), ghosts: .listed, cold: true).isClean
    }
    #expect(try await isClean(nil))
    #expect(try await isClean([remote([1])]))
    #expect(try await !isClean([remote([1]), remote(nil)]))
  }

  @Test(arguments: [(20, true), (19, false)])
  func `the guard's percentage is per soup`(_ percent: Int, _ isAllowed: Bool) throws {
    for number in 1...10 { try put(Self.id(number)) }
    let context = context()
    let policy = DeletionGuard(maxDeletesPercent: percent, minimumDeletes: 0)
    let cleaner = GhostCleaner(
      sink: StoreSink(context, ScriptedTarget([])), guardLimits: policy, syncID: 7)
    let ghosts = try #require(try cleaner.find([remote(Array(1...8))]).first)
    #expect(ghosts.count == 2)
    #expect(ghosts.total == 10)
    #expect(ghosts.isAllowed == isAllowed)
  }
}
