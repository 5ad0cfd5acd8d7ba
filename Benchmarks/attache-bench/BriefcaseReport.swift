import JSON
import LocalOrg

/// What `BriefcaseBench` measured.
struct BriefcaseReport: BenchReport {
  /// What a run may take, as a multiple of the least.
  private static let limit = 1.2

  /// One run, with what the org has noted of it.
  struct Run {
    let told: Measurement
    /// How many requests there were.
    let requests: Int
    /// How many of them wait for each other, if all others go beside them.
    let chain: Int
    /// How long the org worked on all of them, beside what it waits with each answer.
    let orgMilliseconds: Int

    init(_ told: Measurement, log: [RequestLog.Entry]) {
      self.told = told
      requests = log.count
      orgMilliseconds = Int(log.reduce(0) { $0 + $1.milliseconds })
      chain = Self.chain(log)
    }

    /// One user's login and requests, of which all but the retrieves wait for the one before, as the first retrieve does
    /// for the last page of ids.
    private static func chain(_ log: [RequestLog.Entry]) -> Int {
      var longest = 0
      for (user, entries) in Dictionary(grouping: log, by: { $0.user ?? "" })
      where user != "" && user != BenchFleet.integration {
        let retrieves = entries.count { $0.kind == .retrieve }
        longest = max(longest, 1 + entries.count - retrieves + min(1, retrieves))
      }
      return longest
    }
  }

  private let users: Int
  private let records: Int
  private let latency: Int
  private let concurrency: Int
  /// What else was at work.
  var load = MachineLoad()
  private var runs: [Run] = []

  init(_ options: BenchOptions, concurrency: Int) {
    (users, records, latency) = (options.users, options.records, options.latency)
    self.concurrency = concurrency
  }

  mutating func add(_ run: Run) { runs.append(run) }

  /// The least that a run's answers can take which the org holds back, in milliseconds.
  private func waits(_ run: Run) -> Int {
    let rounds = (run.requests + concurrency - 1) / concurrency
    return max(rounds, run.chain) * latency
  }

  /// The same with the org's own work on its answers, for which a request has its place as well.
  private func least(_ run: Run) -> Int { waits(run) + run.orgMilliseconds / concurrency }

  private func ratio(_ run: Run) -> Double { Double(run.told.wall) / Double(max(1, least(run))) }

  private func ratioToWaits(_ run: Run) -> Double {
    Double(run.told.wall) / Double(max(1, waits(run)))
  }

  /// The run in the middle.
  private var median: Run? {
    let sorted = runs.sorted { ratio($0) < ratio($1) }
    return sorted.isEmpty ? nil : sorted[(sorted.count - 1) / 2]
  }

  /// What was promised and is not so.
  var failures: [String] {
    guard let median, ratio(median) > Self.limit else { return [] }
    return [
      "a prime by briefcase takes \(ReconcileReport.decimal(ratio(median))) times the least, "
        + "and \(Self.limit) is the limit"
    ]
  }

  /// A table and what is not as promised.
  var text: String {
    var lines = [
      "\(users) users are primed by briefcase, \(records) records each for two platforms; each answer takes "
        + "\(latency) ms, \(concurrency) requests at once.", "",
      "| requests | in a chain | waits s | org's own work s | least s | wall s | wall ÷ least | wall ÷ waits | user s "
        + "| system s | VmHWM MiB |",
      "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for run in runs {
      let cells = [
        "\(run.requests)", "\(run.chain)", Self.seconds(waits(run)),
        Self.seconds(run.orgMilliseconds), Self.seconds(least(run)), Self.seconds(run.told.wall),
        ReconcileReport.decimal(ratio(run)), ReconcileReport.decimal(ratioToWaits(run)),
        Self.seconds(run.told.user), Self.seconds(run.told.system),
        ReconcileReport.decimal(Double(run.told.peakKiB) / 1024),
      ]
      lines.append("| " + cells.joined(separator: " | ") + " |")
    }
    lines += ["", load.text, ""]
    return (lines + failures.map { "FAILED: " + $0 }).joined(separator: "\n") + "\n"
  }

  private static func seconds(_ milliseconds: Int) -> String {
    ReconcileReport.decimal(Double(milliseconds) / 1000)
  }

  /// The same for a machine.
  var json: JSONValue {
    let arms = runs.map { run -> JSONValue in
      [
        "run": run.told.json, "requests": JSONValue(run.requests), "chain": JSONValue(run.chain),
        "waitsMilliseconds": JSONValue(waits(run)),
        "orgMilliseconds": JSONValue(run.orgMilliseconds),
        "leastMilliseconds": JSONValue(least(run)),
        "wallToLeast": .number(ReconcileReport.decimal(ratio(run))),
        "wallToWaits": .number(ReconcileReport.decimal(ratioToWaits(run))),
      ]
    }
    return [
      "users": JSONValue(users), "records": JSONValue(records),
      "latencyMilliseconds": JSONValue(latency), "concurrency": JSONValue(concurrency),
      "runs": .array(arms), "loads": load.json,
      "failures": .array(failures.map { .string($0) }),
    ]
  }
}
