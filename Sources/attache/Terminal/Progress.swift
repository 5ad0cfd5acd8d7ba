import MobileSync
import Pipelines
import Synchronization
import System

/// One status line on a terminal, rewritten in place, and a line for what lasts.
///
/// Off a terminal only what lasts is written; with `quiet` nothing is.
final class Progress: Sendable {
  private struct State {
    var line = ""
    var started: [String: UInt64] = [:]
    var lastDrawn: UInt64 = 0
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

  /// Takes an event and shows it.
  func show(_ event: RunEvent) {
    guard !quiet else { return }
    switch event {
    case .soupProgress(let snapshot, let soup, let fetched, let total):
      draw(snapshot: snapshot, soup: soup, fetched: fetched, total: total)
    case .editsSettled(let done, let total):
      if draws { redraw(EventText.settled(done, of: total)) }
    default:
      if let text = EventText.line(for: event) { last(text) }
    }
  }

  /// Shows how a sync stands.
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

  private func last(_ text: String) {
    finish()
    program.note(text)
  }

  private func draw(snapshot: String, soup: String, fetched: Int, total: Int?) {
    guard draws else { return }
    let now = Clock.monotonicNanoseconds()
    let start = state.withLock { state in
      let key = snapshot + "/" + soup
      if let start = state.started[key] { return start }
      state.started[key] = now
      return now
    }
    redraw(EventText.fetched(fetched, of: total, into: soup, seconds: Double(now - start) / 1e9))
  }

  private func redraw(_ text: String) {
    let now = Clock.monotonicNanoseconds()
    state.withLock { state in
      guard now - state.lastDrawn > 50_000_000 else { return }
      state.lastDrawn = now
      state.line = text
      program.show(text)
    }
  }
}
