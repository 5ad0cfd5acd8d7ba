import Foundation
import SmartStore
import Testing

/// Random soups, specs, elements and operations; the store is compared with a model in memory after
/// each.
@Suite struct ModelTests {
  enum Operation: String, CaseIterable {
    case register, insert, upsertByID, upsertByKey, retrieve, removeByIDs, removeByQuery, clear
    case alter, alterReIndexing, reIndex, removeSoup
    case queryAll, queryExact, queryRange, queryLike, queryMatch, querySmart
    case reopen, killInChange, killInAlteration
  }

  /// The minimum number of each operation on each platform: in CI 200 on the two together.
  static let least = ModelPlay.least
  static let seed: UInt64 = 20_261_121

  /// More frequent operations: those that fill soups, and those that need a full-text index.
  static let shares: [Operation: Int] = [.insert: 4, .upsertByID: 3, .queryMatch: 2]

  @Test(arguments: Platform.allCases)
  func `a store behaves like a dictionary`(_ platform: Platform) throws {
    let seed = ProcessInfo.processInfo.environment["SEED"].flatMap(UInt64.init) ?? Self.seed
    var play = try ModelPlay(platform, seed: seed)
    var steps = 0
    var order: [Operation] = []
    while play.counts.values.min() ?? 0 < Self.least, steps < 200 * Self.least {
      if order.isEmpty {
        order = Operation.allCases.flatMap { operation in
          Array(repeating: operation, count: Self.shares[operation] ?? 1)
        }
        order.shuffle(using: &play.random)
      }
      let operation = order.removeLast()
      steps += 1
      do {
        try play.perform(operation)
        try play.compare()
      } catch {
        Issue.record("\(platform) seed \(seed) step \(steps) \(operation.rawValue): \(error)")
        return
      }
    }
    let counts = Operation.allCases.map { "\($0.rawValue) \(play.counts[$0] ?? 0)" }
    let cells = play.cells.map { "\($0.key.rawValue) \($0.value)" }.sorted()
    print(
      "model \(platform.rawValue): seed \(seed), \(steps) steps: " + counts.joined(separator: ", ")
        + "; \(play.torn) kills with a torn file; cells: " + cells.joined(separator: ", ")
        + "; each type with each kind of value at least " + "\(play.met.values.min() ?? 0) times")
    #expect(Operation.allCases.allSatisfy { play.counts[$0] ?? 0 >= Self.least })
    // A column of every type was compared with every kind of value.
    for type in IndexType.allCases {
      for kind in ModelPlay.kinds.indices {
        #expect(
          play.met[ModelPlay.Pair(type: type, kind: kind)] ?? 0 >= max(1, Self.least / 20),
          "\(type) \(kind)")
      }
    }
    #expect(play.torn >= Self.least / 2)
    try play.finish()
  }
}
