import HTTP
import JSON
import System

/// A query that the org works on by itself and whose result it keeps (Bulk API 2.0, API 47.0 and later).
///
/// 1. `begin` makes the job. 2. `complete` asks for its state until it is over. 3. `next` reads the result
/// page by page; the next one is on its way while its caller works on the one before. 4. `remove` lets the
/// org forget it; what is left is forgotten after seven days. One task reads.
package final class BulkQueryJob: Sendable {
  /// One page of the result.
  package struct Page: Sendable {
    /// CSV with a header.
    package var csv: [UInt8]
    /// Where the next page is; nil after the last.
    fileprivate var locator: String?
  }

  private typealias Request = Task<Result<Page, OrgError>, Never>

  private struct Course {
    var records = 0
    var ahead: Request?
  }

  private let job: BulkJob
  /// The most records of a page: few enough that two of them are no burden.
  private let pageSize: Int
  private let course = Locked(Course())

  /// The most records of a page.
  package static let recordsPerPage = 5000

  private init(_ job: BulkJob, pageSize: Int) {
    (self.job, self.pageSize) = (job, pageSize)
  }

  deinit { course.withLock { $0.ahead }?.cancel() }

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
    let hasBegun = course.withLock { $0.ahead != nil }
    if !hasBegun { ask(for: nil) }
    guard let request = course.withLock({ $0.ahead }) else { return nil }
    let result = await withTaskCancellationHandler {
      await request.value
    } onCancel: {
      request.cancel()
    }
    let page = try result.get()
    if page.csv.isEmpty { return nil }
    if let locator = page.locator {
      ask(for: locator)
    } else {
      course.withLock { $0.ahead = Task { .success(Page(csv: [], locator: nil)) } }
    }
    return page.csv
  }

  /// Lets the org forget the job; that it does not is no reason to fail.
  package func remove() async { await job.remove() }

  private func ask(for locator: String?) {
    let request = Request { [job, pageSize] in
      do throws(OrgError) {
        return .success(try await Self.page(locator, job, pageSize))
      } catch {
        return .failure(error)
      }
    }
    course.withLock { $0.ahead = request }
  }

  private static func page(
    _ locator: String?, _ job: BulkJob, _ size: Int
  ) async throws(OrgError) -> Page {
    var query = [("maxRecords", String(size))]
    if let locator { query.append(("locator", locator)) }
    let (response, call) = try await job.csv("results?" + HTTPQuery.string(query))
    // After the last page the header is there, too: it says "null".
    let next = response.headers["Sforce-Locator"].flatMap { $0 == "null" ? nil : $0 }
    guard next == nil || next != locator else {
      throw Session.invalidResponse("the answer names its own page as the next one", call)
    }
    return Page(csv: response.body, locator: next)
  }
}
