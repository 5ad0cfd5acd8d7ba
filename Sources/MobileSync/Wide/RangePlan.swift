/// Chooses how many intervals of `IDRanges` the next ranges span, from the records in earlier ones.
package struct RangePlan {
  private let ranges: IDRanges
  /// The number of intervals that are already in ranges.
  private var planned = 0
  /// The intervals whose number of records is known, and these records.
  private var known = (intervals: 0, records: 0)

  package init(_ ranges: IDRanges) { self.ranges = ranges }

  /// The number of records read and to be read, as far as known.
  package var totalSize: Int {
    known.records + Int(density * Double(ranges.intervals - known.intervals))
  }

  /// The expected number of records in an interval.
  private var density: Double {
    known.intervals > 0
      ? Double(known.records) / Double(known.intervals)
      : Double(ranges.records) / Double(ranges.intervals)
  }

  /// Returns the ranges for the next parts; one range with all remaining intervals if only one part
  /// is allowed.
  package mutating func next(_ most: Int) -> [Range<Int>] {
    var found: [Range<Int>] = []
    let span = max(1, min(ranges.intervals, Int(Double(IDRanges.expected) / max(density, 1))))
    while found.count < max(1, most), planned < ranges.intervals {
      let end = most < 2 ? ranges.intervals : min(planned + span, ranges.intervals)
      found.append(planned..<end)
      planned = end
    }
    return found
  }

  /// Records the number of records in a range.
  package mutating func note(_ range: Range<Int>, records: Int) {
    known.intervals += range.count
    known.records += records
  }
}
