import System

/// A program of `Benchmarks/` that does an arm's work with the libraries alone.
///
/// It is looked for in the working directory, and compiled here.
struct FloorProgram {
  private let name: String
  private let path: String

  /// The directory of the programs.
  static var sources: String { ProcessEnvironment.currentDirectory() + "/Benchmarks" }

  /// Compiles a program.
  init(_ name: String, libraries: [String], in directory: String) throws {
    self.name = name
    path = "\(directory)/\(name)"
    if !Files.exists(directory) { try Files.makeDirectory(directory, intermediate: true) }
    let source = "\(Self.sources)/\(name).c"
    let result = try ChildProcess.run(
      "/usr/bin/cc",
      ["-O3", "-Wall", "-Wextra", "-Werror", source, "-o", path] + libraries.map { "-l" + $0 },
      environment: ProcessEnvironment.variables(), deadlineSeconds: 120)
    guard result.status == 0 else {
      throw BenchFailure("\(source): " + String(decoding: result.error, as: UTF8.self))
    }
  }

  /// Runs it to its end.
  func run(_ words: [String]) throws -> Measurement {
    try Self.run(path, words, named: name)
  }

  /// Runs any program that prints a measurement.
  static func run(_ path: String, _ words: [String], named name: String) throws -> Measurement {
    let result = try ChildProcess.run(
      path, words, environment: ProcessEnvironment.variables(), deadlineSeconds: 900)
    guard result.status == 0 else {
      throw BenchFailure(
        "\(name) ended with \(result.status): " + String(decoding: result.error, as: UTF8.self))
    }
    return try Measurement(parsing: result.output)
  }
}
