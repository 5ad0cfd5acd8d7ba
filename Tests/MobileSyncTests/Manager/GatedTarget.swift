import MobileSync
import Synchronization
import System

/// Delays a fetch at a page until the test releases it.
actor PageGate {
  private var closedAt: Int?
  private var isReached = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var watching: [CheckedContinuation<Void, Never>] = []
  init(closedAt page: Int? = nil) { closedAt = page }

  func close(at page: Int) {
    closedAt = page
    isReached = false
  }

  func open() {
    closedAt = nil
    isReached = false
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  func reached() async {
    if isReached { return }
    await withCheckedContinuation { watching.append($0) }
  }

  func pass(_ page: Int) async {
    guard page == closedAt else { return }
    isReached = true
    for continuation in watching { continuation.resume() }
    watching = []
    await withCheckedContinuation { waiting.append($0) }
  }
}

/// A custom sync down of generated records, in pages that a gate can delay.
struct GatedTarget: CustomSyncDownTarget {
  static let className = "com.example.GatedTarget"
  static let start: Int64 = 1_600_000_000_000
  let prefix: String
  let count: Int
  let perPage: Int
  var isSortedByModification = true
  var perDate = 1
  /// Called with each page's number; throws to make the fetch fail.
  var onPage: @Sendable (Int) throws -> Void = { _ in }
  let gate: PageGate
  let since: Cursors

  final class Cursors: Sendable {
    private let state = Mutex<[Int64?]>([])
    var all: [Int64?] { state.withLock { $0 } }
    func add(_ since: Int64?) { state.withLock { $0.append(since) } }
  }

  init(prefix: String = "id", _ count: Int, perPage: Int = 1, gate: PageGate = PageGate()) {
    self.prefix = prefix
    self.count = count
    self.perPage = perPage
    self.gate = gate
    since = Cursors()
  }

  static func date(_ index: Int) -> Int64 { start + Int64(index) * 1000 }

  func fetch(since: Int64?, at place: String?, org: SyncOrg) async throws -> CustomPage {
    if place == nil { self.since.add(since) }
    let page = place.flatMap { Int($0) } ?? 0
    await gate.pass(page)
    try onPage(page)
    let all = (0..<count).filter { since == nil || Self.date($0 / perDate) > since ?? 0 }
    let some = all.dropFirst(page * perPage).prefix(perPage)
    let records = some.map { index in
      #"{"Id":"\#(prefix)_\#(index)","Name":"\#(prefix) \#(index)","#
        + #""LastModifiedDate":"\#(Dates.salesforce(Self.date(index / perDate)))"}"#
    }
    let isLast = (page + 1) * perPage >= all.count
    return CustomPage(records: records, totalSize: all.count, next: isLast ? nil : String(page + 1))
  }

  static func target(_ name: String = className) throws -> SyncTarget {
    .custom(try CustomTarget(androidImpl: name, json: #"{"extra":[1,2]}"#))
  }

  func targets(_ name: String = className) -> CustomTargets {
    var targets = CustomTargets()
    targets.add(name, syncDown: { _ in self })
    return targets
  }
}
