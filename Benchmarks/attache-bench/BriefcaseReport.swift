import JSON
import LocalOrg

/// The results of `BriefcaseBench`.
struct BriefcaseReport: BenchReport {
  /// The limit of a run's time, as a multiple of the minimum.
  private static let limit = 1.2

  /// One run, with the org's log.
  struct Run {
    let told: Measurement
    /// The number of requests.
    let requests: Int
    /// The number of requests that have to follow each other if all others run in parallel.
    let chain: Int
    /// The org's own work on all of them, without the delays.
    let orgMilliseconds: Int

    init(_ told: Measurement, log: [RequestLog.Entry]) {
      self.told = told
      requests = log.count
      orgMilliseconds = Int(log.reduce(0) { $0 + $1.milliseconds })
      chain = Self.chain(log)
    }

    /// The minimum time that the delays of its answers take, in milliseconds.
    func waits(_ latency: Int, _ concurrency: Int) -> Int {
      let rounds = (requests + concurrency - 1) / concurrency
      return max(rounds, chain) * latency
    }

    /// The same with the org's own work on its answers, during which a request occupies a slot as
    /// well.
    func least(_ latency: Int, _ concurrency: Int) -> Int {
      waits(latency, concurrency) + orgMilliseconds / concurrency
    }

    /// One user's login and requests.
    ///
    /// Except for the retrieves, each waits for the previous one, and the first retrieve waits for
    /// the last page of IDs.
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
  /// The machine's load.
  var load = MachineLoad()
  private var runs: [Run] = []

  init(_ options: BenchOptions, concurrency: Int) {
    (users, records, latency) = (options.users, options.records, options.latency)
    self.concurrency = concurrency
  }

  mutating func add(_ run: Run) { runs.append(run) }

  private func waits(_ run: Run) -> Int { run.waits(latency, concurrency) }

  private func least(_ run: Run) -> Int { run.least(latency, concurrency) }

  private func ratio(_ run: Run) -> Double { Double(run.told.wall) / Double(max(1, least(run))) }

  private func ratioToWaits(_ run: Run) -> Double {
    Double(run.told.wall) / Double(max(1, waits(run)))
  }

  /// The median run.
  private var median: Run? {
    let sorted = runs.sorted { ratio($0) < ratio($1) }
    return sorted.isEmpty ? nil : sorted[(sorted.count - 1) / 2]
  }

  /// The limits that are exceeded.
  var failures: [String] {
    guard let median, ratio(median) > Self.limit else { return [] }
    return [
      "a prime by briefcase takes \(ReconcileReport.decimal(ratio(median))) times the minimum; "
        + "the limit is \(Self.limit)"
    ]
  }

  /// A table, and the limits that are exceeded.
  var text: String {
    var lines = [
      "\(users) users are primed by briefcase, \(records) records each for two platforms; each answer takes "
        + "\(latency) ms, \(concurrency) concurrent requests.", "",
      "| requests | in a chain | waits s | org's own work s | minimum s | wall s | wall ÷ minimum | wall ÷ waits | user s "
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

  /// The results as JSON.
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
