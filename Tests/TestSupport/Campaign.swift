import System
import Testing

/// A random history: the setup and all steps are generated from one seed.
package protocol RandomHistory: Sendable, CustomStringConvertible {
  associatedtype Step: Sendable
  var seed: UInt64 { get }
  /// The steps. Any step can be omitted without making the others invalid.
  var steps: [Step] { get set }
  /// Runs the history to its end; throws if a guarantee is violated.
  func play() async throws -> Tally
}

/// A guarantee that a history found violated, or any other error that ended it.
package struct Violation: Error, Sendable, CustomStringConvertible {
  package var description: String

  /// Values that are too long for the org are abbreviated.
  package init(_ description: String) {
    self.description = description.replacing(/x{40,}/, with: "x…")
  }
}

/// The number of occurrences by group: "steps", "mishaps".
package struct Tally: Sendable {
  private var counts: [String: [String: Int]] = [:]
  package init() {}

  package mutating func add<K: RawRepresentable<String>>(_ kind: K, to group: String) {
    counts[group, default: [:]][kind.rawValue, default: 0] += 1
  }

  package func count<K: RawRepresentable<String>>(_ kind: K, in group: String) -> Int {
    counts[group]?[kind.rawValue] ?? 0
  }

  mutating func merge(_ other: Tally) {
    for (group, kinds) in other.counts {
      counts[group, default: [:]].merge(kinds, uniquingKeysWith: +)
    }
  }

  /// One line per group.
  var text: String {
    counts.sorted { $0.key < $1.key }.map { group, kinds in
      let list = kinds.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
      return "  \(group): \(list.joined(separator: ", "))"
    }.joined(separator: "\n")
  }
}

