import Arguments
import Pipelines
import System

/// The options that several commands share.
struct Options: Sendable {
  var json = false
  var quiet = false
  var data: String?
  var logFile: String?
  var logFormat = LogFormat.text

  /// The default data directory of the local org.
  static let orgDirectory = ".org"

  private static var json: Parameter<Options> {
    .flag("json", "print JSON: one document, or one line per event with a summary last", \.json)
      .shared
  }

  private static var quiet: Parameter<Options> {
    .flag(
      "quiet", short: "q", "print only errors and a one-line summary of items that need review",
      \.quiet
    ).shared
  }

  private static var data: Parameter<Options> {
    .option(
      "data", "DIR",
      "data directory (default: $ATTACHE_DATA, or ../snapshots relative to the pipeline file's "
        + "directory; for /etc/attache, /var/lib/attache)",
      completes: .directories, \.data
    ).shared
  }

  /// `--json` and `--quiet`.
  static var output: [Parameter<Options>] { [json, quiet] }

  /// `--data`, with `--json` and `--quiet`.
  static var pipeline: [Parameter<Options>] { [data] + output }

  /// `--data` and `--quiet`, for a command with `--format`.
  static var formatted: [Parameter<Options>] { [data, quiet] }

  /// The options of a command that runs a pipeline.
  static var run: [Parameter<Options>] {
    let log: [Parameter<Options>] = [
      .option(
        "log-file", "FILE", "append events to FILE, one line each, with the time",
        completes: .files, \.logFile),
      .option("log-format", "FORMAT", "the format of FILE", \.logFormat),
    ]
    return pipeline + log.map(\.shared)
  }
}

/// The formats of a log file.
enum LogFormat: String, ArgumentValue, CaseIterable {
  case text, json
}

/// Parameters with the same meaning in several commands.
extension Parameter {
  /// The pipeline that a command works on.
  static func pipeline(_ path: WritableKeyPath<Root, String>) -> Parameter {
    .argument(
      "pipeline", "the pipeline file, or a name in pipelines/ or /etc/attache",
      completes: .asked("pipelines", orFiles: true), path)
  }

  /// `--user` of a command that can be limited to users.
  static func user(
    _ placeholder: String, _ summary: String, _ path: WritableKeyPath<Root, [String]>
  ) -> Parameter {
    .option("user", placeholder, summary, completes: .asked("users", orFiles: false), path)
  }

  /// `--dry-run` of a command that writes.
  static func dryRun(_ path: WritableKeyPath<Root, Bool>) -> Parameter {
    .flag("dry-run", short: "n", "show the plan without sending or writing anything", path)
  }

  /// `--report` of a command with `--dry-run`.
  static func report(_ path: WritableKeyPath<Root, String?>) -> Parameter {
    .option(
      "report", "DIR", "with --dry-run: write the expected report into DIR",
      completes: .directories, path)
  }

  /// `--max-deletes` of a run of a pipeline.
  static func maxDeletes(_ path: WritableKeyPath<Root, Percentage?>) -> Parameter {
    .option(
      "max-deletes", "N%",
      "the largest share of a soup to remove in this run, instead of prime.ghosts.maxDeletes",
      path)
  }

  /// `--deadline` of a command that can be resumed.
  static func deadline(_ path: WritableKeyPath<Root, PositiveNumber?>) -> Parameter {
    .option("deadline", "SECONDS", "stop after SECONDS", path)
  }
}

/// A number of at least 1 on the command line: a count, or a duration in seconds.
struct PositiveNumber: ArgumentValue {
  let value: Int

  init(_ value: Int) { self.value = value }

  init?(argument: String) {
    guard let value = Int(argument: argument), value >= 1 else { return nil }
    self.value = value
  }

  static var expectation: String { "a whole number, at least 1" }
  var argumentText: String { String(value) }
}

/// A port of this machine on the command line; 0 selects a free one.
struct Port: ArgumentValue {
  let number: UInt16

  init(_ number: UInt16) { self.number = number }

  init?(argument: String) {
    guard let value = Int(argument: argument), let number = UInt16(exactly: value) else {
      return nil
    }
    self.number = number
  }

  static var expectation: String { "a number from 0 to 65535" }
  var argumentText: String { String(number) }
}

/// The start time of a deterministic org's clock, on the command line.
struct ClockStart: ArgumentValue {
  let milliseconds: Int64

  init?(argument: String) {
    guard let start = Dates.milliseconds(iso8601: argument) else { return nil }
    milliseconds = start
  }

  static var expectation: String { "a time, such as 2026-01-31T00:00:00.000Z" }
  var argumentText: String { Dates.utc(milliseconds) }
}

extension Percentage: ArgumentValue {
  /// Parses a whole number from 0 to 100, with or without `%`.
  package init?(argument: String) {
    guard let number = Int(argument.hasSuffix("%") ? argument.dropLast() : argument[...]),
      (0...100).contains(number)
    else { return nil }
    self.init(number)
  }

  package static var expectation: String { "a percentage from 0% to 100%" }
  package var argumentText: String { description }
}
