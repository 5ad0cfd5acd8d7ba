import Dispatch
import LocalOrg
import MobileSync
import Testing

extension Snapshot {
  func cancelPrime(of org: SyncedOrg, at kind: LocalOrg.RequestKind, nth: Int) async throws {
    let (stream, reached) = AsyncStream<Void>.makeStream()
    // The org delays its response until the task was cancelled.
    let cancelled = DispatchSemaphore(value: 0)
    org.server.faults.add(
      .kind(kind), nth: nth,
      .mutate { _ in
        reached.finish()
        cancelled.wait()
      })
    nonisolated(unsafe) let primed = self
    let task = Task { _ = try await primed.prime() }
    for await _ in stream {}
    task.cancel()
    cancelled.signal()
    await #expect(throws: SyncError.self) { try await task.value }
  }
}
