import Pipelines
import System

/// Primes what changed for the user of a `RenewalFleet`, in a process of its own, as a night does it.
struct RenewalChild {
  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  func run() async throws -> Measurement {
    let variables = ProcessEnvironment.variables()
    let pipeline = try PipelineFile.read(
      path: RenewalFleet.pipelineFile(in: options.directory), variables: variables)
    var run = RunOptions()
    run.stages = [.prime]
    var result = Measurement()
    result.arm = "renewal"
    let start = Clock.monotonicNanoseconds()
    let summary = try await PipelineRun.execute(
      pipeline, root: RenewalFleet.root(in: options.directory), variables: variables,
      options: run, report: { _ in })
    result.end(start)
    result.records = summary.snapshots.flatMap(\.soups).reduce(0) { $0 + $1.written }
    return result
  }
}
