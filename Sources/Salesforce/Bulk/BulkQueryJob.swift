import HTTP
import JSON
import System

/// A query that the org processes asynchronously, with a stored result (Bulk API 2.0, API 47.0 and
/// later).
///
/// 1. `begin` creates the job. 2. `complete` polls its state until it has finished. 3. `next` reads
///    the result page by page, in the org's order. 4. `remove` deletes the job; the org deletes
///    remaining jobs after seven days. Only one task may read.
///
/// A large result is read several pages at a time. From API 58.0 on, an org lists the locators of
/// the pages ("Get Parallel Results for a Query Job"). The number of pages in flight depends on the
/// size of the last one. If the org has no such list, a page does not end where the next one
/// starts, or a page exceeds the size limit, the rest is read sequentially: each response names the
/// next page, which is requested while the caller processes the previous one.
package final class BulkQueryJob: Sendable {
  /// A page of the result.
  private struct Page: Sendable {
    /// CSV with a header.
    var csv: [UInt8]
    /// The locator of the next page; nil after the last.
    var locator: String?
  }

  private typealias Request = Task<Result<Page, OrgError>, Never>

  /// The position of a page: a locator, or nil for the start.
  private typealias Place = String?

  private struct Course {
    var records = 0
    /// The pages in flight with their positions, in order.
    var ahead: [(place: Place, request: Request)] = []
    /// The positions of the pages that are not requested yet.
    var rest: ArraySlice<Place> = []
    /// Whether the positions are those of the org's list.
    ///
    /// Otherwise each page names the next one.
    var isParallel = false
    var hasBegun = false
    var longest = 0
  }

  private let job: BulkJob
  /// The maximum number of records per page, if the pages are read sequentially.
  private let pageSize: Int
  private let course = Locked(Course())

  /// The default for the maximum number of records per page, if the pages are read sequentially.
  package static let recordsPerPage = 5000
  /// The first API version in which orgs list the positions of a result's pages.
  static let firstVersionOfList = 58
  /// The maximum number of pages in flight, and their maximum total size in bytes.
  private static let (mostAhead, roomAhead) = (4, 24 << 20)

  private init(_ job: BulkJob, pageSize: Int) {
    (self.job, self.pageSize) = (job, pageSize)
  }

  deinit { for page in course.withLock({ $0.ahead }) { page.request.cancel() } }

  /// Creates a job for a statement.
  ///
  /// A job whose response is lost does no harm, so the request may be repeated like a read.
  package static func begin(
    _ soql: String, _ session: Session, pageSize: Int = recordsPerPage
  ) async throws(OrgError) -> BulkQueryJob {
    let job = try await BulkJob.make(
      .query, ["operation": "query", "query": .string(soql)], session)
    return BulkQueryJob(job, pageSize: pageSize)
  }

  /// The number of records in the result, known once the job has finished.
  package var records: Int { course.withLock { $0.records } }

  /// Waits until the whole result is available.
  package func complete() async throws(OrgError) {
    let (state, answer) = try await job.end()
    if state.isRunning {
      throw OrgError(.timeout, message: "the bulk job did not finish", request: "GET \(job.path)")
    }
    guard state == .complete else {
      throw OrgError(
        .refused("JOB_" + state.rawValue.uppercased()),
        message: answer["errorMessage"]?.string ?? state.rawValue, request: "GET \(job.path)")
    }
    let records = Int(answer["numberRecordsProcessed"]?.int ?? 0)
    course.withLock { $0.records = records }
  }

  /// The next page of the result; nil after the last.
  package func next() async throws(OrgError) -> [UInt8]? {
    if !course.withLock({ $0.hasBegun }) {
      let places = records > pageSize ? try await listedPlaces() : nil
      course.withLock { course in
        course.hasBegun = true
        course.isParallel = places != nil
        course.rest = places.map { $0[...] } ?? [nil]
      }
    }
    ask()
    guard let (place, request) = course.withLock({ $0.ahead.first }) else { return nil }
    let result = await withTaskCancellationHandler {
      await request.value
    } onCancel: {
      request.cancel()
    }
    if case .failure(let error) = result, error.kind == .tooLarge,
      course.withLock({ $0.isParallel })
    {
      goOnSerially(at: [place])
      return try await next()
    }
    let page = try result.get()
    arrived(page)
    ask()
    return page.csv
  }

  /// Deletes the job in the org; a failure is ignored.
  package func remove() async { await job.remove() }

  /// Stops the job if it is still running, and deletes it.
  package func giveUp() async {
    // The org rejects this for a finished job.
    try? await job.move(to: .aborted)
    await job.remove()
  }

  // MARK: progress

  /// Records that the first page in flight has arrived, and the position of the next one.
  private func arrived(_ page: Page) {
    let isCut = course.withLock { course in
      course.ahead.removeFirst()
      course.longest = max(course.longest, page.csv.count)
      guard course.isParallel else {
        if let next = page.locator { course.rest = [next] }
        return false
      }
      let following = course.ahead.first.map(\.place) ?? course.rest.first
      return page.locator != (following ?? nil)
    }
    // The page does not end where the list says. Its own locator names its successor.
    if isCut { goOnSerially(at: page.locator.map { [$0] } ?? []) }
  }

  private func goOnSerially(at rest: ArraySlice<Place>) {
    let dropped = course.withLock { course in
      let dropped = course.ahead
      course.isParallel = false
      course.ahead = []
      course.rest = rest
      return dropped
    }
    for page in dropped { page.request.cancel() }
  }

  /// Requests as many pages as may be in flight.
  private func ask() {
    course.withLock { course in
      // Before the first page has arrived, the size of the pages is unknown.
      let most =
        !course.isParallel || course.longest == 0
        ? 1 : min(Self.mostAhead, max(1, Self.roomAhead / course.longest))
      while course.ahead.count < most, let place = course.rest.popFirst() {
        // The org determines the size of a page in the list.
        let size = course.isParallel ? nil : pageSize
        let request = Request { [job] in
          do throws(OrgError) {
            return .success(try await Self.page(place, job, size))
          } catch {
            return .failure(error)
          }
        }
        course.ahead.append((place, request))
      }
    }
  }

  // MARK: requests

  /// The positions of the result's pages; nil if the org does not list them.
  private func listedPlaces() async throws(OrgError) -> [Place]? {
    guard Int(job.session.apiVersion.prefix { $0 != "." }) ?? 0 >= Self.firstVersionOfList else {
      return nil
    }
    var places: [Place] = []
    var query = ""
    do throws(OrgError) {
      // An org lists five at a time.
      while true {
        let call = OrgCall(.bulk, "GET", job.path + "/resultPages" + query)
        let answer = try await job.session.json(call)
        guard let pages = answer["resultPages"]?.array, !pages.isEmpty else { return nil }
        for page in pages {
          guard let address = page["resultUrl"]?.string else { return nil }
          let place = Self.locator(of: address)
          guard !places.contains(place), place != nil || places.isEmpty else { return nil }
          places.append(place)
        }
        guard answer["done"]?.bool == false else { return places }
        // The documentation has both names.
        guard
          let next = answer["nextRecordsUrl"]?.string ?? answer["nextRecordUrl"]?.string,
          let locator = Self.locator(of: next)
        else { return nil }
        query = "?" + HTTPQuery.string([("locator", locator)])
      }
    } catch {
      // Each page names the next one.
      guard error.mayFareBetter else { throw error }
      return nil
    }
  }

  private static func locator(of address: String) -> Place {
    guard let mark = address.firstIndex(of: "?") else { return nil }
    let query = String(address[address.index(after: mark)...])
    return HTTPQuery.decode(form: query).first { $0.0 == "locator" }?.1
  }

  private static func page(
    _ locator: Place, _ job: BulkJob, _ size: Int?
  ) async throws(OrgError) -> Page {
    var query: [(String, String)] = []
    if let size { query.append(("maxRecords", String(size))) }
    if let locator { query.append(("locator", locator)) }
    let name = query.isEmpty ? "results" : "results?" + HTTPQuery.string(query)
    let (response, call) = try await job.csv(name)
    // The last page has the header too, with the value "null".
    let next = response.headers["Sforce-Locator"].flatMap { $0 == "null" ? nil : $0 }
    guard next == nil || next != locator else {
      throw Session.invalidResponse("the response names its own page as the next one", call)
    }
    return Page(csv: response.body, locator: next)
  }
}
