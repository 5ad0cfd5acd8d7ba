import HTTP
import JSON
import System

extension Session {
  /// The results of several `COUNT()` queries; nil for a query that the org does not answer.
  package func counts(of queries: [String]) async throws(OrgError) -> [Int?] {
    var counts: [Int?] = []
    for part in queries.parts(of: RequestLimits.queriesOfComposite) {
      let requests = part.enumerated().map {
        queryRequest([$1], referenceId: "count\($0)")
      }
      counts += try await composite(requests).map { result in
        result.isSuccess ? result.body["totalSize"]?.int.map { Int($0) } : nil
      }
    }
    return counts
  }

  /// The records of a query, page by page.
  ///
  /// Nothing is sent before the first page is read.
  ///
  /// `all` includes deleted and archived records. `batchSize` is a hint, from 200 to 2,000. With
  /// `ahead`, the next page is requested while the previous one arrives. Do not set it if a page
  /// may contain locators of child records, because the org closes those when the next page is
  /// read. A `given` first page is not requested.
  package func query(
    _ soql: String, all: Bool = false, batchSize: Int? = nil, ahead: Bool = true,
    given: GivenPage? = nil
  ) -> QueryPages {
    var call = OrgCall(.query, "GET", path(of: AheadQuery(soql, all: all)))
    call.headers["Sforce-Query-Options"] = batchSize.flatMap { Self.queryOptions(batchSize: $0) }
    let given = given ?? answers.withLock { $0.removeValue(forKey: call.path) }
    return QueryPages(self, call, ahead: ahead, given: given)
  }

  /// The header that requests pages of this size; nil for the org's default size.
  package static func queryOptions(batchSize: Int) -> String? {
    let sizes = RequestLimits.queryPage
    return batchSize < sizes.upperBound ? "batchSize=\(max(sizes.lowerBound, batchSize))" : nil
  }

  /// The pages from an address on that a page contains, such as that of a parent's further child
  /// records.
  package func pages(from locator: String) throws(OrgError) -> QueryPages {
    guard QueryPageHead.isLocator(locator) else {
      throw Self.invalidResponse(
        QueryPages.noAddress, OrgCall(.queryMore, "GET", path("query")))
    }
    return QueryPages(self, OrgCall(.queryMore, "GET", locator))
  }

  /// All records of a small result.
  package func queryAllRecords(
    _ soql: String, all: Bool = false
  ) async throws(OrgError) -> [JSONValue] {
    let call = OrgCall(.query, "GET", path("query"))
    let (pages, totalSize) = try await allPages(soql, all: all)
    var records: [JSONValue] = []
    for page in pages {
      guard let value = try? JSONValue(parsing: page), let part = value["records"]?.array else {
        throw Self.invalidResponse(QueryPages.noPage, call)
      }
      records += part
    }
    guard records.count == totalSize else {
      throw Self.invalidResponse(
        "\(records.count) of \(CountText.of(totalSize, "record")) arrived", call)
    }
    return records
  }

  /// All pages of a small result, and the number of records that the org announced.
  ///
  /// A `given` first page is not requested, unless the org drops the cursor of the pages after it.
  package func allPages(
    _ soql: String, all: Bool = false, given: GivenPage? = nil
  ) async throws(OrgError) -> (pages: [[UInt8]], totalSize: Int) {
    var given = given
    return try await RetryPolicy.readingList(cause: { $0 }) { () async throws(OrgError) in
      let pages = query(soql, all: all, given: given.take())
      var read: [[UInt8]] = []
      while let page = try await pages.next() { read.append(page) }
      return (read, pages.totalSize ?? 0)
    }
  }

  /// The result of `SELECT COUNT() …`; `all` includes deleted and archived records.
  package func count(_ soql: String, all: Bool = false) async throws(OrgError) -> Int {
    let pages = query(soql, all: all)
    while try await pages.next() != nil {}
    return pages.totalSize ?? 0
  }
}
