import Salesforce
import System

/// The first pages of a query that is divided by ranges of IDs, several ranges in one call.
final class RangeWindow {
  /// A range, with its first page if a call brought it.
  struct Answer: Sendable {
    /// The intervals; nil for the closing query.
    let intervals: Range<Int>?
    /// The condition of the range; nil for all IDs.
    let condition: String?
    let page: GivenPage?
  }

  /// The plan, which the window's closures share with the reader.
  private final class Course {
    var plan: RangePlan
    var isClosing = false
    init(_ plan: RangePlan) { self.plan = plan }

    /// The next ranges, and after the last one nil for the closing query, if there is one.
    func next(_ most: Int, closes: Bool) -> [Range<Int>?] {
      let ranges: [Range<Int>?] = plan.next(most)
      guard closes, !isClosing, ranges.count < most || ranges.isEmpty else { return ranges }
      isClosing = true
      return ranges + [nil]
    }
  }

  private let course: Course
  private let window: WideWindow<Range<Int>?, Answer>
  /// The first page of the closing query, if it was sent after all ranges.
  private(set) var closing: GivenPage?
  private var areAllGiven = true

  /// Sends the first call; `text` returns the statement with a condition.
  ///
  /// A `closing` query is sent in the last call, after the ranges.
  init(
    _ session: Session, _ ranges: IDRanges, _ width: CallWidth, closing: String? = nil,
    text: @escaping @Sendable (_ condition: String?) -> String
  ) {
    let course = Course(RangePlan(ranges))
    self.course = course
    @Sendable func answer(_ range: Range<Int>?, _ page: GivenPage?) -> Answer {
      Answer(intervals: range, condition: range.flatMap { ranges.condition($0) }, page: page)
    }
    let way = WideWindow<Range<Int>?, Answer>.Way(
      session: session, width: width,
      request: { range, name in
        let soql = range.map { text(ranges.condition($0)) } ?? closing ?? ""
        return session.queryRequest([soql], referenceId: name)
      },
      read: { range, part, askedAt in
        GivenPage(part, askedAt: askedAt).map { answer(range, $0) }
      },
      // The reader sends the query.
      alone: { answer($0, nil) })
    window = WideWindow(
      way,
      arrived: { answers in
        for answer in answers {
          if let page = answer.page, let intervals = answer.intervals {
            course.plan.note(intervals, records: page.totalSize)
          }
        }
        // An org keeps ten cursors of a user open, and closes the oldest one for another.
        return answers.allSatisfy { $0.page?.isLast == true }
      },
      supply: { course.next($0, closes: closing != nil) })
  }

  /// The number of records read and to be read, as far as known.
  var totalSize: Int { course.plan.totalSize }

  /// Returns the next range; nil after the last.
  func next() async throws(SyncError) -> Answer? {
    while window.hasMore {
      let answer = try await window.take()
      guard answer.intervals == nil else {
        areAllGiven = areAllGiven && answer.page != nil
        return answer
      }
      closing = areAllGiven ? answer.page : nil
    }
    return nil
  }

  /// Records the number of records in a range that the reader requested.
  func note(_ answer: Answer, records: Int) {
    if answer.page == nil, let intervals = answer.intervals {
      course.plan.note(intervals, records: records)
    }
  }
}
