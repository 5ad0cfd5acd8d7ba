import System

/// A task of the benchmark in a separate process, so that its peak memory is its own.
enum BenchChild {
  /// Runs a task to its end, and returns its output.
  static func run(
    _ task: BenchOptions.Task, _ arguments: [String], variables: [String: String] = [:],
    deadlineSeconds: Int = 900
  ) throws -> [UInt8] {
    let result = try ChildProcess.run(
      ProcessEnvironment.executablePath(), [task.rawValue] + arguments,
      environment: ProcessEnvironment.variables().merging(variables) { $1 },
      deadlineSeconds: deadlineSeconds)
    guard result.status == 0 else {
      throw BenchFailure(
        "\(task.rawValue) ended with \(result.status): "
          + String(decoding: result.error, as: UTF8.self))
    }
    return result.output
  }
}
