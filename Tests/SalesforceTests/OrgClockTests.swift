import HTTP
import Salesforce
import System
import Testing

@Suite struct OrgClockTests {
  private static let earlier = "Wed, 25 Nov 2026 10:00:00 GMT"
  private static let later = "Wed, 25 Nov 2026 10:00:01 GMT"
  private let connection: OrgConnection
  init() throws {
    connection = OrgConnection(
      client: try HTTPClient(HTTPClient.Configuration()), policy: RetryPolicy(), pause: .none,
      timeoutSeconds: 1, budget: APIBudget(), events: { _ in })
  }

  private func answer(_ date: String, since start: UInt64, asked: UInt64? = nil) {
    connection.note(
      HTTPResponse(status: 200, headers: ["Date": date], body: []), .query, "a query", "ada",
      since: start, asked: asked)
  }

  @Test func `of concurrent responses the latest date is kept`() {
    let start = Clock.monotonicNanoseconds()
    answer(Self.later, since: start)
    answer(Self.earlier, since: start)
    #expect(connection.serverDate == Dates.milliseconds(http: Self.later))
  }

  @Test func `a clock set back is accepted from a response to a later request`() {
    answer(Self.later, since: Clock.monotonicNanoseconds())
    answer(Self.earlier, since: Clock.monotonicNanoseconds())
    #expect(connection.serverDate == Dates.milliseconds(http: Self.earlier))
  }

  @Test func `a page requested ahead does not turn the clock back`() {
    let asked = Clock.monotonicNanoseconds()
    answer(Self.later, since: Clock.monotonicNanoseconds())
    answer(Self.earlier, since: Clock.monotonicNanoseconds(), asked: asked)
    #expect(connection.serverDate == Dates.milliseconds(http: Self.later))
  }
}
