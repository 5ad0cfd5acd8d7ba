import Foundation
import JSON
import SQLite
import Testing

@testable import SmartStore

/// Random soups, specs, elements and operations, compared after each with a model in memory.
@Suite struct ModelTests {
  /// What is counted.
  enum Operation: String, CaseIterable {
    case register, insert, upsertByID, upsertByKey, retrieve, removeByIDs, removeByQuery, clear
    case alter, alterReIndexing, reIndex, removeSoup
    case queryAll, queryExact, queryRange, queryLike, queryMatch, querySmart, reopen
  }

  /// How often each is done on each platform; the two together make at least 200.
  static let least = 100
  static let seed: UInt64 = 20_261_121

  @Test(arguments: Platform.allCases)
  func `a store holds what a dictionary would`(_ platform: Platform) throws {
    let seed = ProcessInfo.processInfo.environment["SEED"].flatMap(UInt64.init) ?? Self.seed
    var play = try ModelPlay(platform, seed: seed)
    var steps = 0
    var order: [Operation] = []
    while play.counts.values.min() ?? 0 < Self.least, steps < 20_000 {
      if order.isEmpty {
        order = Operation.allCases.flatMap { operation in
          Array(repeating: operation, count: [.insert, .upsertByID].contains(operation) ? 4 : 1)
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
      "model \(platform.rawValue): seed \(seed), \(steps) steps: "
        + counts.joined(separator: ", ") + "; cells: " + cells.joined(separator: ", "))
    #expect(Operation.allCases.allSatisfy { play.counts[$0] ?? 0 >= Self.least })
    // Every type has met every kind of value.
    #expect(play.met.count == IndexType.allCases.count * ModelPlay.kinds.count)
    try play.finish()
  }
}
