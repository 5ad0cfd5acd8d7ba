import JSON
import Pipelines
import System

/// Reconciles a run in a separate process, and measures itself.
struct NightChild {
  /// The result.
  struct Night: Sendable {
    var wall = 0
    var peakKiB = 0
    var processor = 0
    var verdicts: [String: Int] = [:]

    var json: JSONValue {
      [
        "wallMilliseconds": JSONValue(wall), "peakKiB": JSONValue(peakKiB),
        "processorMilliseconds": JSONValue(processor),
        "verdicts": .object(
          verdicts.sorted { $0.key < $1.key }.reduce(into: [:]) { $0[$1.key] = JSONValue($1.value) }
        ),
      ]
    }

    func print() { ProcessEnvironment.write(1, json.text + "\n") }

    init() {}

    /// Reads the output of a child.
    init(parsing output: [UInt8]) throws {
      let value = try JSONValue(parsing: output)
      wall = Int(value["wallMilliseconds"]?.int ?? 0)
      peakKiB = Int(value["peakKiB"]?.int ?? 0)
      processor = Int(value["processorMilliseconds"]?.int ?? 0)
      for (name, count) in value["verdicts"]?.object ?? [:] { verdicts[name] = Int(count.int ?? 0) }
    }
  }

  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  func run() async throws -> Night {
    let variables = ProcessEnvironment.variables()
    let pipeline = try PipelineFile.read(
      path: options.directory + "/fleet.json", variables: variables)
    var run = RunOptions()
    run.stages = [.reconcile]
    let start = Clock.monotonicNanoseconds()
    let summary = try await PipelineRun.execute(
      pipeline, root: options.directory + "/snapshots", variables: variables, options: run,
      report: { _ in })
    var night = Night()
    night.wall = Measurement.milliseconds(since: start)
    night.peakKiB = ProcessLimits.highWaterKiB()
    let (user, system) = ProcessLimits.processorMilliseconds()
    night.processor = user + system
    for (verdict, count) in summary.verdicts { night.verdicts[verdict.rawValue] = count }
    return night
  }
}
