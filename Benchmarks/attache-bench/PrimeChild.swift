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
    let workload = try Workload(options.workload, records: options.records)
    // The stores of both platforms are kept for `SQLiteChild` until the next prime.
    let isSingle = platforms.count == 1
    let isAside = isSingle || hasFullText
    let directory = options.directory + (isAside ? "/aside" : "/stores")
    if Files.exists(directory) { try Files.remove(directory) }
    try Files.makeDirectory(directory, intermediate: true)
    defer { if isAside { try? Files.remove(directory) } }
    let session = try await Workload.session(options)
    var input = PrimeInput(
      stores: [workload.store(in: directory, platforms, hasFullText: hasFullText)],
      now: session.serverDate ?? Clock.wallMilliseconds())
    if options.isByStatements { input.method = .statements }
    let phases = Phases()
    var result = Measurement()
    result.arm = isSingle ? "one store" : hasFullText ? "full text" : "prime"
    let start = Clock.monotonicNanoseconds()
    let outcome = try await SnapshotPrime.run(
      input, session: session, thread: StoreThread(name: "store"), report: phases.note)
    result.end(start)
    for part in workload.parts {
      let total = outcome.soups.first { $0.soup == part.shape.soup }?.total ?? 0
      guard total == part.records else {
        throw BenchFailure(
          "\(total) of \(part.records) records are in the soup \(part.shape.soup)")
      }
      result.records += total
    }
    // If there are several soups, each has its own.
    guard workload.parts.count == 1 else { return result }
    let (pages, finish) = phases.times
    result.pages = Int((pages - start) / 1_000_000)
    result.indexes = Int((finish - pages) / 1_000_000)
    result.publishing = result.wall - result.pages - result.indexes
    return result
  }

  /// The times at which the last page was written and the soup was done.
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
