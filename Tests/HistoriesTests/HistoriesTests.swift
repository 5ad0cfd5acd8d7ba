import Foundation
import System
import Testing

/// Two users with three phones, which sync by themselves too, and an office work on the same records,
/// and everything that can go wrong on the way does: afterwards the org holds each edit exactly once,
/// or a report names it as open; every edit is told of once as new and until it is settled; each next
/// store is what its user sees.
///
/// A history is a list of steps from one seed (`History`), data alone. `World` plays it over a whole
/// pipeline: stores edited as an app edits them, an org over HTTP, runs in this process, some of them
/// killed (`Strike`). `OrgWatch` keeps whatever stood in the org, `Book` what was done on the phones;
/// what may become of an edit is written in `Book` from the design's words, and read from the reports
/// and the org alone.
@Suite struct HistoriesTests {
  /// `SEED=… ATTACHE_HISTORIES=1` runs one history again.
  static let seed =
    ProcessInfo.processInfo.environment["SEED"].flatMap(UInt64.init) ?? 20_261_122_000
  static let histories =
    ProcessInfo.processInfo.environment["ATTACHE_HISTORIES"].flatMap(Int.init) ?? 300

  /// `ATTACHE_HISTORIES_KEEP` names a directory where the pipelines' data of shrunk histories stay.
  static let keep = ProcessInfo.processInfo.environment["ATTACHE_HISTORIES_KEEP"]

  /// How often each kind of step and of mishap is there at least in a whole run.
  static let least = 5

  @Test func `no edit of a phone is lost, doubled or passed over in silence`() async throws {
    let start = Clock.monotonicNanoseconds()
    let outcome = await Campaign(first: Self.seed, count: Self.histories).run()
    let seconds = Double(Clock.monotonicNanoseconds() - start) / 1e9
    print("HistoriesTests: \(Self.histories) histories from seed \(Self.seed) in \(seconds) s")
    print(outcome.tally.words)
    // One of each sort, shrunk.
    var sorts: Set<String> = []
    for failure in outcome.failures.sorted(by: { $0.seed < $1.seed }) {
      print("seed \(failure.seed): \(failure.violation)")
      guard sorts.insert(failure.sort).inserted, sorts.count <= 6 else { continue }
      let small = await Campaign.shrink(failure)
      if let keep = Self.keep {
        // Several requests at once come in another order each time.
        for number in 0..<20 {
          let kept = "\(keep)/\(small.seed)-\(number)"
          if case .failure = await Campaign.attempt(small.history, keeping: kept) { break }
        }
      }
      Issue.record(
        """
        \(outcome.failures.count) of \(Self.histories) histories failed; SEED=\(small.seed) \
        ATTACHE_HISTORIES=1 runs this one again:
        \(small.violation)
        \(small.history)
        """)
    }
    guard Self.histories >= 300 else { return }
    for kind in Step.Kind.allCases where !Campaign.without.contains(kind) {
      #expect(outcome.tally.steps[kind, default: 0] >= Self.least, "\(kind.rawValue)")
    }
    for kind in HistorySetup.Kind.allCases {
      #expect(outcome.tally.setups[kind, default: 0] >= Self.least, "\(kind.rawValue)")
    }
    for kind in Mishap.Kind.allCases where !Campaign.withoutMishaps.contains(kind) {
      #expect(outcome.tally.mishaps[kind, default: 0] >= Self.least, "\(kind.rawValue)")
    }
  }
}

extension Campaign.Failure {
  /// What was broken, without names and numbers.
  var sort: String {
    violation.description.split(whereSeparator: { " ,:;".contains($0) })
      .filter { word in !word.contains(where: \.isNumber) }.suffix(7).joined(separator: " ")
  }
}

extension Tally {
  var words: String {
    func list<K: RawRepresentable>(_ counts: [K: Int]) -> String where K.RawValue == String {
      counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key.rawValue)" }
        .joined(separator: ", ")
    }
    return "  setups: \(list(setups))\n  steps: \(list(steps))\n  mishaps: \(list(mishaps))"
      + "\n  verdicts: \(list(verdicts))"
  }
}
