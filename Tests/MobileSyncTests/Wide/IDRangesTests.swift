import MobileSync
import Salesforce
import Testing

@Suite struct IDRangesTests {
  /// The 15-character IDs of records of an object with a sequence.
  static func ids(_ numbers: Range<Int>, prefix: String = "001") -> [String] {
    numbers.map { number in
      let text = String(number)
      return prefix + String(repeating: "0", count: 12 - text.count) + text
    }
  }

  private static func ranges(_ count: Int) throws -> IDRanges {
    try #require(IDRanges(sample: ids(0..<count), records: count))
  }

  /// The bounds in a condition of a range: an ID is after the first, and not after the second.
  private static func bounds(_ condition: String?) -> (after: String?, upTo: String?) {
    var (after, upTo): (String?, String?)
    for term in (condition ?? "").split(separator: " and ") {
      let id = String(term.split(separator: "'")[1])
      if term.hasPrefix("Id > ") { after = id } else { upTo = id }
    }
    return (after, upTo)
  }

  private static func matches(_ id: String, _ bounds: (after: String?, upTo: String?)) -> Bool {
    (bounds.after.map { $0 < id } ?? true) && (bounds.upTo.map { id <= $0 } ?? true)
  }

  @Test(arguments: [0, 1, 500, 1900])
  func `records that fit on one page have no ranges`(_ count: Int) {
    #expect(IDRanges(sample: Self.ids(0..<count), records: count) == nil)
  }

  @Test(arguments: [1901, 4000, 50_000])
  func `the cuts are evenly spaced among the ids`(_ count: Int) throws {
    let ranges = try Self.ranges(count)
    let ids = Self.ids(0..<count).compactMap(\.recordID18)
    for interval in 0..<ranges.intervals where interval % 20 == 0 {
      let bounds = Self.bounds(ranges.condition(interval..<interval + 1))
      let records = ids.count { Self.matches($0, bounds) }
      #expect(abs(records - count / ranges.intervals) <= 1, "interval \(interval)")
    }
  }

  @Test func `ids of parents in the sample are left out`() throws {
    let mixed = Self.ids(0..<4000) + Self.ids(0..<1000, prefix: "003")
    #expect(try IDRanges(sample: mixed, records: 4000) == Self.ranges(4000))
  }

  @Test func `every id is in a range, whatever the order of the cuts`() throws {
    let cuts = try Self.ranges(6000).cuts
    let ids = Self.ids(0..<6000).compactMap(\.recordID18)
    for cuts in [cuts, cuts.reversed(), Array(cuts[5...] + cuts[..<5])] {
      let ranges = try #require(IDRanges(records: 6000, cuts: cuts))
      let bounds = stride(from: 0, to: ranges.intervals, by: 3).map {
        Self.bounds(ranges.condition($0..<min($0 + 3, ranges.intervals)))
      }
      let found = ids.filter { id in bounds.contains { Self.matches(id, $0) } }
      #expect(found.count == ids.count)
    }
  }

  @Test func `a condition has only the bounds that there are`() throws {
    let ranges = try Self.ranges(4000)
    let last = ranges.intervals
    #expect(ranges.condition(0..<last) == nil)
    #expect(ranges.condition(0..<2) == "Id <= '\(ranges.cuts[1])'")
    #expect(ranges.condition(2..<last) == "Id > '\(ranges.cuts[1])'")
    #expect(
      ranges.condition(1..<2) == "Id > '\(ranges.cuts[0])' and Id <= '\(ranges.cuts[1])'")
  }

  @Test func `texts that are not record ids are refused`() throws {
    #expect(IDRanges(records: 9000, cuts: ["x"]) == nil)
    #expect(IDRanges(records: 9000, cuts: []) == nil)
    #expect(IDRanges(records: 10, cuts: try Self.ranges(4000).cuts) == nil)
    let id = try #require(Self.ids(1..<2).first)
    #expect(IDRanges(records: 9000, cuts: [id]) == nil)
  }

  /// The number of calls for a user's records, and of ranges that do not fit on a page.
  private func calls(_ ranges: IDRanges, _ records: Int) -> (calls: Int, overflows: Int) {
    var plan = RangePlan(ranges)
    var (calls, overflows) = (0, 0)
    while true {
      let parts = plan.next(CallWidth.most)
      if parts.isEmpty { break }
      calls += 1
      for part in parts {
        let bounds = [part.lowerBound, part.upperBound].map { records * $0 / ranges.intervals }
        let found = bounds[1] - bounds[0]
        if found > 2000 { overflows += 1 }
        plan.note(part, records: found)
      }
    }
    #expect(plan.totalSize == records)
    return (calls, overflows)
  }

  @Test(arguments: [(2500, 1), (5000, 1), (9400, 1), (10_000, 2), (50_000, 6), (100_000, 13)])
  func `ten thousand records take about one call`(_ records: Int, _ expected: Int) throws {
    let (calls, overflows) = calls(try Self.ranges(records), records)
    #expect(calls <= expected)
    #expect(overflows == 0)
  }

  @Test(arguments: [0, 300, 5000, 20_000])
  func `the ranges of a user with many records fit one with fewer`(_ records: Int) throws {
    let (calls, overflows) = calls(try Self.ranges(50_000), records)
    #expect(calls <= 2 + records / 9000)
    #expect(overflows == 0)
  }

  @Test func `where one part is allowed, one range has all that is left`() throws {
    let ranges = try Self.ranges(50_000)
    var plan = RangePlan(ranges)
    let first = plan.next(2)
    #expect(first.count == 2)
    let rest = plan.next(1)
    #expect(rest == [(first.last?.upperBound ?? 0)..<ranges.intervals])
    #expect(plan.next(1).isEmpty)
  }

  @Test(arguments: [
    ("SELECT Id FROM Account", true), ("SELECT Id, Name FROM Account ORDER BY Name", true),
    ("SELECT Id, Owner.Name FROM Account WHERE Name = 'a' OR Name = 'b'", true),
    ("SELECT Id FROM Account WHERE Id IN (SELECT AccountId FROM Contact)", true),
    ("SELECT Id FROM Account LIMIT 10", false), ("SELECT Id FROM Account OFFSET 10", false),
    ("SELECT Id, (SELECT Id FROM Contacts) FROM Account", false),
    ("SELECT Id FROM Account USING SCOPE mine", false),
    ("SELECT Id FROM Account WITH SECURITY_ENFORCED", false),
    ("SELECT Id FROM Account FOR VIEW", false), ("SELECT Id FROM Account ALL ROWS", false),
  ])
  func `a query is divided where its meaning allows it`(_ text: String, _ isDivisible: Bool) throws
  {
    #expect(try SyncQuery(text).isDivisible == isDivisible)
    #expect(try !SyncQuery(text, idField: "Ext__c").isDivisible)
  }

  @Test func `a long condition is not repeated in every range`() throws {
    let list = (0..<2000).map { "'value number \($0)'" }.joined(separator: ",")
    #expect(try !SyncQuery("SELECT Id FROM Account WHERE Name IN (\(list))").isDivisible)
  }
}
