import JSON
import Testing

@Suite struct DateLiteralTests {
  /// Read-only: shared by all cases.
  static let shared = Result { try filled() }
  static let days = [
    "2022-02-28", "2022-12-31", "2023-01-01", "2023-06-30", "2023-07-01", "2023-08-15",
    "2023-09-30", "2023-10-01", "2023-10-31", "2023-11-04", "2023-11-05", "2023-11-11",
    "2023-11-12", "2023-11-13", "2023-11-14", "2023-11-15", "2023-11-18", "2023-11-19",
    "2023-11-30", "2023-12-01", "2023-12-31", "2024-01-01", "2024-02-29", "2024-03-31",
    "2024-04-01", "2025-01-01",
  ]

  static func filled() throws -> SampleOrg {
    let sample = try SampleOrg()
    for day in days {
      try sample.make("Site_Visit__c", ["Name": .string(day), "Visit_Date__c": .string(day)])
      let start = JSONValue.string(day + "T23:59:59.000Z")
      try sample.make("WorkOrder", ["Subject": .string(day), "StartDate": start])
    }
    return sample
  }

  /// A literal, and the first and the last of `days` in its range; nil if there is none.
  static let ranges: [(String, String, String)] = [
    ("YESTERDAY", "2023-11-13", "2023-11-13"), ("today", "2023-11-14", "2023-11-14"),
    ("TOMORROW", "2023-11-15", "2023-11-15"), ("LAST_WEEK", "2023-11-05", "2023-11-11"),
    ("THIS_WEEK", "2023-11-12", "2023-11-18"), ("NEXT_WEEK", "2023-11-19", "2023-11-19"),
    ("LAST_MONTH", "2023-10-01", "2023-10-31"), ("THIS_MONTH", "2023-11-04", "2023-11-30"),
    ("NEXT_MONTH", "2023-12-01", "2023-12-31"), ("LAST_90_DAYS", "2023-09-30", "2023-11-14"),
    ("NEXT_90_DAYS", "2023-11-15", "2024-01-01"), ("LAST_QUARTER", "2023-07-01", "2023-09-30"),
    ("THIS_QUARTER", "2023-10-01", "2023-12-31"), ("NEXT_QUARTER", "2024-01-01", "2024-03-31"),
    ("LAST_YEAR", "2022-02-28", "2022-12-31"), ("THIS_YEAR", "2023-01-01", "2023-12-31"),
    ("NEXT_YEAR", "2024-01-01", "2024-04-01"), ("LAST_N_DAYS:1", "2023-11-13", "2023-11-14"),
    ("NEXT_N_DAYS:4", "2023-11-15", "2023-11-18"), ("N_DAYS_AGO:3", "2023-11-11", "2023-11-11"),
    ("LAST_N_WEEKS:2", "2023-10-31", "2023-11-11"), ("LAST_N_MONTHS:2", "2023-09-30", "2023-10-31"),
    ("NEXT_N_MONTHS:2", "2023-12-01", "2024-01-01"), ("N_MONTHS_AGO:1", "2023-10-01", "2023-10-31"),
    ("LAST_N_QUARTERS:1", "2023-07-01", "2023-09-30"),
    ("LAST_N_YEARS:1", "2022-02-28", "2022-12-31"), ("NEXT_N_YEARS:2", "2024-01-01", "2025-01-01"),
  ]

  @Test(arguments: ranges) func `a date literal is a range of days, for dates and for date-times`(
    literal: String, first: String, last: String
  ) throws {
    let sample = try Self.shared.get()
    func names(_ comparison: String) throws -> [String] {
      let visits = try sample.column(
        "SELECT Name FROM Site_Visit__c WHERE Visit_Date__c \(comparison) \(literal)")
      let orders = try sample.column(
        "SELECT Subject FROM WorkOrder WHERE StartDate \(comparison) \(literal)", "Subject")
      #expect(visits == orders)
      return visits
    }
    #expect(try names("=") == Self.days.filter { $0 >= first && $0 <= last })
    #expect(try names("!=") == Self.days.filter { $0 < first || $0 > last })
    #expect(try names("<") == Self.days.filter { $0 < first })
    #expect(try names("<=") == Self.days.filter { $0 <= last })
    #expect(try names(">") == Self.days.filter { $0 > last })
    #expect(try names(">=") == Self.days.filter { $0 >= first })
  }
}
