import System

/// The program: workloads beside their floors.
@main
enum Main {
  nonisolated static func main() async {
    ProcessLimits.umask077()
    Signals.ignorePipe()
    let words = Array(CommandLine.arguments.dropFirst())
    ProcessEnvironment.exit(await run(words))
  }

  /// Runs what `words` ask for; the exit status.
  nonisolated static func run(_ words: [String]) async -> Int32 {
    do {
      let options = try BenchOptions(words)
      switch options.task {
      case .help:
        ProcessEnvironment.write(1, BenchOptions.help)
        return 0
      case .bench: return try PrimeBench(options).run()
      case .org: try await OrgChild(options).run()
      case .prime: try await PrimeChild(options).run().print()
      case .sqlite: try SQLiteChild(options).run().print()
      case .download: try await DownloadChild(options).run().print()
      }
      return 0
    } catch {
      ProcessEnvironment.write(2, "attache-bench: \(error)\n")
      return error is BenchOptions.Failure ? 2 : 1
    }
  }
}
