import Snapshots
import MobileSync
import SmartStore
import System

/// Primes both platforms' stores, or one, and measures itself.
struct PrimeChild {
  private let options: BenchOptions

  private let platforms: [Platform]
  private let hasFullText: Bool

  init(
    _ options: BenchOptions, _ platforms: [Platform] = Platform.allCases, hasFullText: Bool = false
  ) {
    self.options = options
    self.platforms = platforms
    self.hasFullText = hasFullText
  }

  func run() async throws -> Measurement {
    // Those of both platforms stay for `SQLiteChild`, until the next prime.
    let isSingle = platforms.count == 1
    let isAside = isSingle || hasFullText
    let directory = options.directory + (isAside ? "/aside" : "/stores")
    if Files.exists(directory) { try Files.remove(directory) }
    try Files.makeDirectory(directory, intermediate: true)
    defer { if isAside { try? Files.remove(directory) } }
    let session = try await Workload.session(options)
    let input = PrimeInput(
      stores: [Workload.store(in: directory, platforms, hasFullText: hasFullText)],
      now: session.serverDate ?? Clock.wallMilliseconds())
    let phases = Phases()
    var result = Measurement()
    result.arm = isSingle ? "one store" : hasFullText ? "full text" : "prime"
    let start = Clock.monotonicNanoseconds()
    let outcome = try await SnapshotPrime.run(
      input, session: session, thread: StoreThread(name: "store"), report: phases.note)
    result.end(start)
    result.records = outcome.soups.reduce(0) { $0 + $1.total }
    guard result.records == options.records else {
      throw BenchFailure("\(result.records) of \(options.records) records are in the stores")
    }
    let (pages, finish) = phases.times
    result.pages = Int((pages - start) / 1_000_000)
    result.indexes = Int((finish - pages) / 1_000_000)
    result.publishing = result.wall - result.pages - result.indexes
    return result
  }

  /// When the last page was written, and when the soup was done.
  private final class Phases: Sendable {
    private let state = Locked<(pages: UInt64, finish: UInt64)>((0, 0))

    @Sendable func note(_ event: SyncEvent) {
      let now = Clock.monotonicNanoseconds()
      switch event {
      case .started, .warning: break
      case .progressed: state.withLock { $0.pages = now }
      case .finished: state.withLock { $0.finish = now }
      }
    }

    var times: (pages: UInt64, finish: UInt64) { state.withLock { $0 } }
  }
}
