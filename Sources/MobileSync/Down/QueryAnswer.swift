import JSON
import Salesforce
import System

/// All pages of a query with a small result.
package struct QueryAnswer: Sendable {
  /// The pages as the org sent them.
  let pages: [[UInt8]]
  /// The number of records that the org announced.
  let totalSize: Int
  /// The number of values that were asked for, if it differs from the usual slice.
  var asked: Int?

  /// The location of the records in a page.
  static let container = RecordScanner.Container.member("records")

  /// Passes the members at `paths` of each record to `body` and returns the number of records.
  ///
  /// Throws if fewer arrived than announced, because missing records would look deleted.
  @discardableResult
  package func read(
    paths: [String] = [],
    _ body: (_ page: UnsafeRawBufferPointer, _ fields: UnsafeBufferPointer<JSONSpan>) -> Void =
      { _, _ in }
  ) throws(SyncError) -> Int {
    let scanner = RecordScanner(paths: paths)
    var count = 0
    try SyncError.reading("a page of records") {
      for page in pages {
        try page.withUnsafeBytes { bytes in
          count += try scanner.scan(bytes, in: Self.container) { _, _, fields in
            body(bytes, fields)
          }.records
        }
      }
    }
    guard count == totalSize else {
      throw SyncError(
        .incomplete, "\(count) of \(CountText.of(totalSize, "record")) arrived",
        fix: "run again")
    }
    return count
  }
}

extension Session {
  /// Compares the number of records with the announced one; records deleted in the meantime do not
  /// arrive.
  func check(
    _ received: Int, of promised: Int?, by count: String, all: Bool = false,
    what: String = "records", _ warn: (String) -> Void
  ) async throws(SyncError) {
    guard let promised, received < promised else { return }
    let now = try await SyncError.inOrg { try await self.count(count, all: all) }
    guard received >= now else {
      throw SyncError(
        .incomplete, "\(received) of \(promised) \(what) arrived",
        fix: "run again; if it happens again, the org's pages cannot be trusted")
    }
    warn(CountText.of(promised - received, "record", "was", "were") + " deleted during the read")
  }

  /// Returns the responses to queries for values of a field, a slice of them in each.
  func answers(
    about values: IDList, slice: Int, _ soql: @escaping @Sendable ([String]) -> String
  ) -> AnswerWindow<QueryAnswer> {
    AnswerWindow(self, count: (values.count + slice - 1) / slice) { [self] index throws(OrgError) in
      try await answer(about: values.slice(index, of: slice), soql)
    }
  }

  /// Returns the response to a query for values of a field, which may be queried in slices: a query
  /// whose response is too large is split in half.
  package func answer(
    about values: [String], _ soql: @Sendable ([String]) -> String
  ) async throws(OrgError) -> QueryAnswer {
    do {
      return try await answer(to: soql(values))
    } catch {
      guard error.kind == .tooLarge, let only = values.first else { throw error }
      guard values.count > 1 else { throw error.of(record: only) }
      let middle = values.count / 2
      let head = try await answer(about: Array(values[..<middle]), soql)
      let tail = try await answer(about: Array(values[middle...]), soql)
      return QueryAnswer(
        pages: head.pages + tail.pages, totalSize: head.totalSize + tail.totalSize)
    }
  }

  /// Returns all pages of a query.
  func answer(to soql: String) async throws(OrgError) -> QueryAnswer {
    let (pages, totalSize) = try await allPages(soql)
    return QueryAnswer(pages: pages, totalSize: totalSize)
  }
}
