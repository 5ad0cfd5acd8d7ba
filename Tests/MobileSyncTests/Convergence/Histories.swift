/// Many histories, run in a few lanes.
struct Histories: Sendable {
  /// A history that broke a promise.
  struct Failure: Sendable {
    var history: History
    var violation: Violation
    var seed: UInt64 { history.seed }
  }

  /// What came of all.
  struct Outcome: Sendable {
    var failures: [Failure] = []
    var tally: [Mishap.Kind: Int] = [:]
  }

  static let lanes = 4

  let first: UInt64
  let count: Int
  let adjust: @Sendable (inout History) -> Void

  init(
    first: UInt64, count: Int, _ adjust: @escaping @Sendable (inout History) -> Void = { _ in }
  ) {
    self.first = first
    self.count = count
    self.adjust = adjust
  }

  func run() async -> Outcome {
    await withTaskGroup(of: Outcome.self) { group in
      for lane in 0..<Self.lanes {
        group.addTask {
          var outcome = Outcome()
          for index in stride(from: lane, to: count, by: Self.lanes) {
            var history = History(seed: first &+ UInt64(index))
            adjust(&history)
            switch await Self.attempt(history) {
            case .success(let tally): outcome.tally.merge(tally, uniquingKeysWith: +)
            case .failure(let violation):
              outcome.failures.append(Failure(history: history, violation: violation))
            }
          }
          return outcome
        }
      }
      return await group.reduce(into: Outcome()) { whole, part in
        whole.failures += part.failures
        whole.tally.merge(part.tally, uniquingKeysWith: +)
      }
    }
  }

  /// Runs one history; any error breaks a promise.
  static func attempt(_ history: History) async -> Result<[Mishap.Kind: Int], Violation> {
    do {
      return .success(try await World.run(history))
    } catch let violation as Violation {
      return .failure(violation)
    } catch {
      return .failure(Violation(description: "\(error)"))
    }
  }

  /// Leaves out steps as long as the history still fails.
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
        if case .failure(let violation) = await attempt(history) {
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
