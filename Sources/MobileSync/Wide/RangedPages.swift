import Salesforce
import System

/// All records of a query, requested by ranges of their IDs.
///
/// Each range has its own pages (`SoqlPages`), of which a call with other ranges has brought the
/// first. A record has the same ID when it is changed, so it is in the same range. Records arrive in
/// no order of their dates, as from a bulk job.
final class RangedPages: SyncDownPages {
  private let window: RangeWindow
  private let pages: (RangeWindow.Answer) -> SoqlPages
  private let finished: (_ records: Int) -> Void
  private var current: (range: RangeWindow.Answer, pages: SoqlPages)?
  /// The number of records in the ranges that were read.
  private var received = 0

  let isSorted = false
  let isWhole = true

  /// Requests the first ranges; `pages` creates the pages of a range, and `finished` is called with
  /// the number of all records.
  init(
    _ window: RangeWindow, pages: @escaping (RangeWindow.Answer) -> SoqlPages,
    finished: @escaping (_ records: Int) -> Void
  ) {
    self.window = window
    self.pages = pages
    self.finished = finished
  }

  var totalSize: Int {
    // A range that is read without a call is known only while it is read.
    max(window.totalSize, received + (current?.pages.totalSize ?? 0))
  }

  func next() async throws(SyncError) -> SyncPage? {
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
    current?.pages.recycle(page, records: records)
  }
}
