import Pipelines
import System

/// Performs a part of a run of a `WorkersBench` in a separate process.
struct WorkersChild {
  /// A run in one process, or what the processes of a divided run do.
  enum Part: String, Sendable {
    case whole, orders, first, second, collect
  }

  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  func run() async throws -> Measurement {
    var result = Measurement()
    result.arm = options.part.rawValue
    let start = Clock.monotonicNanoseconds()
    switch options.part {
    case .whole: result.records = try await records(.whole)
    case .orders: _ = try await records(.orders)
    case .first: try await work(0)
    case .second: try await work(1)
    case .collect: result.records = try await records(.collect)
    }
    result.end(start)
    return result
  }

  private var fleet: BenchFleet { WorkersBench.fleet(in: options.directory) }

  /// Returns the number of records in the stores.
  private func records(_ part: RunPart) async throws -> Int {
    let summary = try await fleet.run([.prime], part: part, ProcessEnvironment.variables())
    return summary.snapshots.flatMap(\.soups).reduce(0) { $0 + $1.total }
  }

  private func work(_ index: Int) async throws {
    guard let shard = Shard(index, of: WorkersBench.workers) else { return }
    let variables = ProcessEnvironment.variables()
    let summary = try await Worker.perform(
      PipelineFile.read(path: fleet.pipelineFile, variables: variables), variables: variables,
      options: Worker.Options(shard), report: { _ in })
    guard summary.exitStatus == .done else { throw BenchFailure(summary.text) }
  }
}
