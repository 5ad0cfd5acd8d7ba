import MobileSync
import SmartStore
import Synchronization
import Testing

/// Rows 9 and 21–23 of the conformance table (SyncManagerTest, SyncManagerTests): a custom target,
/// and the effects of stop and restart.
@Suite struct StopRestartTests {
  private func store(_ platform: Platform = .ios, _ targets: CustomTargets) async throws
    -> ManagedStore
  { try await ManagedStore(platform, customTargets: targets) }

  // SDK: testCustomSyncDownTarget (21)
  @Test(arguments: Platform.allCases)
  func `a custom target is found by class and fetched by page`(_ platform: Platform) async throws {
    let target = GatedTarget(30, perPage: 10)
    let store = try await store(platform, target.targets())
    let run = try await store.manager.syncDown(GatedTarget.target(), named: "custom")
    #expect(
      await run.story
        == ["RUNNING 0/-1", "RUNNING 0/30", "RUNNING 33/30", "RUNNING 66/30", "DONE 100/30"])
    let state = try #require(try await store.manager.syncStatus(named: "custom"))
    #expect(state.maxTimeStamp == GatedTarget.date(29))
    #expect(
      state.target
        == ["type": "custom", "androidImpl": .string(GatedTarget.className), "extra": [1, 2]])
    #expect(try await store.elements().count == 30)
    let again = try await store.manager.reSync(named: "custom")
    #expect(await again.story == ["RUNNING 0/-1", "RUNNING 0/0", "DONE 100/0"])
    #expect(target.since.all == [nil, GatedTarget.date(29)])
  }

  @Test func `a custom target without code is an error that names the class`() async throws {
    let store = try await store(.ios, CustomTargets())
    let run = try await store.manager.syncDown(GatedTarget.target())
    let error = await #expect(throws: SyncError.self) { try await run.finish() }
    #expect(error?.message.contains(GatedTarget.className) == true)
    #expect(await run.lastState.status == .failed)
  }

  // SDK: testReSyncRunningSync (9)
  @Test(arguments: Platform.allCases)
  func `a running sync cannot be run again until it is done`(_ platform: Platform) async throws {
    let gate = PageGate(closedAt: 1)
    let store = try await store(platform, GatedTarget(3, gate: gate).targets())
    let manager = store.manager
    let run = try await manager.syncDown(GatedTarget.target())
    await gate.reached()
    let error = await #expect(throws: SyncError.self) {
      _ = try await manager.reSync(id: run.syncID)
    }
    #expect(error?.code == .running)
    #expect(error?.message == "sync \(run.syncID) is still running")
    let ghosts = await #expect(throws: SyncError.self) {
      try await manager.cleanResyncGhosts(id: run.syncID)
    }
    #expect(ghosts?.code == .running)
    await gate.open()
    try await run.finish()
    #expect(await (try manager.reSync(id: run.syncID)).lastState.status == .done)
  }

  // SDK: testStopResumeSingleSyncDown (22), testStopRestartSingleSyncDown (22)
  @Test(arguments: Platform.allCases)
  func `a stopped sync keeps its records and resumes there`(_ platform: Platform) async throws {
    let gate = PageGate(closedAt: 5)
    let target = GatedTarget(10, gate: gate)
    let store = try await store(platform, target.targets())
    let manager = store.manager
    let run = try await manager.syncDown(GatedTarget.target())
    await gate.reached()
    await manager.stop()
    #expect(await manager.isStopping)
    await gate.open()
    #expect(
      await run.story == [
        "RUNNING 0/-1", "RUNNING 0/10", "RUNNING 10/10", "RUNNING 20/10", "RUNNING 30/10",
        "RUNNING 40/10", "RUNNING 50/10", "STOPPED 50/10",
      ])
    let error = await #expect(throws: SyncError.self) { try await run.finish() }
    #expect(error?.code == .stopped)
    #expect(await manager.isStopped)
    let state = try #require(try await manager.syncStatus(id: run.syncID))
    #expect(state.status == .stopped)
    #expect(state.maxTimeStamp == GatedTarget.date(4))
    #expect(try await store.elements().count == 5)

    let refused = await #expect(throws: SyncError.self) {
      _ = try await manager.reSync(id: run.syncID)
    }
    #expect(refused?.code == .stopped)
    #expect(try await manager.restart(restartStoppedSyncs: false).isEmpty)
    #expect(await !manager.isStopped)
    #expect(try await manager.syncStatus(id: run.syncID) == state)

    await manager.stop()
    #expect(await manager.isStopped)
    let runs = try await manager.restart(restartStoppedSyncs: true)
    #expect(runs.map(\.syncID) == [run.syncID])
    #expect(
      await runs.first?.story == [
        "RUNNING 0/-1", "RUNNING 0/6", "RUNNING 16/6", "RUNNING 33/6", "RUNNING 50/6",
        "RUNNING 66/6", "RUNNING 83/6", "DONE 100/6",
      ])
    #expect(target.since.all == [nil, GatedTarget.date(4) - 1])
    #expect(try await store.elements().count == 10)
    #expect(try await manager.restart(restartStoppedSyncs: true).isEmpty)
  }

  // SDK: testStopResumeMultipleSyncDowns (23), testStopRestartMultipleSyncDowns (23)
  @Test(arguments: Platform.allCases)
  func `each of several stopped syncs resumes where it stopped`(_ platform: Platform) async throws {
    let gates = [PageGate(closedAt: 1), PageGate()]
    var targets = CustomTargets()
    let one = GatedTarget(prefix: "one", 5, gate: gates[0])
    let two = GatedTarget(prefix: "two", 10, gate: gates[1])
    targets.add("One", syncDown: { _ in one })
    targets.add("Two", syncDown: { _ in two })
    let store = try await store(platform, targets)
    let manager = store.manager
    let first = try await manager.syncDown(GatedTarget.target("One"))
    await gates[0].reached()
    let second = try await manager.syncDown(GatedTarget.target("Two"))
    let queued = try #require(try await manager.syncStatus(id: second.syncID))
    #expect(queued.status == .running)
    #expect(queued.progress == 0 && queued.totalSize == -1)
    await manager.stop()
    await gates[0].open()
    #expect(await first.story == ["RUNNING 0/-1", "RUNNING 0/5", "RUNNING 20/5", "STOPPED 20/5"])
    #expect(await second.story == ["RUNNING 0/-1", "STOPPED 0/-1"])
    #expect(await second.lastState.maxTimeStamp == -1)
    #expect(await first.lastState.maxTimeStamp == GatedTarget.date(0))

    try await manager.restart(restartStoppedSyncs: false)
    await gates[1].close(at: 5)
    let manual = try await manager.reSync(id: second.syncID)
    await gates[1].reached()
    await manager.stop()
    await gates[1].open()
    #expect(await manual.story.last == "STOPPED 50/10")
    let runs = try await manager.restart(restartStoppedSyncs: true)
    #expect(runs.map(\.syncID) == [first.syncID, second.syncID])
    #expect(
      await runs[0].story == [
        "RUNNING 0/-1", "RUNNING 0/5", "RUNNING 20/5", "RUNNING 40/5", "RUNNING 60/5",
        "RUNNING 80/5", "DONE 100/5",
      ])
    #expect(await runs[1].story.last == "DONE 100/6")
    #expect(try await store.elements().count == 15)
  }

  @Test func `a sync whose records arrive unordered restarts after a stop`() async throws {
    let gate = PageGate(closedAt: 2)
    var target = GatedTarget(4, gate: gate)
    target.isSortedByModification = false
    let store = try await store(.ios, target.targets())
    let run = try await store.manager.syncDown(GatedTarget.target())
    await gate.reached()
    await store.manager.stop()
    await gate.open()
    let state = await run.lastState
    #expect(state.status == .stopped)
    #expect(state.maxTimeStamp == -1)
    let runs = try await store.manager.restart(restartStoppedSyncs: true)
    #expect(await runs.first?.lastState.maxTimeStamp == GatedTarget.date(3))
    #expect(target.since.all == [nil, nil])
    #expect(try await store.elements().count == 4)
  }

  @Test func `a stopped manager refuses a new sync before it is created`() async throws {
    let store = try await store(.ios, CustomTargets())
    let manager = store.manager
    await manager.stop()
    let error = await #expect(throws: SyncError.self) {
      _ = try await manager.syncDown(.soql(.accounts()))
    }
    #expect(error?.code == .stopped)
    #expect(try await manager.syncs().isEmpty)
  }

  @Test func `cancelling the task that waits for a run stops the run`() async throws {
    let gate = PageGate(closedAt: 2)
    let store = try await store(.ios, GatedTarget(4, gate: gate).targets())
    let run = try await store.manager.syncDown(GatedTarget.target())
    let waiting = Task { try await run.finish() }
    await gate.reached()
    waiting.cancel()
    await gate.open()
    await #expect(throws: SyncError.self) { try await waiting.value }
    #expect(await run.lastState.status == .stopped)
    #expect(await run.lastState.progress == 50)
    #expect(try await store.manager.reSync(id: run.syncID).lastState.status == .done)
    #expect(try await store.elements().count == 4)
  }

  @Test func `a sync deleted while running ends and is not recreated`() async throws {
    let gate = PageGate(closedAt: 2)
    let store = try await store(.ios, GatedTarget(4, gate: gate).targets())
    let manager = store.manager
    let run = try await manager.syncDown(GatedTarget.target())
    await gate.reached()
    try await manager.deleteSync(id: run.syncID)
    await gate.open()
    try await run.finish()
    #expect(await run.lastState.status == .done)
    #expect(try await manager.syncs().isEmpty)
    #expect(try await store.elements().count == 4)
  }

  @Test func `a run that failed between two records of one date loses neither`() async throws {
    struct Failure: Error {}
    let isOver = Atomic(false)
    var target = GatedTarget(4)
    target.perDate = 4
    target.onPage = { page in
      if page == 2, !isOver.exchange(true, ordering: .relaxed) { throw Failure() }
    }
    let store = try await store(.ios, target.targets())
    let run = try await store.manager.syncDown(GatedTarget.target())
    #expect(await run.lastState.status == .failed)
    #expect(try await store.elements().count == 2)
    try await store.manager.reSync(id: run.syncID).finish()
    #expect(try await store.elements().count == 4)
  }

  @Test func `times are kept, and the error is cleared when the next run starts`() async throws {
    struct Failure: Error {}
    final class Broken: Sendable {
      private let state = Mutex(true)
      var value: Bool { state.withLock { $0 } }
      func fix() { state.withLock { $0 = false } }
    }
    let gate = PageGate()
    let broken = Broken()
    var targets = CustomTargets()
    targets.add(
      GatedTarget.className,
      syncDown: { _ in
        if broken.value { throw Failure() }
        return GatedTarget(2, gate: gate)
      })
    let store = try await store(.ios, targets)
    let run = try await store.manager.syncDown(GatedTarget.target())
    let failed = await run.lastState
    #expect(failed.status == .failed)
    #expect(failed.error.contains("Failure"))
    #expect(failed.startTime > 0 && failed.endTime >= failed.startTime)
    broken.fix()
    await gate.close(at: 1)
    let again = try await store.manager.reSync(id: run.syncID)
    await gate.reached()
    let running = try #require(try await store.manager.syncStatus(id: run.syncID))
    #expect(running.error.isEmpty)
    #expect(running.endTime == 0)
    await gate.open()
    #expect(await again.lastState.error.isEmpty)
    #expect(await again.lastState.endTime > 0)
  }
}
