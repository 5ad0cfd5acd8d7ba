import Ledger
import Pipelines
import Rehearsal
import SmartStore
import System
import TestSupport

final class SecondOrgScene: Sendable {
  let directory = TemporaryDirectory("second")
  let org: SecondOrg
  let pipeline: Pipeline
  let variables: [String: String]
  let userIDs: [String: String]
  let told = Locked<[RunEvent]>([])
  init(
    seed: Int = 1, version: String = "66.0", file change: (String) -> String = { $0 },
    org data: @escaping SecondOrg.Change = { _ in }
  ) async throws {
    org = try await SecondOrg.start(in: directory, seed: seed, version: version, change: data)
    let place = directory.file("pipelines")
    try Tree.copy(SecondOrg.directory + "/pipeline", to: place)
    let path = place + "/foreign.json"
    let text = change(String(decoding: try Files.read(path), as: UTF8.self))
    try DurableFile.write(Array(text.utf8), to: path)
    variables = ["ATTACHE_ORG_URL": org.login, "ATTACHE_JWT_KEY": try OrgTemplate.key.get().pem]
    pipeline = try PipelineFile.read(path: path, variables: variables)
    userIDs = try await org.users()
  }

  var data: DataDirectory { DataDirectory(root: directory.file("snapshots"), name: pipeline.name) }

  @discardableResult func run(
    _ stages: Set<Stage> = Set(Stage.allCases), _ change: (inout RunOptions) -> Void = { _ in }
  ) async throws -> RunSummary {
    var options = RunOptions()
    options.stages = stages
    options.retryPause = .none
    change(&options)
    return try await PipelineRun.execute(
      pipeline, root: directory.file("snapshots"), variables: variables, options: options,
      report: { [told] event in told.withLock { $0.append(event) } })
  }

  struct ScheduledRun {
    var last: RunSummary
    var runs = 1
    /// The verdicts of the edits: those resolved in any run, and those open at the end.
    var verdicts: [Verdict: Int] = [:]
  }

  /// Runs until no run exits with "try again later", as cron does.
  @discardableResult func night(most: Int = 8) async throws -> ScheduledRun {
    var settled: [Verdict: Int] = [:]
    var count = 0
    while true {
      count += 1
      do {
        let summary = try await run()
        for (verdict, number) in summary.verdicts where verdict.isSettled {
          settled[verdict, default: 0] += number
        }
        let waits = summary.open.keys.contains { $0.isWaiting }
        let isOver = summary.exitStatus != .tryLater && !waits
        if isOver || count == most {
          return ScheduledRun(
            last: summary, runs: count, verdicts: settled.merging(summary.open) { $0 + $1 })
        }
      } catch {
        guard count < most, PipelineError(describing: error).kind == .tryLater else { throw error }
      }
    }
  }

  /// What the newest stores have and the org lacks, or the other way round.
  func differences() async throws -> [String] {
    let stores = try StoreFile.all(in: data.path)
    func newest(_ id: String, _ username: String, _ syncs: String) throws
      -> [(syncs: String, path: String, username: String)]
    {
      let number = try data.generations(of: id).last ?? 0
      let place = data.generation(number, of: id) + "/"
      return stores.map(\.path).filter { $0.hasPrefix(place) }
        .map { (directory.file("pipelines/" + syncs), $0, username) }
    }
    let own = try ["rosa@foreign.example", "li@foreign.example"].flatMap {
      try newest(userIDs[$0] ?? "", $0, "usersyncs.json")
    }
    let everybodys = try newest("global", "night@foreign.example", "globalsyncs.json")
    guard own.count == 4, everybodys.count == 2 else {
      return ["\(own.count) stores of users and \(everybodys.count) of all"]
    }
    return try await org.differences(own + everybodys)
  }

  var skipped: [String] {
    told.withLock { $0 }.compactMap {
      if case .snapshotSkipped(_, let username, let reason) = $0 {
        "\(username): \(reason)"
      } else {
        nil
      }
    }
  }

  // MARK: users

  /// A phone with the newest bundle of a technician.
  func device(_ name: String, _ platform: Platform, as place: String) throws -> Device {
    let id = userIDs[name + "@foreign.example"] ?? ""
    let number = try data.generations(of: id).last ?? 0
    let bundle = data.generation(number, of: id) + "/\(platform.rawValue).bundle.zip"
    return try Device.install(
      bundle, platform, into: directory.file("devices/\(place)"), now: Clock.wallMilliseconds())
  }

  /// Puts a phone's store into the inbox.
  func handBack(_ device: Device, as name: String) throws {
    try device.handBack(to: data.inbox("inbox") + "/" + name, now: Clock.wallMilliseconds())
  }
}
