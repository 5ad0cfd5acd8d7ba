import Salesforce

/// Learns from a query that is read page by page how its records can be requested by ranges.
final class RangeLesson {
  private let calls: WideCalls
  private let name: String
  private let width: CallWidth
  private var sample = IDSample()

  /// Starts a lesson for the ranges with a name.
  init(_ calls: WideCalls, name: String, _ width: CallWidth) {
    self.calls = calls
    self.name = name
    self.width = width
  }

  func add(_ page: [UInt8]) {
    sample.add(page)
    width.note(bytes: page.count)
  }

  /// Records the ranges, after the last page.
  func finish(records: Int) {
    guard let ranges = IDRanges(sample: sample.ids, records: records) else { return }
    calls.learn(ranges, of: name)
  }
}
