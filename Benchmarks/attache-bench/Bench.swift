import JSON
import SmartStore
import System

/// The program, which compares workloads with their floors: the same minimum of work without attache.
@main
enum Bench {
  static func main() {
    ProcessLimits.umask077()
    ProcessLimits.giveMemoryBack()
    Signals.ignorePipe()
    let words = Array(CommandLine.arguments.dropFirst())
    ProcessEnvironment.leave { await run(words) }
  }

  /// Runs the task that `words` name; returns the exit status.
  static func run(_ words: [String]) async -> Int32 {
    do {
      let options = try BenchOptions(words)
      switch options.task {
      case .help:
        ProcessEnvironment.write(1, BenchOptions.help)
        return 0
      case .bench: return try bench(options)
      case .queries: return try tell(QueryBench(options).measure(), options)
      case .reconcile: return try tell(await ReconcileBench(options).measure(), options)
      case .ingest: return try tell(await IngestBench(options).measure(), options)
      case .incremental: return try tell(RenewalBench(options).measure(), options)
      case .pack: return try tell(await PackBench(options).measure(), options)
      case .shapes: return try tell(ShapesBench(options).measure(), options)
      case .briefcase: return try tell(BriefcaseBench(options).measure(), options)
      case .fleet: return try tell(FleetBench(options).measure(), options)
      case .workers: return try tell(WorkersBench(options).measure(), options)
      case .divided: try await WorkersChild(options).run().print()
      case .packing: try await PackChild(options).pack().print()
      case .verifying: try PackChild(options).verify().print()
      case .sealing: try PackChild(options).seal().print()
      case .assigned: try await BriefcaseChild(options).run().print()
      case .renewal: try await RenewalChild(options).run().print()
      case .renewalFloor: try RenewalChild(options).floor().print()
      case .intake: try await IngestChild(options).ingest().print()
      case .intakeFloor: try IngestChild(options).floor().print()
      case .night: try await NightChild(options).run().print()
      case .org: try await OrgChild(options).run()
      case .prime: try await PrimeChild(options).run().print()
      case .single: try await PrimeChild(options, [.android]).run().print()
      case .fullText: try await PrimeChild(options, hasFullText: true).run().print()
      case .sync: try await SyncChild(options).run().print()
      case .sqlite: try SQLiteChild(options).run().print()
      case .c, .python: throw BenchFailure("this arm is a separate program: see Benchmarks/")
      case .download: try await DownloadChild(options).run().print()
      }
      return 0
    } catch {
      ProcessEnvironment.write(2, "attache-bench: \(error)\n")
      return error is BenchOptions.Failure ? 2 : 1
    }
  }

  /// Runs all workloads; returns 1 if one is slower or larger than its limit.
  private static func bench(_ options: BenchOptions) throws -> Int32 {
    let prime = try PrimeBench(options).measure()
    if !options.isJSON { ProcessEnvironment.write(1, prime.text + "\n") }
    let queries = try QueryBench(options).measure()
    let json: JSONValue = ["prime": prime.json, "queries": queries.json]
    try keep("prime", prime, options)
    try keep("queries", queries, options)
    ProcessEnvironment.write(1, options.isJSON ? json.text + "\n" : queries.text)
    return prime.failures.isEmpty && queries.failures.isEmpty ? 0 : 1
  }

  /// Stores the results, as JSON and as text, under the workload's name in `bench.json`; other
  /// workloads' results stay there.
  private static func keep(
    _ name: String, _ report: some BenchReport, _ options: BenchOptions
  ) throws {
    let path = options.directory + "/bench.json"
    var all: JSONObject = [:]
    if Files.exists(path) { all = try JSONValue(parsing: Files.read(path)).object ?? [:] }
    all[name] = [
      "measured": report.json, "text": .string(report.text), "options": JSONValue(options.words),
      "cores": JSONValue(Parallel.cores),
    ]
    try Files.makeDirectory(options.directory, intermediate: true)
    try DurableFile.write(JSONValue.object(all).bytes(pretty: true, sortedKeys: true), to: path)
  }

  /// Prints the results of one workload; returns 1 if a limit is exceeded.
  private static func tell(_ report: some BenchReport, _ options: BenchOptions) throws -> Int32 {
    try keep(options.task.rawValue, report, options)
    ProcessEnvironment.write(1, options.isJSON ? report.json.text + "\n" : report.text)
    return report.failures.isEmpty ? 0 : 1
  }
}
