import JSON
import Salesforce

/// Positions that cut the IDs of an object into ranges with about the same number of records.
///
/// They are learned from the records of one user, and only make requests fewer: whatever the cuts
/// are, every ID is in at least one of the ranges. For any order in which the org compares IDs, an
/// ID comes after the start, which has no lower bound, and not after the end, which has no upper
/// bound, so between two neighbouring cuts this changes from yes to no.
package struct IDRanges: Sendable, Hashable {
  /// The expected number of records in a range.
  ///
  /// It is below the org's page of 2,000, because a range with more records needs another request.
  package static let expected = 1900
  /// The number of cuts that are kept; a range spans several of their intervals.
  static let mostCuts = 255
  /// The number of intervals in a range, as far as the number of cuts allows.
  static let intervalsPerRange = 8

  /// The number of records that the cuts were learned from.
  package let records: Int
  /// The first IDs of the intervals after the first one, with 18 characters, in byte order.
  package let cuts: [String]

  /// Creates known cuts; nil if a text is not a record ID, or if there are too few records to cut.
  package init?(records: Int, cuts: [String]) {
    guard records > Self.expected, !cuts.isEmpty, cuts.count <= Self.mostCuts,
      cuts.allSatisfy({ RecordID($0)?.text18 == $0 })
    else { return nil }
    self.records = records
    self.cuts = cuts
  }

  /// Learns the cuts from a sample of the IDs of all records of a query, in any order.
  ///
  /// Returns nil if the records fit on one page.
  package init?(sample: [String], records: Int) {
    let counts = sample.reduce(into: [String: Int]()) { $0[String($1.prefix(3)), default: 0] += 1 }
    // An ID of another object is that of a parent.
    guard let prefix = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key else {
      return nil
    }
    let ids = Set(sample.filter { $0.hasPrefix(prefix) }).compactMap(\.recordID18)
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let intervals = min(
      Self.mostCuts + 1, ids.count, records * Self.intervalsPerRange / Self.expected + 1)
    guard intervals > 1 else { return nil }
    self.init(records: records, cuts: (1..<intervals).map { ids[$0 * ids.count / intervals] })
  }

  /// The same cuts for another number of records; the cuts as they are if they would be too few.
  package func with(records: Int) -> IDRanges { IDRanges(records: records, cuts: cuts) ?? self }

  /// Whether the cuts need not be learned again for this number of records.
  func isFit(for count: Int) -> Bool { abs(records - count) * 10 < count }

  /// The number of intervals between the cuts, with those before the first and after the last.
  package var intervals: Int { cuts.count + 1 }

  /// The condition for the IDs in some adjacent intervals; nil for all of them.
  package func condition(_ range: Range<Int>) -> String? {
    var conditions: [String] = []
    if range.lowerBound > 0 {
      conditions.append("Id > \(SOQLLiteral.text(cuts[range.lowerBound - 1]))")
    }
    if range.upperBound < intervals {
      conditions.append("Id <= \(SOQLLiteral.text(cuts[range.upperBound - 1]))")
    }
    return conditions.isEmpty ? nil : conditions.joined(separator: " and ")
  }
}

/// A sample of the IDs in the pages of a query.
struct IDSample {
  private static let name = Array("\"Id\":\"".utf8)
  /// The rarest byte of the name.
  private static let letter = UInt8(ascii: "I")
  private static let length = 15
  /// The number of IDs looked for in a page.
  private static let perPage = 50

  /// The 15 characters that identify each record.
  private(set) var ids: [String] = []

  /// Adds IDs from evenly spaced positions of a page.
  ///
  /// Only the bytes up to the next ID are read at each position.
  mutating func add(_ page: [UInt8]) {
    let step = page.count / Self.perPage + 1
    page.withUnsafeBytes { bytes in
      var position = 1
      while position < bytes.count, let letter = bytes[position...].firstIndex(of: Self.letter) {
        let start = letter - 1 + Self.name.count
        guard start + Self.length <= bytes.count else { return }
        guard bytes[letter - 1..<start].elementsEqual(Self.name) else {
          position = letter + 1
          continue
        }
        ids.append(String(decoding: bytes[start..<start + Self.length], as: UTF8.self))
        position = max(start + Self.length, position + step)
      }
    }
  }
}
