import Reports
import System
import Testing

struct RequestAttemptsTests {
  private func day(_ count: Int) throws -> FieldDay {
    let day = try FieldDay()
    day.options.conditionalUpdates = false
    let ids = try (0..<count).map {
      try day.make("Account", ["Name": .string("A\($0)"), "Phone": "1"])
    }
    try day.handBack(try ids.map { try day.edited(account: $0, ["Phone": "2"]) })
    return day
  }

  /// Locks the only row of this number of requests.
  private func hold(_ day: FieldDay, times: Int) {
    let body = #"""
      [{"success":false,"errors":[{"statusCode":"UNABLE_TO_LOCK_ROW","message":"m","fields":[]}]}]
      """#
    day.server.faults.add(
      .kind(.collectionUpdate), nth: 1, times: times, .respond(.json(200, body)))
  }

  @Test func `a locked row is tried as often as configured, after growing pauses`() async throws {
    let day = try day(1)
    let pauses = Locked<[Int64]>([])
    day.options.pause = { milliseconds in pauses.withLock { $0.append(milliseconds) } }
    hold(day, times: 4)
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(day.writes.count == 5)
    #expect(pauses.withLock { $0 } == [1000, 2000, 4000, 5000])
  }

  @Test func `a row that stays locked waits for the next run, which sends it`() async throws {
    let day = try day(1)
    hold(day, times: 5)
    #expect(day.verdicts(try await day.run()) == "not attempted 1")
    #expect(day.writes.count == 5)
    let detail = try #require(try day.details().first)
    #expect(detail.code == "UNABLE_TO_LOCK_ROW" && detail.message == "m")
    #expect(detail.fields.map(\.name) == ["Phone"])
    let told = CarriedWords(
      mask: ReportMask(), verdict: .notAttempted, detail: detail, element: [:], edited: [])
    #expect(told.sentence(over: nil) == "Not sent: m")
    #expect(day.verdicts(try await day.run()) == "updated 1")
  }

  @Test func `only the locked rows of a request are sent again`() async throws {
    let day = try day(2)
    day.server.faults.add(
      .kind(.collectionUpdate), nth: 1,
      .refusePart(1, code: "UNABLE_TO_LOCK_ROW", message: "unable to lock row"))
    #expect(day.verdicts(try await day.run()) == "updated 2")
    #expect(day.server.log.writes.map(\.records) == [1, 1])
  }

  @Test func `a forbidden request is not retried row by row`() async throws {
    let day = try day(2)
    day.server.faults.add(
      .kind(.collectionUpdate), nth: 1, .status(403, code: "INSUFFICIENT_ACCESS"))
    #expect(day.verdicts(try await day.run()) == "failed 2")
    #expect(day.writes.count == 1)
  }

  @Test func `a request sent in halves leaves nothing unconfirmed`() async throws {
    let day = try day(2)
    day.server.faults.add(.kind(.collectionUpdate), nth: 1, .status(400, code: "JSON_PARSER_ERROR"))
    #expect(day.verdicts(try await day.run()) == "updated 2")
    let searches = day.server.log.count
    #expect(day.verdicts(try await day.run()) == "")
    #expect(day.server.log.count == searches)
  }
}
