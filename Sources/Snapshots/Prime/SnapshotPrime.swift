import MobileSync
import Salesforce
import System

/// Primes a snapshot, the records that one user may see or that all users share, in the stores of
/// every platform.
package enum SnapshotPrime {
  /// Fetches changes and writes them into new stores; without a change no file is touched.
  ///
  /// The stores are processed on `thread`, while the next pages arrive on the client's thread. A
  /// failed run leaves no files. An interrupted one leaves only temporary files.
  package static func run(
    _ input: PrimeInput, session: Session, thread: StoreThread,
    report: @escaping @Sendable (SyncEvent) -> Void = { _ in }
  ) async throws(SyncError) -> PrimeOutcome {
    let outcome = await withTaskExecutorPreference(thread) {
      await prime(input, session, report)
    }
    return try outcome.get()
  }

  private static func prime(
    _ input: PrimeInput, _ session: Session, _ report: @escaping @Sendable (SyncEvent) -> Void
  ) async -> Result<PrimeOutcome, SyncError> {
    var primes: [StorePrimer] = []
    defer { for prime in primes { prime.files.discard() } }
    do throws(SyncError) {
      for store in input.stores {
        let prime = try StorePrimer(store, input: input, session: session, report: report)
        primes.append(prime)
        try await prime.run()
      }
      if Task.isCancelled { throw SyncError(.cancelled, "the prime was cancelled") }
      return .success(try publish(primes, input))
    } catch {
      for prime in primes {
        prime.files.discard()
        if prime.files.isWritable { prime.files.removeTemporaries() }
      }
      return .failure(error)
    }
  }

  /// Publishes all stores if one of them has changed: together they are one generation.
  ///
  /// A generation that follows an incomplete one and lacks nothing is new too, as its devices need
  /// not request anything any more.
  private static func publish(
    _ primes: [StorePrimer], _ input: PrimeInput
  ) throws(SyncError) -> PrimeOutcome {
    var outcome = PrimeOutcome()
    let isMended = input.wasIncomplete && !primes.contains { $0.outcome.isIncomplete }
    outcome.changed = isMended || input.isRenewed || primes.contains { $0.files.isWritable }
    for prime in primes {
      if outcome.changed { try prime.publish() }
      prime.outcome.syncStates[prime.store.storeName] =
        prime.files.states.values.sorted { $0.id < $1.id }
      outcome.add(prime.outcome)
    }
    return outcome
  }
}
