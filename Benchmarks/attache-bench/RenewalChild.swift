import Crypto
import Snapshots
import System

/// Primes the changes for the user of a `RenewalFleet` in a separate process, as a run does.
struct RenewalChild {
  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  func run() async throws -> Measurement {
    var result = Measurement()
    result.arm = "renewal"
    let start = Clock.monotonicNanoseconds()
    let summary = try await RenewalFleet.fleet(in: options.directory).run(
      [.prime], ProcessEnvironment.variables())
    result.end(start)
    result.records = summary.snapshots.flatMap(\.soups).reduce(0) { $0 + $1.written }
    return result
  }

  /// The minimum work of a run with any change: the files of the newest generation are copied, and
  /// its stores hashed.
  func floor() throws -> Measurement {
    let data = RenewalFleet.fleet(in: options.directory).data
    guard let user = try data.snapshots().first, let newest = try data.generations(of: user).last
    else { throw BenchFailure("nothing was primed") }
    let stores = try SnapshotDirectory(path: data.snapshot(user)).record(of: newest).stores.map {
      "\(data.generation(newest, of: user))/\($0.platform.rawValue)/\($0.entry.path)"
    }
    var result = Measurement()
    result.arm = "floor"
    let copy = options.directory + "/copy"
    let start = Clock.monotonicNanoseconds()
    for file in stores + [data.issued(newest, of: user)] {
      try Files.copy(file, to: copy, forgettingSource: true)
      if stores.contains(file) { _ = try Digest.sha256Hex(file: copy) }
      try Files.remove(copy)
    }
    result.end(start)
    return result
  }
}
