import Foundation
import LocalOrg
import Pipelines
import SQLite
import System
import TestSupport

/// A fault that is set up before a run; afterwards it has what happened.
final class Strike: Sendable {
  private struct State {
    var isStruck = false
    var isKilled = false
    var isOtherUserDone = false
    var events = 0
    var writes = 0
    var run: String?
    var failure: String?
    var task: Task<(Int32?, String?), Never>?
  }

  let copy: String
  let mishap: Mishap?
  private let root: String
  private let faults: Faults
  private let watch: OrgWatch
  private let hand: OtherUser
  private let trace: WriteTrace?
  private let state = Locked(State())
  init(_ mishap: Mishap?, _ world: World) {
    var mishap = mishap
    // Without a wait for answers, the user promises that nothing arrives late.
    if mishap?.kind == .lateRequest, world.setup.quietSeconds == 0 { mishap?.kind = .lostRequest }
    self.mishap = mishap
    root = world.root
    copy = world.nextRoot()
    faults = world.server.faults
    watch = world.watch
    hand = OtherUser(world)
    trace = world.trace
    trace?.begin(step: world.step)
  }

  var isStruck: Bool { state.withLock { $0.isStruck } }
  var isKilled: Bool { state.withLock { $0.isKilled } }
  var run: String? { state.withLock { $0.run } }
  var failure: String? { state.withLock { $0.failure } }
  var writes: Int { state.withLock { $0.writes } }

  func take(_ task: Task<(Int32?, String?), Never>) {
    let isKilled = state.withLock { state in
      state.task = task
      return state.isKilled
    }
    if isKilled { task.cancel() }
  }

  // MARK: setup

  func arm() {
    let ever = 1_000_000
    // A killed process makes no requests.
    faults.add(
      .any, times: ever,
      .mutate { [state] _ in
        if state.withLock({ $0.isKilled }) { throw Violation("the process was killed") }
      })
    if let work = mishap?.then {
      faults.add(
        .any, times: ever,
        .mutate { [state, hand] org in
          let isDue = state.withLock { state in
            defer { if state.isStruck { state.isOtherUserDone = true } }
            return state.isStruck && !state.isOtherUserDone && !state.isKilled
          }
          if isDue { hand.performMeanwhile(work, in: org) }
        })
    }
    faults.add(
      .writes, times: ever,
      .mutate { [state, watch] _ in
        state.withLock { $0.writes += 1 }
        watch.look(.pipeline)
      })
    if let trace { faults.add(.writes, times: ever, .observe { trace.add($0) }) }
    guard let mishap else { return }
    armHarm(mishap)
  }

  private func armHarm(_ mishap: Mishap) {
    let nth = mishap.nth
    let strikes: Faults.Action = .mutate { [state] _ in state.withLock { $0.isStruck = true } }
    switch mishap.kind {
    case .lostAnswer:
      faults.add(.writes, nth: nth, strikes)
      faults.add(.writes, nth: nth, .drop(afterCommit: true))
    case .lostRequest:
      faults.add(.writes, nth: nth, strikes)
      faults.add(.writes, nth: nth, times: mishap.times, .drop(afterCommit: false))
    case .lateRequest:
      faults.add(.writes, nth: nth, strikes)
      faults.add(.writes, nth: nth, times: mishap.times, .deliverLate(seconds: 1_000_000_000))
    case .killAtRequest, .killAtWrite:
      let match: FaultMatch = mishap.kind == .killAtWrite ? .writes : .any
      faults.add(match, nth: nth, .mutate { [self] _ in kill() })
      faults.add(match, nth: nth, .drop(afterCommit: mishap.arrives))
    case .killAtEvent: break
    case .unavailable:
      faults.add(.any, nth: nth, strikes)
      faults.add(.any, nth: nth, times: 12, .status(503, code: "SERVER_UNAVAILABLE"))
    }
  }

  func note(_ event: RunEvent) {
    let isDue = state.withLock { state in
      if case .runStarted(let run, _, _) = event { state.run = run }
      // A prime's progress comes from its own thread.
      if case .soupProgress = event { return false }
      state.events += 1
      return mishap?.kind == .killAtEvent && mishap?.nth == state.events
    }
    if isDue { kill() }
  }

  // MARK: kill

  /// Copies the pipeline's directory as it is on disk; whatever the run does from now on is lost.
  private func kill() {
    for attempt in 1... {
      do {
        try copyRoot()
        break
      } catch  where attempt < 5 {
        // The run has removed a file in the meantime.
        continue
      } catch { return state.withLock { $0.failure = "the run was not killed: \(error)" } }
    }
    let task = state.withLock { state in
      state.isKilled = true
      state.isStruck = true
      return state.task
    }
    task?.cancel()
  }

  private func copyRoot() throws {
    try Files.remove(copy)
    let ledger = root + "/" + HistoryPipeline.name + "/state.sqlite"
    // No commit takes place during the copy. A run without a ledger has done nothing yet.
    if Files.exists(ledger) {
      let connection = try Connection(ledger)
      defer { connection.close() }
      try connection.transaction { try Self.copyTree(root, to: copy) }
    } else if Files.exists(root) {
      try Self.copyTree(root, to: copy)
    }
  }

  /// Copies a directory; files that are never changed after they were published are linked.
  static func copyTree(_ source: String, to target: String) throws {
    let manager = FileManager.default
    try Files.makeDirectory(target)
    let paths = try manager.subpathsOfDirectory(atPath: source)
    for name in paths.sorted() {
      let (from, to) = (source + "/" + name, target + "/" + name)
      if Files.isDirectory(from) {
        try Files.makeDirectory(to)
      } else if name.contains("/users/") || name.contains("/issued/") {
        // Hard links do not work across file systems.
        do { try manager.linkItem(atPath: from, toPath: to) } catch {
          try manager.copyItem(atPath: from, toPath: to)
        }
      } else if !name.hasSuffix("-shm") {
        try Files.copy(from, to: to)
      }
    }
  }
}
