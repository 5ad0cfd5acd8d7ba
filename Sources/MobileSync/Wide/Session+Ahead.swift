import Salesforce
import System

extension Session {
  /// Sends queries whose answers will be needed, several in one call, and describes objects in the
  /// same calls; returns the session that has the answers.
  ///
  /// An answer is kept if its first page is complete, so few records are held in memory. What is
  /// not kept is requested when it is needed, as if nothing had been sent before.
  package func asking(
    _ queries: [AheadQuery], describing sObjects: [String], _ width: CallWidth
  ) async -> Session {
    guard !queries.isEmpty else { return self }
    // The answers are short: any number of them fits into a call, and only its duration counts.
    width.note(bytes: 0)
    var answers: [AheadQuery: GivenPage] = [:]
    var (rest, objects) = (queries[...], descriptionRequests(sObjects)[...])
    while !rest.isEmpty, !width.isGivenUp {
      let asked = rest.prefix(width.next)
      let described = objects.prefix(RequestLimits.composite - asked.count)
      guard asked.count + described.count > 1 else { break }
      let requests = asked.enumerated().map { request($1, referenceId: "ahead\($0)") }
      let (askedAt, start) = (serverDate, width.clock())
      do throws(OrgError) {
        let parts = try await self.parts(requests + described)
        let pages = parts.prefix(asked.count)
        width.note(parts: pages.map { _ in 0 }, nanoseconds: width.clock() - start)
        for (query, part) in zip(asked, pages) {
          if let page = GivenPage(part, askedAt: askedAt), page.isComplete { answers[query] = page }
        }
        // An object that is not described here is requested again, and that error is reported.
        for part in parts.dropFirst(asked.count) { try? keepDescription(part) }
        rest = rest.dropFirst(asked.count)
        objects = objects.dropFirst(described.count)
      } catch {
        // The next request has the same error.
        guard error.mayFareBetter else { break }
        width.noteFailure(of: asked.count)
      }
    }
    return holding(answers)
  }
}
