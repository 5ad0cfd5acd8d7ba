import JSON
import Salesforce

/// All pages of a query whose result is small.
package struct QueryAnswer: Sendable {
  /// The pages as the org sent them.
  let pages: [[UInt8]]
  /// The records that the org promised.
  let totalSize: Int

  /// Where the records stand in a page.
  static let container = RecordScanner.Container.member("records")

  /// Hands the members at `paths` of each record to `body`, and answers how many records came; fewer
  /// than were promised are an error, because what is missing would look like deleted.
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
        .incomplete, "\(count) records arrived of \(totalSize) that the org promised",
        fix: "run again")
    }
    return count
  }
}

extension Session {
  /// Compares what came with what was promised; records that were deleted meanwhile do not come.
  func check(
    _ received: Int, of promised: Int?, by count: String, all: Bool = false,
    what: String = "records", _ warn: (String) -> Void
  ) async throws(SyncError) {
    guard let promised, received < promised else { return }
    let now = try await SyncError.inOrg { try await self.count(count, all: all) }
    guard received >= now else {
      throw SyncError(
        .incomplete, "\(received) \(what) arrived of \(promised) that the org promised",
        fix: "run again; if it stays so, the org's pages cannot be trusted")
    }
    warn("\(promised - received) records were deleted while they were read")
  }

  /// The answers to queries about values of a field, so many in each.
  func answers(
    about values: IDList, slice: Int, _ soql: @escaping @Sendable ([String]) -> String
  ) -> AnswerWindow<QueryAnswer> {
    AnswerWindow(count: (values.count + slice - 1) / slice) { [self] index throws(OrgError) in
      try await answer(about: values.slice(index, of: slice), soql)
    }
  }

  /// The answer to a query about some values of a field, which may be asked in slices: one whose answer
  /// is too large is asked again in halves.
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

  /// The whole answer to a query.
  func answer(to soql: String) async throws(OrgError) -> QueryAnswer {
    let (pages, totalSize) = try await allPages(soql)
    return QueryAnswer(pages: pages, totalSize: totalSize)
  }
}
