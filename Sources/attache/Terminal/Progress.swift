import MobileSync
import Pipelines
import Synchronization
import System

/// A status line on a terminal, rewritten in place, and lasting lines for events.
///
/// Without a terminal, only lasting lines are written; with `quiet`, nothing is.
final class Progress: Sendable {
  private struct State {
    var line = ""
    var users: Users?
    /// The users of the snapshots that were started.
    var names: [String: String] = [:]
    var began: UInt64 = 0
    var started: [String: UInt64] = [:]
    var lastDrawn: UInt64 = 0
  }

  /// The progress of the prime of all users.
  struct Users {
    /// The user whose records arrived last.
    var username: String
    var total: Int
    /// The number of users that are done.
    var done = 0
    /// The number of the user that is done next.
    var number: Int { min(done + 1, total) }
    /// The remaining request budget.
    var requestsLeft: Int?
    /// The estimated remaining time.
    var secondsLeft: Double?
  }

  private let program: Program
  private let draws: Bool
  private let quiet: Bool
  private let state = Mutex(State())

  init(_ program: Program, quiet: Bool) {
    self.program = program
    self.quiet = quiet
    draws = program.errorIsTerminal && !quiet
  }

  /// Shows an event.
  func show(_ event: RunEvent) {
    guard !quiet else { return }
    switch event {
    case .soupProgress(let snapshot, let soup, let fetched, let total):
      draw(snapshot: snapshot, soup: soup, fetched: fetched, total: total)
    case .retrying(let request, let reason, let attempt, let most, let milliseconds):
      let text = EventText.retrying(reason, attempt, of: most, milliseconds)
      // At once: nothing else is drawn during the pause.
      if draws { redraw(text, atOnce: true) } else { last("\(request): \(text)") }
    case .editsSettled(let done, let total):
      if draws { redraw(EventText.settled(done, of: total)) }
    case .snapshotStarted(let snapshot, let username, _, let total, let requestsLeft):
      begin(snapshot, username, of: total, requestsLeft)
    case .snapshotPrimed, .snapshotSkipped:
      if let text = EventText.line(for: event) { last(text) }
      count()
    default:
      if let text = EventText.line(for: event) { last(text) }
    }
  }

  /// Shows the state of a sync.
  func show(_ state: SyncState) {
    guard draws, state.status == .running, state.totalSize > 0 else { return }
    redraw(EventText.sync(state))
  }

  /// Ends the status line.
  func finish() {
    guard draws else { return }
    state.withLock { state in
      if !state.line.isEmpty { program.show("") }
      state.line = ""
    }
  }

  private func begin(
    _ snapshot: String, _ username: String, of total: Int, _ requestsLeft: Int?
  ) {
    guard draws else { return }
    state.withLock { state in
      if state.users == nil { state.began = Clock.monotonicNanoseconds() }
      let (done, left) = (state.users?.done ?? 0, state.users?.secondsLeft)
      state.names[snapshot] = username
      state.users = Users(
        username: username, total: total, done: done, requestsLeft: requestsLeft, secondsLeft: left)
    }
  }

  /// Counts a finished user, and estimates the time of the others.
  private func count() {
    guard draws else { return }
    state.withLock { state in
      guard var users = state.users else { return }
      users.done += 1
      let seconds = Double(Clock.monotonicNanoseconds() - state.began) / 1e9
      users.secondsLeft = seconds / Double(users.done) * Double(users.total - users.done)
      state.users = users
    }
  }

  private func last(_ text: String) {
    finish()
    // An org's message may have several lines.
    for line in WordLines.of(text, indent: "  ") { program.note(line) }
  }

  private func draw(snapshot: String, soup: String, fetched: Int, total: Int?) {
    guard draws else { return }
    let now = Clock.monotonicNanoseconds()
    let (start, users) = state.withLock { state in
      let key = snapshot + "/" + soup
      let start = state.started[key] ?? now
      state.started[key] = start
      // Of several users in progress, show the one whose records have arrived.
      var users = state.users
      if let name = state.names[snapshot] { users?.username = name }
      return (start, users)
    }
    let text = EventText.fetched(
      fetched, of: total, into: soup, seconds: Double(now - start) / 1e9)
    redraw(users.map { "\(text); \(EventText.users($0))" } ?? text)
  }

  private func redraw(_ text: String, atOnce: Bool = false) {
    let now = Clock.monotonicNanoseconds()
    state.withLock { state in
      guard atOnce || now - state.lastDrawn > 50_000_000 else { return }
      state.lastDrawn = now
      state.line = text
      program.show(text)
    }
  }
}
