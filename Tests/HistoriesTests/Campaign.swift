import Ledger
import System

/// Many histories, run in a few lanes.
struct Campaign: Sendable {
  /// A history that broke a promise.
  struct Failure: Sendable {
    var history: History
    var violation: Violation
    var seed: UInt64 { history.seed }
  }

  /// What came of all.
  struct Outcome: Sendable {
    var failures: [Failure] = []
    var tally = Tally()
  }

  static let lanes = 3

  /// Steps, and mishaps, that the program does not hold yet.
  ///
  /// `ATTACHE_HISTORIES_WITHOUT` names others, by commas; `none` takes all.
  static let without: Set<Step.Kind> = Set(
    names?.compactMap { Step.Kind(rawValue: $0) }
      ?? [])
  static let withoutMishaps: Set<Mishap.Kind> = Set(
    names?.compactMap { Mishap.Kind(rawValue: $0) } ?? [])
  /// `ATTACHE_HISTORIES_CARRY=1` has every history carry open edits.
  static let carriesAlways = ProcessEnvironment.variable("ATTACHE_HISTORIES_CARRY") == "1"
  private static let names = ProcessEnvironment.variable("ATTACHE_HISTORIES_WITHOUT")
    .map { $0.split(separator: ",").map(String.init) }

  let first: UInt64
  let count: Int
  var focus: History.Focus?
  /// Whether a failure ends it that this says is enough.
  var endsAt: (@Sendable (Failure) async -> Bool)?

  func run() async -> Outcome {
    let isOver = Locked(false)
    return await withTaskGroup(of: Outcome.self) { group in
      for lane in 0..<Self.lanes {
        group.addTask {
          var outcome = Outcome()
          for index in stride(from: lane, to: count, by: Self.lanes) {
            if isOver.withLock({ $0 }) { break }
            let history = History(
              seed: first &+ UInt64(index), focus: focus, without: Self.without,
              withoutMishaps: Self.withoutMishaps)
            switch await Self.attempt(history) {
            case .success(let tally): outcome.tally.merge(tally)
            case .failure(let violation):
              let failure = Failure(history: history, violation: violation)
              outcome.failures.append(failure)
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

  /// Runs one history; any error breaks a promise.
  static func attempt(
    _ history: History, keeping: String? = nil
  ) async -> Result<Tally, Violation> {
    do {
      return .success(try await World.run(history, keeping: keeping))
    } catch let violation as Violation {
      return .failure(violation)
    } catch {
      return .failure(Violation("\(error)"))
    }
  }

  /// Leaves out steps, and what goes wrong in runs, as long as the history still fails.
  static func shrink(_ failure: Failure, attempts: Int = 150) async -> Failure {
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
        if case .failure(let violation) = await attempt(history),
          Failure(history: history, violation: violation).sort == failure.sort
        {
          smallest = Failure(history: history, violation: violation)
          isShorter = true
        } else {
          start += length
        }
      }
      if !isShorter || length > 1 { length = length == 1 ? 0 : length / 2 }
    }
    return smallest
  }
}
