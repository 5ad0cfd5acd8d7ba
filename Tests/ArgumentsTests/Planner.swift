import System
import Arguments
import Synchronization

/// A small program to test with: what its commands were asked is written into `Journal`.
final class Journal: CommandContext {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func write(_ line: String) { lines.withLock { $0.append(line) } }
}

enum Format: String, ArgumentValue, CaseIterable {
  case zip
  case tarZst = "tar.zst"
}

struct Common: Sendable {
  var json = false
  static var parameters: [Parameter<Common>] { [.flag("json", "print JSON", \.json).shared] }
}

struct Prime: Command {
  static let name = "prime"
  static let summary = "prime snapshots from the org"
  static let discussion = """
    Fetches what changed since the last run, as each user. Nothing that is published is changed;
    a run that dies leaves the last generation in place.

    Users are named by their user names.
    """
  static let examples = [
    Note("planner prime field-service --user ada@example.com", "one user's snapshot")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .argument("pipeline", "a pipeline file, or a name in pipelines/", completes: .files, \.file),
      .arguments("more", "further pipelines", \.more),
      .option(
        "user", short: "u", "NAME", "only these users", completes: .asked("users", orFiles: false),
        \.users), .option("only", "STAGES", "stages to do", commas: true, \.only),
      .option("jobs", short: "j", "N", "stores in work at once", \.jobs),
      .option("format", "FORMAT", "archive format", \.format),
      .option("deadline", "SECONDS", "stop after this time", \.deadline),
      .flag("dry-run", short: "n", "print the plan and stop", \.dryRun),
      .flag("quiet", short: "q", "say nothing", \.quiet),
    ] + Common.parameters.map { $0.within(\.common) }
  }
  var file = ""
  var more: [String] = []
  var users: [String] = []
  var only = ["all"]
  var jobs = 4
  var format = Format.zip
  var deadline: Int?
  var dryRun = false
  var quiet = false
  var common = Common()

  func validate() throws(UsageError) {
    if quiet, common.json { throw UsageError("--quiet and --json exclude each other") }
  }

  func run(_ context: Journal) async throws -> ExitStatus {
    let flags = [dryRun ? "dry" : "", quiet ? "quiet" : "", common.json ? "json" : ""]
    context.write(
      "prime \(file) \(more) \(users) \(only) \(jobs) \(format.rawValue) "
        + "\(deadline.map(String.init) ?? "-") \(flags.joined())")
    return ExitStatus(rawValue: 3)
  }
}

struct Reconcile: Command {
  static let name = "reconcile"
  static let summary = "send what came back"
  static let examples = [Note("planner reconcile field-service", "everything that is due")]
  static var parameters: [Parameter<Self>] {
    [
      .argument(
        "pipeline", "the pipeline", completes: .asked("pipelines", orFiles: true), \.pipeline)
    ]
  }
  var pipeline: String?
  func run(_ context: Journal) async throws -> ExitStatus {
    context.write("reconcile \(pipeline ?? "-")")
    return .done
  }
}

struct Undo: Command {
  static let name = "reconcile undo"
  static let summary = "take back a run's edits"
  static let examples = [Note("planner reconcile undo 12", "undo run 12")]
  static var parameters: [Parameter<Self>] {
    [
      .argument("run", "the run", \.run),
      .option("reason", "TEXT", "why", required: true, \.reason),
    ]
  }
  var run = 0
  var reason = ""
  func run(_ context: Journal) async throws -> ExitStatus {
    context.write("undo \(run) \(reason)")
    return .done
  }
}

struct Serve: Command {
  static let name = "org serve"
  static let summary = "serve an org"
  static let examples = [Note("planner org serve --port 8080", "on a port of your choice")]
  static var parameters: [Parameter<Self>] {
    [
      .option("port", "PORT", "the port, 0 for a free one", \.port),
      .option("data", "DIR", "where it lives", completes: .directories, \.data),
    ]
  }
  var port = 0
  var data: String?
  func run(_ context: Journal) async throws -> ExitStatus {
    context.write("serve \(port) \(data ?? "-")")
    return .done
  }
}

let planner = Tool<Journal>(
  name: "planner", summary: "plans what field staff take along", version: "1.2",
  date: "November 21, 2026", groups: [Note("org", "connect an org")],
  sections: [
    HelpSection("plans", ["reconcile", "prime"]),
    HelpSection("others", ["org", "completion", "manual", "help"]),
  ], commands: [Prime.self, Reconcile.self, Undo.self, Serve.self],
  exitStatuses: [
    Note("0", "done"), Note("2", "the words on the command line were wrong"),
    Note("3", "finished, with conflicts"),
  ], variables: [Note("PLANNER_DATA", "where data is kept")])
