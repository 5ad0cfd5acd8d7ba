import ObjectStore
import Pipelines
import System
import TestSupport
import Testing

/// Two workers that perform the same orders at the same time, and end at any request to the store.
@Suite struct WorkerKillTests {
  private static let seeds = CampaignSize.workers.seeds(from: 20_261_130_000)
  /// More requests than a worker sends.
  private static let requests = 60

  @Test func `two workers on one order make one generation, wherever each of them ends`()
    async throws
  {
    // One of both shards' orders are all users.
    let scene = try await WorkScene.prepared(ordersOf: 100)
    let alone = try scene.copy("alone")
    try await scene.run(in: alone)
    let log = SeedLog(.workers)
    for seed in Self.seeds {
      var random = HistoryRandom(seed)
      let ends = (0..<2).map { _ in random.below(Self.requests) }
      try Files.remove(scene.directory)
      let divided = try scene.copy("divided")
      try await scene.run(in: divided, .orders)
      await withTaskGroup(of: Void.self) { group in
        for end in ends {
          group.addTask {
            // It may end before it is complete.
            _ = try? await scene.work(0, of: 1) { $0.store = DyingStore(scene.store, after: end) }
          }
        }
      }
      _ = try await scene.work([0], of: 1)
      let collected = try await scene.run(in: divided, .collect)
      let differences = try scene.differences(alone, divided)
      #expect(
        differences == [] && collected.work?.missing == 0 && collected.warnings == [],
        "seed \(seed): \(ends) \(differences) \(collected.warnings)")
      log?.add(seed, failure: differences.isEmpty ? nil : "\(differences)")
    }
  }
}
