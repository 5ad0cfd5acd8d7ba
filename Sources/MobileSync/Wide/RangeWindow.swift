import Salesforce
import System

/// The first pages of a query that is divided by ranges of IDs, several ranges in one call.
final class RangeWindow {
  /// A range, with its first page if a call brought it.
  struct Answer: Sendable {
    let intervals: Range<Int>
    /// The condition of the range; nil for all IDs.
    let condition: String?
    let page: GivenPage?
  }

  /// The plan, which the window's closures share with the reader.
  private final class Course {
    var plan: RangePlan
    init(_ plan: RangePlan) { self.plan = plan }
  }

  private let course: Course
  private let window: WideWindow<Range<Int>, Answer>

  /// Sends the first call; `text` returns the statement with a condition.
  init(
    _ session: Session, _ ranges: IDRanges, _ width: CallWidth,
    text: @escaping @Sendable (_ condition: String?) -> String
  ) {
    let course = Course(RangePlan(ranges))
    self.course = course
    let way = WideWindow<Range<Int>, Answer>.Way(
      session: session, width: width,
      request: { range, name in
        session.queryRequest([text(ranges.condition(range))], referenceId: name)
      },
      read: { range, part, askedAt in
        GivenPage(part, askedAt: askedAt).map {
          Answer(intervals: range, condition: ranges.condition(range), page: $0)
        }
      },
      alone: { range in
        // The reader sends the query.
        Answer(intervals: range, condition: ranges.condition(range), page: nil)
      })
    window = WideWindow(
      way,
      arrived: { answers in
        for answer in answers {
          if let page = answer.page { course.plan.note(answer.intervals, records: page.totalSize) }
        }
        // An org keeps ten cursors of a user open, and closes the oldest one for another.
        return answers.allSatisfy { $0.page?.isLast == true }
      },
      supply: { course.plan.next($0) })
  }

  /// The number of records read and to be read, as far as known.
  var totalSize: Int { course.plan.totalSize }

  /// Returns the next range; nil after the last.
  func next() async throws(SyncError) -> Answer? {
    window.hasMore ? try await window.take() : nil
  }

  /// Records the number of records in a range that the reader requested.
  func note(_ answer: Answer, records: Int) {
    if answer.page == nil { course.plan.note(answer.intervals, records: records) }
  }
}
