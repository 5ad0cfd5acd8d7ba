/// The first page of a query, brought by a request that asked for several things at once.
package struct GivenPage: Sendable {
  package let bytes: [UInt8]
  /// The org's time before the request was sent, in milliseconds; nil before any response.
  ///
  /// A record on a later page with a later date may have changed since the query started.
  package let askedAt: Int64?

  /// Takes a part of a composite response; nil if it failed, or is not a page of records.
  package init?(_ part: PartAnswer, askedAt: Int64?) {
    guard part.isSuccess, let head = QueryPageHead(part.body) else { return nil }
    bytes = part.body
    self.askedAt = askedAt
    totalSize = head.totalSize
    isLast = head.isDone
  }

  /// The number of all records of the query.
  package let totalSize: Int
  /// Whether no page follows.
  package let isLast: Bool

  /// Whether all records are here, with all records of their subqueries.
  package var isComplete: Bool { isLast && bytes.firstRange(of: Self.locator) == nil }

  private static let locator = Array("\"nextRecordsUrl\"".utf8)
}
