import HTTP
import JSON
import System

/// A query that the org works on by itself and whose result it keeps (Bulk API 2.0, API 47.0 and later).
///
/// 1. `begin` makes the job. 2. `complete` asks for its state until it is over. 3. `next` reads the result
/// page by page, in the org's order. 4. `remove` lets the org forget it; what is left is forgotten after seven
/// days. One task reads.
///
/// A large result is read several pages at a time: from API 58.0 on an org lists where they are ("Get Parallel
/// Results for a Query Job"). How many are on their way depends on how long the last one was. Where the org has
/// no such list, where a page does not end at the next one's place, and where one is longer than an answer may
/// be, the rest is read one after the other: each answer says where the next page is, and that one is on its way
/// while its caller works on the one before.
package final class BulkQueryJob: Sendable {
  /// One page of the result.
  private struct Page: Sendable {
    /// CSV with a header.
    var csv: [UInt8]
    /// Where the next page is; nil after the last.
    var locator: String?
  }

  private typealias Request = Task<Result<Page, OrgError>, Never>

  /// Where a page is: behind a locator, or at the beginning.
  private typealias Place = String?

  private struct Course {
    var records = 0
    /// The pages that are on their way, and where they are, in order.
    var ahead: [(place: Place, request: Request)] = []
    /// Where those are that nobody has asked for.
    var rest: ArraySlice<Place> = []
    /// Whether the places are those of the org's list; else each page says where the next one is.
    var isParallel = false
    var hasBegun = false
    var longest = 0
  }

  private let job: BulkJob
  /// The most records of a page, where the pages are read one after the other.
  private let pageSize: Int
  private let course = Locked(Course())

  /// The most records of a page, where the pages are read one after the other.
  package static let recordsPerPage = 5000
  /// The first version whose orgs list the places of a result's pages.
  static let firstVersionOfList = 58
  /// The most pages on their way, and how many bytes they may have together.
  private static let (mostAhead, roomAhead) = (4, 24 << 20)

  private init(_ job: BulkJob, pageSize: Int) {
    (self.job, self.pageSize) = (job, pageSize)
  }

  deinit { for page in course.withLock({ $0.ahead }) { page.request.cancel() } }

  /// Makes a job of a statement.
  ///
  /// A job whose answer is lost does no harm, so that the request may be repeated like a read.
  package static func begin(
    _ soql: String, _ session: Session, pageSize: Int = recordsPerPage
  ) async throws(OrgError) -> BulkQueryJob {
    let job = try await BulkJob.make(
      .query, ["operation": "query", "query": .string(soql)], session)
    return BulkQueryJob(job, pageSize: pageSize)
  }

  /// How many records the result has; known once the job is complete.
  package var records: Int { course.withLock { $0.records } }

  /// Waits until the org has the whole result.
  package func complete() async throws(OrgError) {
    let (state, answer) = try await job.end()
    if state.isRunning {
      throw OrgError(.timeout, message: "the bulk job did not end", request: "GET \(job.path)")
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

  /// Lets the org forget the job; that it does not is no reason to fail.
  package func remove() async { await job.remove() }

  /// Stops the org's work on the job, where it is not over, and lets the org forget it.
  package func giveUp() async {
    // Of a job that is over the org refuses it.
    try? await job.move(to: .aborted)
    await job.remove()
  }

  // MARK: the course

  /// Notes the first page on its way as arrived, and where the next one is.
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
    // It ends elsewhere than the list says: what follows it is where it says itself.
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

  /// Sends requests for as many pages as may be on their way.
  private func ask() {
    course.withLock { course in
      // Before the first has come nobody knows how long they are.
      let most =
        !course.isParallel || course.longest == 0
        ? 1 : min(Self.mostAhead, max(1, Self.roomAhead / course.longest))
      while course.ahead.count < most, let place = course.rest.popFirst() {
        // A page of the list is as long as the org makes it.
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

  /// Where the pages of the result are; nil where the org does not say it.
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
      // Each page says where the next one is.
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
    // After the last page the header is there, too: it says "null".
    let next = response.headers["Sforce-Locator"].flatMap { $0 == "null" ? nil : $0 }
    guard next == nil || next != locator else {
      throw Session.invalidResponse("the answer names its own page as the next one", call)
    }
    return Page(csv: response.body, locator: next)
  }
}
