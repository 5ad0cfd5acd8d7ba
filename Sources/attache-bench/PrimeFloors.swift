import HTTP
import Salesforce
import System

/// What others take for one store of the same pages: a C program through SQLite's API, and a Python script.
///
/// Both stand under `Benchmarks/`, which is looked for in the working directory; the program is compiled here.
struct PrimeFloors {
  private let options: BenchOptions
  private let sources: String
  private let program: String

  /// Compiles the C program.
  init(_ options: BenchOptions) throws {
    self.options = options
    sources = ProcessEnvironment.currentDirectory() + "/Benchmarks"
    program = options.directory + "/prime_sqlite"
    let result = try ChildProcess.run(
      "/usr/bin/cc",
      [
        "-O3", "-Wall", "-Wextra", "-Werror", sources + "/prime_sqlite.c", "-o", program, "-lcurl",
        "-lsqlite3", "-lpthread",
      ], environment: ProcessEnvironment.variables(), deadlineSeconds: 120)
    guard result.status == 0 else {
      throw BenchFailure(
        "\(sources)/prime_sqlite.c: " + String(decoding: result.error, as: UTF8.self))
    }
  }

  /// Runs an arm; nil where it is none of these.
  func run(_ arm: BenchOptions.Task, url: String, token: String) throws -> Measurement? {
    let store = options.directory + "/floor.db"
    defer { try? Files.remove(store) }
    let words = [
      try Self.address(url), token, store, "\(Clock.wallMilliseconds())",
    ]
    let result: ChildProcess.Result
    switch arm {
    case .c: result = try run(program, words)
    case .python: result = try run("/usr/bin/python3", [sources + "/prime_sqlite.py"] + words)
    default: return nil
    }
    guard result.status == 0 else {
      throw BenchFailure(
        "\(arm.rawValue) ended with \(result.status): "
          + String(decoding: result.error, as: UTF8.self))
    }
    return try Measurement(parsing: result.output)
  }

  private func run(_ program: String, _ words: [String]) throws -> ChildProcess.Result {
    try ChildProcess.run(
      program, words, environment: ProcessEnvironment.variables(), deadlineSeconds: 900)
  }

  /// The address of the first page.
  private static func address(_ url: String) throws -> String {
    let query = HTTPQuery.encode(try Workload.statement())
    return "\(url)/services/data/v\(APIVersion.newestKnown)/query?q=\(query)"
  }
}
