import System
import TestSupport
import Testing

/// The same random histories with everything old pruned after each run, and without: no verdict
/// differs for a device with a valid bundle.
@Suite struct PruningTests {
  /// The verdicts in the reports, run by run, or the rule that was broken.
  private func outcome(_ history: History, prunes: Bool) async -> (
    told: [[String]], world: World?
  ) {
    var history = history
    history.setup.prunes = prunes
    do {
      let world = try World(history)
      try await world.play()
      let told = world.book.orderedReports.map { report in
        report.records.map { "\($0.number) \($0.verdict) \($0.operation) \($0.row) \($0.file)" }
          + report.stillOpen.map { "\($0.number) is still \($0.verdict)" }
      }
      return (told, world)
    } catch { return ([["\(error)"]], nil) }
  }

  @Test func `pruning old data after each run changes no verdict`() async throws {
    var (compared, removed, taken, left) = (0, 0, 0, 0)
    let seeds = CampaignSize.pruned.seeds(from: 20_261_123_000)
    for seed in seeds {
      var history = History(seed: seed)
      // Concurrent requests and faults come in another order each time.
      history.setup.concurrency = 1
      history.steps = history.steps.filter { $0.kinds.allSatisfy { $0 != .lateArrival } }.map {
        if case .run(let verb, _) = $0 { .run(verb, nil) } else { $0 }
      }
      // A history may break a rule for another reason, which the campaign reports; then it does so
      // twice.
      let all = await outcome(history, prunes: false)
      let pruned = await outcome(history, prunes: true)
      #expect(all.told == pruned.told, "seed \(seed)")
      SeedLog(.pruned)?.add(seed, failure: all.told == pruned.told ? nil : "other verdicts")
      guard let world = pruned.world, let before = all.world else { continue }
      compared += 1
      for name in ["ada", "ben"] {
        guard let user = world.org.user(named: name + "@example.com") else { continue }
        for number in try world.data.generations(of: user.id).dropLast() {
          let left = try Files.list(world.data.generation(number, of: user.id))
          #expect(left == ["generation.json", "pruned.json"])
          removed += 1
        }
      }
      taken += try Files.list(before.data.done).count
      left += try Files.list(world.data.done).count
    }
    #expect(compared > seeds.count / 2 && removed > seeds.count)
    // Returns with an open edit stay, and a few histories may have many of them.
    #expect(seeds.count < 30 ? left < taken : left * 2 < taken)
  }
}
