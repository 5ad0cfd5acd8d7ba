import Foundation
import System
import Testing

@Suite struct DatesTests {
  static let moments: [(String, Int64)] = [
    ("1970-01-01T00:00:00.000Z", 0), ("2024-01-31T12:34:56.000+0000", 1_706_704_496_000),
    ("2024-01-31T12:34:56Z", 1_706_704_496_000), ("2024-01-31T12:34:56+00:00", 1_706_704_496_000),
    ("2024-01-31T14:34:56.789+02:00", 1_706_704_496_789),
    ("2024-01-31T05:04:56.789-0730", 1_706_704_496_789),
    ("2024-01-31T12:34:56.7Z", 1_706_704_496_700),
    ("2024-01-31T12:34:56.789123Z", 1_706_704_496_789),
    ("2024-02-29T00:00:00.000Z", 1_709_164_800_000), ("2000-02-29T23:59:59.999Z", 951_868_799_999),
    ("1969-12-31T23:59:59.999Z", -1), ("1900-03-01T00:00:00.000Z", -2_203_891_200_000),
    ("4000-12-31T00:00:00.000Z", 64_092_124_800_000),
    ("0001-01-01T00:00:00.000Z", -62_135_596_800_000),
  ]

  @Test(arguments: moments)
  func `an ISO 8601 date is parsed exactly`(text: String, milliseconds: Int64) {
    #expect(Dates.milliseconds(iso8601: text) == milliseconds)
    #expect(Dates.milliseconds(iso8601: Array(text.utf8)) == milliseconds)
    #expect(Dates.milliseconds(iso8601: Dates.salesforce(milliseconds)) == milliseconds)
    #expect(Dates.milliseconds(iso8601: Dates.utc(milliseconds)) == milliseconds)
  }

  @Test(arguments: [
    "", "2024-01-31", "2024-01-31T12:34:56", "2024-1-31T12:34:56Z", "2023-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z", "2024-04-31T00:00:00Z",
    "2024-01-31T24:00:00Z", "2024-01-31T12:60:00Z", "2024-01-31T12:34:60Z", "2024-01-31T12:34:56.Z",
    "2024-01-31T12:34:56ZZ", "2024-01-31T12:34:56+0", "2024-01-31T12:34:56+2500",
    "2024-01-31T12:34:56+00:0", "2024-01-31T12:34:56.1234567890Z", "２024-01-31T12:34:56Z",
  ])
  func `an invalid date is rejected`(text: String) {
    #expect(Dates.milliseconds(iso8601: text) == nil)
  }

  @Test func `dates are written in the format of each reader`() {
    let moment: Int64 = 1_706_704_496_007
    #expect(Dates.salesforce(moment) == "2024-01-31T12:34:56.007+0000")
    #expect(Dates.utc(moment) == "2024-01-31T12:34:56.007Z")
    #expect(Dates.utcSeconds(moment) == "2024-01-31T12:34:56Z")
    #expect(Dates.http(moment) == "Wed, 31 Jan 2024 12:34:56 GMT")
    #expect(Dates.http(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
    #expect(Dates.http(-1000) == "Wed, 31 Dec 1969 23:59:59 GMT")
  }

  @Test(arguments: [
    ("Wed, 31 Jan 2024 12:34:56 GMT", 1_706_704_496_000 as Int64?),
    ("Mon, 1 Jan 2024 00:00:00 GMT", 1_704_067_200_000),
    ("Mon, 01 Jan 2024 00:00:00 GMT", 1_704_067_200_000),
    ("01 Jan 2024 00:00:00 GMT", nil),
    ("Mon, 01 Foo 2024 00:00:00 GMT", nil),
    ("Mon, 01 Jan 2024 00:00 GMT", nil),
    ("Mon, 01 Jan 2024 00:00:00 CET", nil),
    ("Thu, 30 Feb 2024 00:00:00 GMT", nil),
  ])
  func `an HTTP date is parsed`(text: String, milliseconds: Int64?) {
    #expect(Dates.milliseconds(http: text) == milliseconds)
  }

  @Test func `every day of eight centuries agrees with Foundation`() {
    let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    for day in stride(from: Int64(-140_000), to: 160_000, by: 997) {
      let milliseconds = day * 86_400_000 + (day &* 7919) % 86_400_000
      let date = Date(timeIntervalSince1970: Double(milliseconds / 1000))
      let whole = milliseconds / 1000 * 1000
      #expect(Dates.utc(whole) == date.formatted(format), "day \(day)")
    }
  }
}
