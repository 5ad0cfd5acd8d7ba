import Foundation
import System

/// Holds responses back until a number of requests are waiting.
package final class RequestGate: Sendable {
  private struct State {
    var waiting = 0
    var most = 0
    var isOpen = false
  }

  private let state = Locked(State())
  private let opened = DispatchSemaphore(value: 0)
  private let size: Int
  package init(_ size: Int) { self.size = size }

  package var most: Int { state.withLock { $0.most } }

  /// Waits for the other requests, up to the time that a test may hang.
  package func pass() {
    let opens = state.withLock { state in
      state.waiting += 1
      state.most = max(state.most, state.waiting)
      if state.waiting == size { state.isOpen = true }
      return state.isOpen
    }
    if opens { opened.signal() }
    if opened.wait(timeout: .now() + 20) == .success { opened.signal() }
    state.withLock { $0.waiting -= 1 }
  }
}
