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

  func close(_ org: SyncedOrg, _ match: FaultMatch, nth: Int = 1) {
    org.server.faults.add(
      match, nth: nth,
      .mutate { [arrival, opened] _ in
        arrival.yield()
        // A failing test must not hang.
        _ = opened.wait(timeout: .now() + 20)
      })
  }

  func reached() async { for await _ in arrived { return } }

  func open() { opened.signal() }
}
