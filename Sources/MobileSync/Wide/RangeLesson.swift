import Salesforce

/// Learns from a query that is read page by page how its records can be requested by ranges.
final class RangeLesson {
  private let calls: WideCalls
  private let sync: String
  private var sample = IDSample()

  /// Starts a lesson for the ranges of a sync.
  init(_ calls: WideCalls, sync: String) {
    self.calls = calls
    self.sync = sync
  }

  func add(_ page: [UInt8]) {
    sample.add(page)
    calls.width(sync, .records).note(bytes: page.count)
  }

  /// Records the ranges, after the last page.
  func finish(records: Int) {
    guard let ranges = IDRanges(sample: sample.ids, records: records) else { return }
    calls.learn(ranges, of: sync)
  }
}