/// Many histories, each from a seed, run in a few lanes.
package struct Campaign<History: RandomHistory>: Sendable {
  /// A history that violated a guarantee.
  package struct Failure: Sendable {
    package var history: History
    package var violation: Violation
    package var seed: UInt64 { history.seed }

    /// The violation without names and numbers.
    var sort: String {
      violation.description.split(whereSeparator: { " ,:;".contains($0) })
        .filter { word in !word.contains(where: \.isNumber) }.suffix(7).joined(separator: " ")
    }
  }

  /// The failures and the tally of all histories that were run.
  package struct Outcome: Sendable {
    package var failures: [Failure] = []
    package var tally = Tally()
  }

  /// The number of histories that run at the same time.
  private static var lanes: Int { 3 }
  private let size: CampaignSize?
  private let seeds: [UInt64]
  private let history: @Sendable (UInt64) -> History
  private let endsAt: (@Sendable (Failure) async -> Bool)?

  /// Creates a campaign of the size in the table, with its fixed seeds.
  ///
  /// - Parameter found: Seeds that once found a fault; they are run at every size.
  package init(
    _ size: CampaignSize, from first: UInt64, found: [UInt64] = [],
    _ history: @escaping @Sendable (UInt64) -> History
  ) {
    self.size = size
    let isWhole = ProcessEnvironment.variable("SEED") == nil
    let seeds = size.seeds(from: first)
    self.seeds = seeds + (isWhole ? found.filter { !seeds.contains($0) } : [])
    self.history = history
    endsAt = nil
  }

  /// Creates a campaign of a part of its fixed seeds, which are the same in every round of
  /// `make soak`.
  package init(
    _ size: CampaignSize, seeds: [UInt64], _ history: @escaping @Sendable (UInt64) -> History
  ) {
    self.size = size
    let done = SeedLog(size)?.done ?? []
    self.seeds = seeds.filter { !done.contains($0) }
    self.history = history
    endsAt = nil
  }

  /// Creates a campaign that ends at the first failure for which `endsAt` is true.
  package init(
    first: UInt64, count: Int, endsAt: @escaping @Sendable (Failure) async -> Bool,
    _ history: @escaping @Sendable (UInt64) -> History
  ) {
    size = nil
    seeds = (0..<UInt64(count)).map { first &+ $0 }
    self.history = history
    self.endsAt = endsAt
  }

  package func run() async -> Outcome {
    let isOver = Locked(false)
    let log = size.flatMap { SeedLog($0) }
    return await withTaskGroup(of: Outcome.self) { group in
      for lane in 0..<Self.lanes {
        group.addTask {
          var outcome = Outcome()
          for index in stride(from: lane, to: seeds.count, by: Self.lanes) {
            if isOver.withLock({ $0 }) { break }
            let history = history(seeds[index])
            switch await Self.attempt(history) {
            case .success(let tally):
              outcome.tally.merge(tally)
              log?.add(history.seed, failure: nil)
            case .failure(let violation):
              let failure = Failure(history: history, violation: violation)
              outcome.failures.append(failure)
              print("seed \(failure.seed): \(violation)")
              log?.add(history.seed, failure: violation.description)
              if await endsAt?(failure) ?? false { isOver.withLock { $0 = true } }
            }
          }
          return outcome
        }
      }
      return await group.reduce(into: Outcome()) { whole, part in
        whole.failures += part.failures
        whole.tally.merge(part.tally)
      }
    }
  }

  /// Runs the campaign, and records an issue for each kind of failure with its shrunk history.
  ///
  /// - Parameter keep: Called with each shrunk history.
  /// - Returns: The number of occurrences of each kind of event.
  package func judge(keep: (Failure) async -> Void = { _ in }) async -> Tally {
    let start = Clock.monotonicNanoseconds()
    let outcome = await run()
    let name = size?.rawValue ?? ""
    let seconds = Double(Clock.monotonicNanoseconds() - start) / 1e9
    print(
      "\(name): \(seeds.count) histories from seed \(seeds.first ?? 0) in \(seconds) s, "
        + "\(outcome.failures.count) failed\n\(outcome.tally.text)")
    var sorts: Set<String> = []
    for failure in outcome.failures.sorted(by: { $0.seed < $1.seed }) {
      guard sorts.insert(failure.sort).inserted, sorts.count <= 6 else { continue }
      let small = await Self.shrink(failure)
      await keep(small)
      Issue.record(
        """
        \(outcome.failures.count) of \(seeds.count) histories failed; SEED=\(small.seed) \(name)=1 runs this one again:
        \(small.violation)
        \(small.history)
        """)
    }
    return outcome.tally
  }

  /// A history as Swift writes its setup and its steps, without the names of modules and types.
  package static func text<Setup>(_ setup: Setup, _ steps: [History.Step]) -> String {
    let lines = ["\(setup)"] + steps.enumerated().map { "  \($0 + 1). \($1)" }
    return lines.joined(separator: "\n")
      .replacing(/\w+Tests\.(?:\w+\.)*(?=[a-z])/, with: ".").replacing(
        /\w+Tests\.(?:\w+\.)*/, with: "")
  }

  /// Runs one history; any error is a violation.
  package static func attempt(_ history: History) async -> Result<Tally, Violation> {
    do { return .success(try await history.play()) } catch let violation as Violation {
      return .failure(violation)
    } catch { return .failure(Violation("\(error)")) }
  }

  /// Removes steps as long as the history still fails in the same way.
  private static func shrink(_ failure: Failure, attempts: Int = 150) async -> Failure {
    var smallest = failure
    var rest = attempts
    var length = max(1, failure.history.steps.count / 2)
    while length > 0, rest > 0 {
      var start = 0
      var isShorter = false
      while start < smallest.history.steps.count, rest > 0 {
        rest -= 1
        var history = smallest.history
        history.steps.removeSubrange(start..<min(start + length, history.steps.count))
        if case .failure(let violation) = await attempt(history) {
          let shorter = Failure(history: history, violation: violation)
          if shorter.sort == failure.sort {
            smallest = shorter
            isShorter = true
            continue
          }
        }
        start += length
      }
      if !isShorter || length > 1 { length = length == 1 ? 0 : length / 2 }
    }
    return smallest
  }
}
