import MobileSync
import Synchronization
import Testing

@Suite struct SyncQueueTests {
  private final class Room: Sendable {
    private let state = Mutex((inside: 0, most: 0))
    var most: Int { state.withLock { $0.most } }

    func visit() async {
      state.withLock { state in
        state.inside += 1
        state.most = max(state.most, state.inside)
      }
      await Task.yield()
      state.withLock { $0.inside -= 1 }
    }
  }

  private struct RoomTarget: CustomSyncDownTarget {
    let room: Room
    let records: GatedTarget

    func fetch(since: Int64?, at place: String?, org: SyncOrg) async throws -> CustomPage {
      await room.visit()
      return try await records.fetch(since: since, at: place, org: org)
    }

    func remoteIDs(among localIDs: [String], org: SyncOrg) async throws -> Set<String>? {
      await room.visit()
      return Set(localIDs)
    }
  }

  @Test func `syncs and cleanings started by many tasks never overlap, and end`() async throws {
    let room = Room()
    var targets = CustomTargets()
    targets.add(
      GatedTarget.className,
      syncDown: { _ in RoomTarget(room: room, records: GatedTarget(6, perPage: 2)) })
    let store = try await ManagedStore(customTargets: targets)
    let manager = store.manager
    let ended = try await withThrowingTaskGroup(of: SyncState.Status.self) { group in
      for number in 0..<24 {
        group.addTask {
          let run = try await manager.syncDown(
            target: GatedTarget.target(), soupName: ManagedStore.accounts,
            syncName: "sync\(number)")
          // The app uses its store in the meantime.
          _ = try await manager.withStore { try $0.count(of: ManagedStore.accounts) }
          try await run.finish()
          try await manager.cleanResyncGhosts(id: run.syncID)
          return await run.lastState.status
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(ended == Array(repeating: .done, count: 24))
    #expect(room.most == 1)
    #expect(try await store.elements().count == 6)
    #expect(try await manager.syncs().allSatisfy { $0.status == .done })
  }

  @Test func `a stop also ends queued syncs, and every run reports its end`() async throws {
    let gate = PageGate(closedAt: 0)
    let store = try await ManagedStore(customTargets: GatedTarget(2, gate: gate).targets())
    let manager = store.manager
    var runs: [SyncRun] = []
    for _ in 0..<5 { runs.append(try await manager.syncDown(GatedTarget.target())) }
    await gate.reached()
    await manager.stop()
    await gate.open()
    for run in runs { #expect(await run.lastState.status == .stopped) }
    #expect(await manager.isStopped)
    let again = try await manager.restart(restartStoppedSyncs: true)
    #expect(again.map(\.syncID) == runs.map(\.syncID))
    for run in again { #expect(await run.lastState.status == .done) }
  }

  @Test func `closing a manager waits for running syncs`() async throws {
    let gate = PageGate(closedAt: 1)
    let store = try await ManagedStore(customTargets: GatedTarget(3, gate: gate).targets())
    let manager = store.manager
    let run = try await manager.syncDown(GatedTarget.target())
    await gate.reached()
    let closing = Task { try await manager.close() }
    while await !manager.isStopping { await Task.yield() }
    await gate.open()
    try await closing.value
    #expect(await run.lastState.status == .stopped)
    await #expect(throws: SyncError.self) { _ = try await manager.reSync(id: run.syncID) }
    #expect(try await store.restarted().syncStatus(id: run.syncID)?.status == .stopped)
  }
}
