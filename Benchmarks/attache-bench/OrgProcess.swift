import System

/// The org of a workload, served from a separate process (`OrgChild`).
struct OrgProcess {
  let url: String
  let token: String
  private let options: BenchOptions
  private let process: RunningProcess
  /// The arguments that its children need.
  private let words: [String]

  /// Starts it and waits until it serves.
  init(_ kind: Workload.Kind, records: Int, _ options: BenchOptions) throws {
    self.options = options
    words = [
      "--workload", kind.rawValue, "--records", "\(records)", "--directory", options.directory,
    ]
    options.note("\(records) records: starting the org; its pages are created the first time")
    process = try ChildProcess.start(
      ProcessEnvironment.executablePath(),
      ["org"] + words + ["--parent", "\(ProcessEnvironment.processID())"]
        + (options.isLive ? ["--live"] : []), environment: ProcessEnvironment.variables())
    let said = process.readLine()?.split(separator: " ").map(String.init) ?? []
    guard said.count == 2 else { throw BenchFailure("the org does not serve") }
    (url, token) = (said[0], said[1])
  }

  /// Runs a task on its records in a separate process, and returns its output.
  func run(_ task: BenchOptions.Task, _ arguments: [String] = []) throws -> [UInt8] {
    try BenchChild.run(
      task, words + ["--url", url] + arguments, variables: [BenchOptions.tokenVariable: token])
  }

  /// Ends it.
  func stop() {
    process.terminate()
    process.wait()
  }
}
