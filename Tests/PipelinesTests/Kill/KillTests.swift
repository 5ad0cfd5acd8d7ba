import Pipelines
import System
import TestSupport
import Testing

/// `kill -9` anywhere in a stage, then the stage again: the result is that of a run that was not
/// killed.
///
/// The program runs as a child on a copy of the same files and of the same org. A point counts only
/// if the program was killed inside the stage. `SEED` selects another seed.
@Suite struct KillTests {
  @Test(arguments: Stage.allCases)
  func `a stage that is killed at any point has the same result as one that is not`(_ stage: Stage)
    async throws
  {
    // Waiting for children must not block the other tests.
    let thread = StoreThread(name: "kill")
    let problems = try await thread.run { () throws -> [String] in
      let scenes = try KillScene.all.get().filter { $0.stage == stage }
      let points = CampaignSize.killPoints.count
      var problems: [String] = []
      for scene in scenes {
        var rounds = try KillRounds(scene, seed: Self.seed, points: max(1, points / scenes.count))
        try rounds.play()
        print(rounds.account)
        problems += rounds.problems
      }
      return problems
    }
    #expect(problems == [])
  }

  /// Fixed, but different in each round of `make soak`.
  static let seed = CampaignSize.killPoints.firstSeed(20_261_128)
}

struct KillRounds {
  let scene: KillScene
  let seed: UInt64
  let points: Int
  private(set) var problems: [String] = []
  private var dice: HistoryRandom
  private let reference: (world: World, remains: Remains, status: Int32)
  private let counts: [KillPoint.Event: Int]
  private var sorts: [String: Int] = [:]
  private var misses = 0
  private var recoveriesKilled = 0
  private var deaths = 0
  init(_ scene: KillScene, seed: UInt64, points: Int) throws {
    (self.scene, self.seed, self.points) = (scene, seed, points)
    dice = HistoryRandom(
      seed &+ UInt64(scene.name.utf8.reduce(0) { $0 &* 31 &+ Int($1) }.magnitude))
    let world = try scene.copy()
    let run = try ChildRun(scene.stage, world)
    guard run.hasFinished, run.counts[.calls, default: 0] > 0 else {
      throw KillScene.Failure(words: "\(scene.name): the unkilled run failed: \(run.story)")
    }
    reference = (world, try Remains(world, leavesDatesOut: scene.leavesDatesOut), run.status)
    counts = run.counts
  }

  /// The number of points, by kind.
  var account: String {
    let kinds = sorts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    let events = KillPoint.Event.allCases.map { "\(counts[$0, default: 0]) \($0)" }
    return "KillTests: \(scene.name): \(deaths) points in \(events.joined(separator: ", ")), "
      + "seed \(seed) (\(kinds.joined(separator: ", ")); \(recoveriesKilled) recoveries killed too; "
      + "\(misses) points outside the stage left out)"
  }

  /// Kills and repeats until there were enough points.
  mutating func play() throws {
    for part in 0..<points {
      var isDone = try playOne(part)
      // A point outside the stage, such as the login, does not count: try another one.
      for _ in 0..<10 where !isDone { isDone = try playOne(dice.below(points)) }
      if !isDone { problems.append("\(scene.name): no run was killed in part \(part)") }
      // One difference is reported in full; thirty of the same kind do not help.
      if problems.count > 20 { return }
    }
  }

  /// One point; false if the program did not die in the stage.
  private mutating func playOne(_ part: Int) throws -> Bool {
    let world = try scene.copy()
    let point = KillPoint.random(part: part, of: points, counts: counts, using: &dice)
    let killed = try ChildRun(scene.stage, world, killedAt: point)
    guard killed.diedInStage else {
      misses += 1
      return false
    }
    deaths += 1
    sorts[point.sort, default: 0] += 1
    var story = "seed \(seed): \(scene.name), killed \(point)"
    var recovery: ChildRun?
    if part % 3 == 2 {
      let second = KillPoint.random(part: 0, of: 1, counts: counts, using: &dice)
      let run = try ChildRun(scene.stage, world, killedAt: second)
      // If less was left to do than in a whole stage, it may have finished before.
      if run.status != 137 {
        recovery = run
      } else {
        recoveriesKilled += 1
        story += ", then killed \(second)"
      }
    }
    // A recovery that was killed after the run was marked as ended is complete: another one would
    // be a new run.
    let hasEnded = try recovery == nil && LedgerRows.haveAllRunsEnded(world.data.state)
    if !hasEnded {
      let last = try recovery ?? ChildRun(scene.stage, world)
      guard last.status == reference.status else {
        problems.append("\(story): the next run ended otherwise: \(last.story)")
        return true
      }
    }
    let differences = try Remains(world, leavesDatesOut: scene.leavesDatesOut)
      .differences(from: reference.remains)
    problems += differences.prefix(6).map { "\(story): \($0)" }
    return true
  }
}
