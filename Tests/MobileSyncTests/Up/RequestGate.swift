import Dispatch
import LocalOrg
import Testing

/// Delays a request in the org until the test releases it, so that actions happen between the
/// request and its response.
struct RequestGate {
  private let arrived: AsyncStream<Void>
  private let arrival: AsyncStream<Void>.Continuation
  private let opened = DispatchSemaphore(value: 0)

  init() { (arrived, arrival) = AsyncStream.makeStream(of: Void.self) }

  /// Closes the gate before the `nth` request of this kind from now on.
  func close(_ org: SyncedOrg, _ match: FaultMatch, nth: Int = 1) {
    org.server.faults.add(
      match, nth: nth,
      .mutate { [arrival, opened] _ in
        arrival.yield()
        // A failing test must not hang.
        _ = opened.wait(timeout: .now() + 20)
      })
  }

  /// Waits until the request reaches the gate.
  func reached() async { for await _ in arrived { return } }

  /// Releases the request.
  func open() { opened.signal() }
}
