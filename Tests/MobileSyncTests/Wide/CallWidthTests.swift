import MobileSync
import Testing

@Suite struct CallWidthTests {
  private static let second: UInt64 = 1_000_000_000

  private func width(_ parts: Int = CallWidth.most) -> CallWidth {
    CallWidth(CallWidth.Known(parts: parts, partBytes: 1000))
  }

  @Test func `the first request is alone, because the size of its response is unknown`() {
    let width = CallWidth()
    #expect(width.next == 1)
    width.note(bytes: 500_000)
    #expect(width.next == 5)
  }

  @Test(arguments: [(1000, 5), (1 << 20, 5), (2 << 20, 2), (3 << 20, 1), (50 << 20, 1)])
  func `large responses make calls with fewer parts`(_ bytes: Int, _ parts: Int) {
    let width = CallWidth()
    width.note(bytes: bytes)
    width.note(bytes: 10)
    #expect(width.next == parts)
  }

  @Test(arguments: [(9, 5), (11, 4), (25, 2), (49, 1), (600, 1)])
  func `a call that takes more than ten seconds makes the next one shorter`(
    _ seconds: UInt64, _ parts: Int
  ) {
    let width = width()
    width.note(parts: [10, 10, 10, 10, 10], nanoseconds: seconds * Self.second)
    #expect(width.next == parts)
    #expect(width.known.parts == parts)
  }

  @Test(arguments: [(1, 3), (4, 3), (6, 2), (10, 2)])
  func `a fast call allows one more part`(_ seconds: UInt64, _ parts: Int) {
    let width = width(2)
    width.note(parts: [10, 10], nanoseconds: seconds * Self.second)
    #expect(width.next == parts)
  }

  @Test func `a fast call with fewer parts than allowed shows nothing`() {
    let width = width(4)
    width.note(parts: [10, 10], nanoseconds: Self.second)
    #expect(width.next == 4)
  }

  @Test func `a failed call is halved, and two in a row end them for the run`() {
    let width = width()
    width.noteFailure(of: 5)
    #expect(width.next == 3)
    #expect(!width.isGivenUp)
    width.note(parts: [10, 10, 10], nanoseconds: 6 * Self.second)
    width.noteFailure(of: 3)
    #expect(width.next == 2)
    width.noteFailure(of: 2)
    #expect(width.next == 1)
    #expect(width.isGivenUp)
  }

  @Test func `what a run learned is read by the next one`() throws {
    let wide = WideCalls()
    wide.ahead.note(bytes: 0)
    #expect(wide.stored == nil)
    #expect(WideCalls(stored: wide.stored).stored == nil)
    wide.width("s/a", .records).note(bytes: 700_000)
    wide.width("s/a", .records).note(
      parts: [1, 1, 1, 1, 1], nanoseconds: 25 * Self.second)
    wide.width("s/b", .ids).note(bytes: 10)
    wide.width("s/b", .ids).note(parts: [1, 1], nanoseconds: 100 * Self.second)
    #expect(wide.width("s/b", .ids).next == 1)
    let ranges = try #require(
      IDRanges(sample: IDRangesTests.ids(0..<4000), records: 4000))
    wide.learn(ranges, of: "s/a")
    let next = WideCalls(stored: wide.stored)
    #expect(next.width("s/a", .records).known == CallWidth.Known(parts: 2, partBytes: 700_000))
    #expect(next.width("s/a", .ids).known == CallWidth.Known())
    #expect(next.ranges("s/a") == ranges)
    #expect(next.ranges("s/b") == nil)
    // After a slow run, two parts are tried again.
    #expect(next.width("s/b", .ids).next == 2)
  }

  @Test(arguments: [
    "", "[]", "{", #"{"widths":[],"ranges":{"s":{"records":9000,"cuts":["x"]}}}"#,
    #"{"widths":{"s records":{"parts":99,"partBytes":-1}}}"#,
  ])
  func `what cannot be read is unknown`(_ text: String) {
    let wide = WideCalls(stored: text)
    #expect(wide.ranges("s") == nil)
    #expect((1...CallWidth.most).contains(wide.width("s", .records).next))
  }
}
