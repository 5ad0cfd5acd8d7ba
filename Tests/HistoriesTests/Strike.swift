import Foundation
import LocalOrg
import Pipelines
import SQLite
import System
import TestSupport

/// A mishap on its way: armed before a run, and afterwards what it did.
final class Strike: Sendable {
  private struct State {
    var isStruck = false
    var isKilled = false
    var isOfficeDone = false
    var events = 0
    var writes = 0
    var run: String?
    /// Why a kill failed.
    var failure: String?
    var task: Task<(Int32?, String?), Never>?
  }

  /// Where a kill leaves the pipeline's directory.
  let copy: String
  let mishap: Mishap?
  private let root: String
  private let faults: Faults
  private let watch: OrgWatch
  private let hand: OfficeHand
  private let state = Locked(State())

  init(_ mishap: Mishap?, _ world: World) {
    var mishap = mishap
    // No quiet window is the user's promise that nothing arrives late.
    if mishap?.kind == .lateRequest, world.setup.quietSeconds == 0 { mishap?.kind = .lostRequest }
    self.mishap = mishap
    root = world.root
    copy = world.nextRoot()
    faults = world.server.faults
    watch = world.watch
    hand = OfficeHand(world)
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

  // MARK: arming

  func arm() {
    let ever = 1_000_000
    // A dead program asks nothing.
    faults.add(
      .any, times: ever,
      .mutate { [state] _ in
        if state.withLock({ $0.isKilled }) { throw Violation("nobody asks any more") }
      })
    if let work = mishap?.then {
      faults.add(
        .any, times: ever,
        .mutate { [state, hand] org in
          let isDue = state.withLock { state in
            defer { if state.isStruck { state.isOfficeDone = true } }
            return state.isStruck && !state.isOfficeDone && !state.isKilled
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
      faults.add(.writes, nth: nth, .drop(afterCommit: false))
    case .lateRequest:
      faults.add(.writes, nth: nth, strikes)
      faults.add(.writes, nth: nth, .deliverLate(seconds: 1_000_000_000))
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

  /// What the run says.
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

  // MARK: killing

  /// Copies the pipeline's directory as the disk has it; what the run does from now on is gone.
  private func kill() {
    for attempt in 1... {
      do {
        try copyRoot()
        break
      } catch  where attempt < 5 {
        // The run has removed a file meanwhile.
        continue
      } catch {
        return state.withLock { $0.failure = "the run was not killed: \(error)" }
      }
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
    // Nobody commits while the copy is made. A run that has no ledger yet has done nothing.
    if Files.exists(ledger) {
      let connection = try Connection(ledger)
      defer { connection.close() }
      try connection.transaction { try Self.copyTree(root, to: copy) }
    } else if Files.exists(root) {
      try Self.copyTree(root, to: copy)
    }
  }

  /// Copies a directory; what is never changed after it was published is linked.
  static func copyTree(_ source: String, to target: String) throws {
    let manager = FileManager.default
    try Files.makeDirectory(target)
    let paths = try manager.subpathsOfDirectory(atPath: source)
    for name in paths.sorted() {
      let (from, to) = (source + "/" + name, target + "/" + name)
      if Files.isDirectory(from) {
        try Files.makeDirectory(to)
      } else if name.contains("/users/") || name.contains("/issued/") {
        // Another file system has no second names for it.
        do { try manager.linkItem(atPath: from, toPath: to) } catch {
          try manager.copyItem(atPath: from, toPath: to)
        }
      } else if !name.hasSuffix("-shm") {
        try Files.copy(from, to: to)
      }
    }
  }
}
