import Salesforce
import System

/// All records of a query, requested by ranges of their IDs.
///
/// Each range has its own pages (`SoqlPages`), of which a call with other ranges has brought the
/// first. A record keeps its ID when it is changed, so it stays in its range. Records do not arrive
/// in the order of their dates, as from a bulk job. If the org refuses a range, all records are read
/// without ranges; those that arrive twice are matched by ID.
final class RangedPages: SyncDownPages {
  private let window: RangeWindow
  private let pages: (RangeWindow.Answer) -> SoqlPages
  private let whole: () -> SoqlPages
  private let finished: (_ records: Int) -> Void
  /// The pages of the whole query, used after the org refused a range.
  private var instead: SoqlPages?
  private var current: (range: RangeWindow.Answer, pages: SoqlPages)?
  /// The number of records in the ranges that were read.
  private var received = 0

  let isSorted = false
  let isWhole = true

  /// Reads the ranges of a window.
  ///
  /// `pages` creates the pages of a range, and `whole` those of the query without ranges.
  /// `finished` is called with the number of all records.
  init(
    _ window: RangeWindow, pages: @escaping (RangeWindow.Answer) -> SoqlPages,
    whole: @escaping () -> SoqlPages, finished: @escaping (_ records: Int) -> Void
  ) {
    self.window = window
    self.pages = pages
    self.whole = whole
    self.finished = finished
  }

  var totalSize: Int {
    if let instead { return instead.totalSize }
    // A range that is read without a call is known only while it is read.
    return max(window.totalSize, received + (current?.pages.totalSize ?? 0))
  }

  func next() async throws(SyncError) -> SyncPage? {
    if let instead { return try await instead.next() }
    do throws(SyncError) {
      return try await nextOfRanges()
    } catch {
      guard error.code == .queryRefused else { throw error }
      let pages = whole()
      instead = pages
      return try await pages.next()
    }
  }

  private func nextOfRanges() async throws(SyncError) -> SyncPage? {
    while true {
      if let (range, pages) = current {
        if let page = try await pages.next() { return page }
        received += pages.totalSize
        window.note(range, records: pages.totalSize)
        current = nil
      }
      guard let range = try await window.next() else { break }
      current = (range, pages(range))
    }
    finished(received)
    return nil
  }

  func recycle(_ page: consuming SyncPage, records: Int) {
    (instead ?? current?.pages)?.recycle(page, records: records)
  }
}
