import JSON
import Salesforce
import System

extension Session {
  /// Returns the responses to queries for values of a field, in order, several queries in one call
  /// where that is fewer requests.
  ///
  /// `slice` is the number of values in one query if each is sent separately. If it is below the
  /// standard, responses must stay small, and nothing is combined.
  func answers(
    about values: IDList, slice: Int, _ width: CallWidth,
    _ soql: @escaping @Sendable ([String]) -> String
  ) -> any AnswerSource<QueryAnswer> {
    let size = Self.wideSlice(of: values, soql)
    guard slice >= RequestLimits.idsPerQuery, values.count > slice, size > slice else {
      return answers(about: values, slice: slice, soql)
    }
    var next = 0
    let count = (values.count + size - 1) / size
    return WideWindow(self, width, slice: slice, soql) { most in
      let parts = next..<min(next + most, count)
      next = parts.upperBound
      return parts.map { values.slice($0, of: size) }
    }
  }

  /// The number of values in a query that is a part of a call.
  static func wideSlice(of values: IDList, _ soql: ([String]) -> String) -> Int {
    // Each value is in quotes, with a comma and a space after it; any character may be escaped.
    let room = RequestLimits.statement - soql([]).utf8.count
    return max(1, min(RequestLimits.retrieve, room / (2 * values.longest + 4)))
  }
}

extension WideWindow where Work == [String], Answer == QueryAnswer {
  /// Queries for slices of values; one that is sent separately is sent in slices of `slice` values.
  fileprivate convenience init(
    _ session: Session, _ width: CallWidth, slice: Int,
    _ soql: @escaping @Sendable ([String]) -> String,
    supply: @escaping (_ most: Int) -> [Work]
  ) {
    let way = Way(
      session: session, width: width,
      request: { values, name in session.queryRequest([soql(values)], referenceId: name) },
      read: { values, part, askedAt throws(OrgError) in
        guard let page = GivenPage(part, askedAt: askedAt) else { return nil }
        if page.isLast {
          return QueryAnswer(pages: [page.bytes], totalSize: page.totalSize, asked: values.count)
        }
        do throws(OrgError) {
          let (pages, totalSize) = try await session.allPages(soql(values), given: page)
          return QueryAnswer(pages: pages, totalSize: totalSize, asked: values.count)
        } catch {
          guard error.mayFareBetter else { throw error }
          return nil
        }
      },
      alone: { values throws(OrgError) in
        var answer = QueryAnswer(pages: [], totalSize: 0, asked: values.count)
        for part in values.parts(of: slice) {
          let next = try await session.answer(about: part, soql)
          width.note(bytes: next.pages.reduce(0) { $0 + $1.count } * values.count / part.count)
          answer = QueryAnswer(
            pages: answer.pages + next.pages, totalSize: answer.totalSize + next.totalSize,
            asked: values.count)
        }
        return answer
      }, combinesOne: true)
    self.init(way, supply: supply)
  }
}
