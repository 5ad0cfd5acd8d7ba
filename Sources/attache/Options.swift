import Arguments
import Pipelines
import System

/// The options that commands which work or answer have in common.
struct Options: Sendable {
  var json = false
  var quiet = false
  var data: String?
  var logFile: String?
  var logFormat = LogFormat.text

  /// Where the local org keeps its data, unless it is told.
  static let orgDirectory = ".org"

  private static var json: Parameter<Options> {
    .flag("json", "print JSON: a document, or a line for each event with a summary last", \.json)
  }

  private static var quiet: Parameter<Options> {
    .flag(
      "quiet", short: "q", "print nothing but errors and, in a line, what waits for a person",
      \.quiet)
  }

  private static var data: Parameter<Options> {
    .option(
      "data", "DIR",
      "where snapshots are kept (else $ATTACHE_DATA, else ../snapshots; for /etc/attache, /var/lib/attache)",
      completes: .directories, \.data)
  }

  /// `--json` and `--quiet`.
  static var output: [Parameter<Options>] { [json, quiet] }

  /// `--data`, with `--json` and `--quiet`.
  static var pipeline: [Parameter<Options>] { [data] + output }

  /// `--data` and `--quiet`, for a command whose forms `--format` names.
  static var formatted: [Parameter<Options>] { [data, quiet] }

  /// Those of a command that runs a pipeline.
  static var run: [Parameter<Options>] {
    pipeline + [
      .option(
        "log-file", "FILE", "add what happens to a file, a line for each event, with its time",
        completes: .files, \.logFile),
      .option("log-format", "FORMAT", "how: text for people, json for programs", \.logFormat),
    ]
  }
}

/// How the lines of a log file are written.
enum LogFormat: String, ArgumentValue, CaseIterable {
  case text, json
}

/// Parameters that mean the same in several commands.
extension Parameter {
  /// The pipeline that a command works on.
  static func pipeline(_ path: WritableKeyPath<Root, String>) -> Parameter {
    .argument(
      "pipeline", "the pipeline file, or a name in pipelines/ or /etc/attache",
      completes: .asked("pipelines", orFiles: true), path)
  }

  /// `--user` of a command that keeps to one user, or to some.
  static func user(
    _ placeholder: String, _ summary: String, _ path: WritableKeyPath<Root, [String]>
  ) -> Parameter {
    .option("user", placeholder, summary, completes: .asked("users", orFiles: false), path)
  }

  /// `--dry-run` of a command that would write.
  static func dryRun(_ path: WritableKeyPath<Root, Bool>) -> Parameter {
    .flag("dry-run", short: "n", "show the plan, send and write nothing", path)
  }

  /// `--report` of a command with `--dry-run`.
  static func report(_ path: WritableKeyPath<Root, String?>) -> Parameter {
    .option(
      "report", "DIR", "with --dry-run: write the report that the run is expected to have into DIR",
      completes: .directories, path)
  }

  /// `--max-deletes` of a run of a pipeline.
  static func maxDeletes(_ path: WritableKeyPath<Root, Percentage?>) -> Parameter {
    .option(
      "max-deletes", "N%",
      "the share of a soup that may be removed in this run, instead of prime.ghosts.maxDeletes",
      path)
  }

  /// `--deadline` of a command that goes on another time.
  static func deadline(_ path: WritableKeyPath<Root, Seconds?>) -> Parameter {
    .option("deadline", "SECONDS", "end after so many seconds", path)
  }
}

/// A length of time on the command line.
struct Seconds: ArgumentValue {
  let value: Int

  init(_ value: Int) { self.value = value }

  init?(argument: String) {
    guard let value = Int(argument: argument), value >= 1 else { return nil }
    self.value = value
  }

  static var expectation: String { "a number of seconds, at least 1" }
  var argumentText: String { String(value) }
}

/// A port of this machine on the command line; 0 takes a free one.
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

/// The time at which a deterministic org's clock starts, on the command line.
struct ClockStart: ArgumentValue {
  let milliseconds: Int64

  init?(argument: String) {
    guard let start = Dates.milliseconds(iso8601: argument) else { return nil }
    milliseconds = start
  }

  static var expectation: String { "a time, as in 2026-01-31T00:00:00.000Z" }
  var argumentText: String { Dates.utc(milliseconds) }
}

extension Percentage: ArgumentValue {
  /// A whole number from 0 to 100, with or without its sign.
  package init?(argument: String) {
    guard let number = Int(argument.hasSuffix("%") ? argument.dropLast() : argument[...]),
      (0...100).contains(number)
    else { return nil }
    self.init(number)
  }

  /// A percentage.
  package static var expectation: String { "a percentage, as in 10%" }
  /// As the pipeline file writes it.
  package var argumentText: String { description }
}
