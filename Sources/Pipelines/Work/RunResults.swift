import Ledger
import Snapshots
import System

/// Collects what workers made of the orders of a run.
///
/// Results are verified and copied by several threads; the run's own records what was adopted.
struct RunResults {
  let run: RunContext
  let stage: PrimeStage

  /// Adopts the results, and returns what was learned about calls with several parts.
  func collect(_ list: OrderList) async throws -> String? {
    if let earlier = list.earlier { run.summary.add(earlier: earlier) }
    return try await RunOrders(run: run).withStore { store in
      let adoption = ResultAdoption(
        pipeline: run.pipeline, data: run.data, list: list, store: store)
      // Mostly the store and the disk are waited for.
      let threads = (0..<WorkStore.width).map { _ in StoreThread(name: "collect") }
      var wide: String?
      var work = RunSummary.Work(orders: list.orders.count, snapshots: 0)
      for indexes in Array(list.orders.indices).parts(of: threads.count) {
        let orders = try await Self.each(indexes, on: threads) { try await adoption.order($0) }
        for order in orders {
          for warning in order.warnings { run.warn(warning) }
          for result in order.results {
            stage.take(result.shared)
            run.workersSpent.requests += result.spent.requests
            run.workersSpent.bytes += result.spent.bytes
            wide = result.wide ?? wide
          }
        }
        let snapshots = orders.flatMap { order in order.snapshots.map { ($0, order.results) } }
        let adopted = try await Self.each(snapshots, on: threads) { snapshot, results in
          try await adoption.adopt(snapshot, from: results)
        }
        for snapshot in adopted {
          work.snapshots += 1
          if case .failure = snapshot.primed.result { work.missing += 1 }
          for warning in snapshot.warnings { run.warn(warning) }
          try stage.take(snapshot.primed)
        }
      }
      run.summary.work = work
      return wide
    }
  }

  /// Returns the answers of a step for each element, in their order; as many steps as threads are
  /// performed at the same time.
  private static func each<Element: Sendable, Answer: Sendable>(
    _ elements: [Element], on threads: [StoreThread],
    _ step: @escaping @Sendable (Element) async throws -> Answer
  ) async throws -> [Answer] {
    let steps = elements.enumerated().map { index, element in
      { @Sendable () async -> Result<Answer, any Error> in
        await withTaskExecutorPreference(threads[index % threads.count]) {
          do {
            try Task.checkCancellation()
            return .success(try await step(element))
          } catch {
            return .failure(error)
          }
        }
      }
    }
    let answers = await InFlight.all(threads.count, steps) { answer in
      if case .failure = answer { true } else { false }
    }
    return try answers.compactMap { try $0?.get() }
  }
}
