import JSON
import Pipelines
import System
import TestSupport
import Testing

/// `kill -9` of two workers that perform the same orders at the same time, at any call of theirs or
/// request of the org, and of the run that collects their results.
@Suite struct WorkerKillTests {
  private static let seeds = CampaignSize.workers.seeds(from: 20_261_130_000)

  /// A scene, and the number of events in each program.
  private struct Play {
    let scene: WorkScene
    /// An account of each user.
    let accounts: [String]
    var counts: (worker: [KillPoint.Event: Int], collection: [KillPoint.Event: Int]) = ([:], [:])
    var worker: [String] { ["work", scene.world.pipeline.file, "--shard", "0/1"] }

    func collection(_ root: String) -> [String] {
      ["run", scene.world.pipeline.file, "--from", "collect", "--data", root]
    }

    init(_ kind: WorkScene.Kind) async throws {
      // All users are in one order.
      scene = try await WorkScene.prepared(kind, ordersOf: 100)
      let world = scene.world
      accounts = try ["ada", "ben"].map {
        try #require(try world.ids("accounts", on: world.device($0, as: "of \($0)")).last)
      }
      let root = try scene.copy("measured")
      try await scene.run(in: root, .orders)
      let (worked, collected) = (
        try await scene.program(worker), try await scene.program(collection(root))
      )
      #expect(worked.status == 0 && collected.status == 3, "\(worked.story) \(collected.story)")
      counts = (worked.counts, collected.counts)
    }

    /// Lets another user change accounts while workers prime, so that their results differ.
    func change(_ dice: inout HistoryRandom) {
      for account in accounts + accounts {
        let number = 1 + dice.below(2 * counts.worker[.requests, default: 0])
        let (world, text) = (scene.world, "Changed at \(number)")
        let change: @Sendable () throws -> Void = {
          try world.change(account, ["Phone": .string(text)])
        }
        world.server.faults.add(.any, nth: number, .mutate { _ in try change() })
      }
    }
  }

  /// What was played.
  private struct Tally {
    var (workers, collections, differing, completed) = (0, 0, 0, 0)
    var kinds: [String: Int] = [:]
  }

  @Test func `two killed workers on one order make one generation, and the next run completes it`()
    async throws
  {
    let kinds = WorkScene.Kind.installed
    var plays: [WorkScene.Kind: Play] = [:]
    var tally = Tally()
    let log = SeedLog(.workers)
    for seed in Self.seeds {
      let kind = seed % 4 == 3 ? kinds[kinds.count - 1] : kinds[0]
      let play: Play
      if let found = plays[kind] { play = found } else { play = try await Play(kind) }
      plays[kind] = play
      let problems = try await Self.play(seed, play, &tally)
      #expect(problems == [], "seed \(seed)")
      log?.add(seed, failure: problems.first)
    }
    print(
      "WorkerKillTests: \(Self.seeds.count) seeds; \(tally.workers) workers and "
        + "\(tally.collections) collections killed \(tally.kinds); the results of workers differed in "
        + "\(tally.differing); another worker had to complete \(tally.completed)")
    // Otherwise a mixture would not show.
    #expect(tally.differing > 0 || Self.seeds.count < 20)
  }

  private static func play(
    _ seed: UInt64, _ play: Play, _ tally: inout Tally
  ) async throws -> [String] {
    let scene = play.scene
    var dice = HistoryRandom(seed)
    var problems: [String] = []
    let (root, alone) = (try scene.copy("divided"), try scene.copy("alone"))
    let before = try scene.generations(root)
    let isChanged = dice.chance(70)
    if !isChanged { try await scene.run(in: alone) }
    try await scene.run(in: root, .orders)
    if isChanged { play.change(&dice) }

    // Of both workers, at most one survives in most rounds.
    let mostKilled = dice.below(10)
    var points: [KillPoint?] = []
    for isKilled in [mostKilled > 0, mostKilled > 4] {
      points.append(
        isKilled
          ? KillPoint.random(part: 0, of: 1, counts: play.counts.worker, using: &dice) : nil)
    }
    let workers = try await withThrowingTaskGroup(of: ChildRun.self) { group in
      for point in points {
        group.addTask { try await scene.program(play.worker, killedAt: point) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    scene.world.server.faults.removeAll()
    for worker in workers where worker.status != 137 && worker.status != 0 {
      problems.append("\(points) a worker ended with \(worker.story)")
    }
    let deaths = workers.count { $0.status == 137 }
    tally.workers += deaths
    for point in points { if let point { tally.kinds["\(point.event)", default: 0] += 1 } }

    // Then a worker that starts again completes the orders, or the next run does.
    let isStartedAgain = dice.chance(50)
    if isStartedAgain, try await scene.work([0], of: 1)[0].done > 0 { tally.completed += 1 }
    let results = try await scene.results()
    if results.values.contains(where: { $0.count > 1 }) { tally.differing += 1 }
    var isKilled = false
    if dice.chance(30) {
      let point = KillPoint.random(part: 0, of: 1, counts: play.counts.collection, using: &dice)
      let run = try await scene.program(play.collection(root), killedAt: point)
      isKilled = run.status == 137
      tally.collections += isKilled ? 1 : 0
      points.append(point)
    }
    // The other worker leaves an order to a killed one that claimed it a moment before.
    let isComplete = isStartedAgain || deaths == 0
    var summary: RunSummary?
    var lacksGlobal = false
    do {
      summary = try await scene.run(in: root, .collect)
    } catch let error as PipelineError {
      lacksGlobal = error.code == "work.no-result" && !isComplete
      // A killed run may have collected all results.
      let isCollected = error.code == "work.no-orders" && points.count > workers.count
      if !lacksGlobal, !isCollected { throw error }
    }

    for (user, generation) in try scene.generations(root) {
      let number = before[user, default: 0]
      let found = results[user] ?? []
      let isRight =
        generation == number
        ? found.isEmpty || lacksGlobal
        : try generation == number + 1 && scene.isOne(of: found, root, user, generation)
      if !isRight { problems.append("\(points) \(user): \(number), \(generation), \(found)") }
    }
    // A collection after one that was complete is another run, which fails.
    if isComplete, let summary {
      if summary.work?.missing != 0 || !isKilled && !summary.warnings.isEmpty {
        problems.append("\(points) \(summary.work as Any) \(summary.warnings)")
      }
      if !isChanged {
        problems += try scene.differences(alone, root).map { "\(points) differs: \($0)" }
      }
    }
    let next = try await scene.run(in: root)
    if !next.skipped.isEmpty { problems.append("\(points) next run: \(next.skipped)") }
    return problems
  }
}
