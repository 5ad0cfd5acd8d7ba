import HTTP
import Salesforce
import System

/// The floors for one store of the same pages: a C program that uses SQLite's API, and a Python
/// script.
struct PrimeFloors {
  private let options: BenchOptions
  private let program: FloorProgram

  /// Compiles the C program.
  init(_ options: BenchOptions) throws {
    self.options = options
    program = try FloorProgram(
      "prime_sqlite", libraries: ["curl", "sqlite3", "pthread"], in: options.directory)
  }

  /// Runs an arm; nil if it is not one of these.
  func run(_ arm: BenchOptions.Task, url: String, token: String) throws -> Measurement? {
    let store = options.directory + "/floor.db"
    defer { try? Files.remove(store) }
    let words = [
      try Self.address(url), token, store, "\(Clock.wallMilliseconds())",
    ]
    switch arm {
    case .c: return try program.run(words)
    case .python:
      let script = FloorProgram.sources + "/prime_sqlite.py"
      return try FloorProgram.run("/usr/bin/python3", [script] + words, named: arm.rawValue)
    default: return nil
    }
  }

  /// The address of the first page.
  private static func address(_ url: String) throws -> String {
    let query = HTTPQuery.encode(try ObjectShape.contact.statement())
    return "\(url)/services/data/v\(APIVersion.newestKnown)/query?q=\(query)"
  }
}
