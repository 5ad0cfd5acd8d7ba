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

  private enum State: String {
    case uploadComplete = "UploadComplete"
    case inProgress = "InProgress"
    case complete = "JobComplete"
    case failed = "Failed"
    case aborted = "Aborted"
  }

  private struct Course {
    var records = 0
    var ahead: Request?
  }

  private let session: Session
  private let path: String
  /// The most records of a page: few enough that two of them are no burden.
  private let pageSize: Int
  private let course = Locked(Course())

  /// The most records of a page.
  package static let recordsPerPage = 5000
  private static let firstPauseMilliseconds = 1000
  private static let longestPauseMilliseconds = 30_000
  /// An org may let a job wait behind others; longer than this it is taken for lost.
  private static let mostPauses = 500

  private init(_ session: Session, path: String, pageSize: Int) {
    (self.session, self.path, self.pageSize) = (session, path, pageSize)
  }

  deinit { course.withLock { $0.ahead }?.cancel() }

  /// Makes a job of a statement.
  ///
  /// A job whose answer is lost does no harm, so that the request may be repeated like a read.
  package static func begin(
    _ soql: String, _ session: Session, pageSize: Int = recordsPerPage
  ) async throws(OrgError) -> BulkQueryJob {
    let body: JSONValue = [
      "operation": "query", "query": .string(soql), "contentType": "CSV",
      "columnDelimiter": "COMMA", "lineEnding": "LF",
    ]
    let call = OrgCall(
      .bulk, "POST", session.path("jobs/query"), body: body.bytes, isRead: true)
    guard let id = try await session.json(call)["id"]?.string, id.allSatisfy(\.isLetterOrDigit)
    else { throw Session.invalidResponse("the answer has no id of a job", call) }
    return BulkQueryJob(session, path: session.path("jobs/query/\(id)"), pageSize: pageSize)
  }

  /// How many records the result has; known once the job is complete.
  package var records: Int { course.withLock { $0.records } }

  /// Waits until the org has the whole result.
  package func complete() async throws(OrgError) {
    let call = OrgCall(.bulk, "GET", path)
    var bound = Self.firstPauseMilliseconds
    for _ in 0..<Self.mostPauses {
      let job = try await session.json(call)
      guard let word = job["state"]?.string, let state = State(rawValue: word) else {
        throw Session.invalidResponse("the answer does not say how far the job is", call)
      }
      switch state {
      case .complete:
        let records = Int(job["numberRecordsProcessed"]?.int ?? 0)
        return course.withLock { $0.records = records }
      case .failed, .aborted:
        throw OrgError(
          .refused("JOB_" + word.uppercased()), message: job["errorMessage"]?.string ?? word,
          request: call.name)
      case .uploadComplete, .inProgress:
        try await session.connection.rest(milliseconds: bound, call.name)
        bound = min(bound * 2, Self.longestPauseMilliseconds)
      }
    }
    throw OrgError(.timeout, message: "the bulk job did not end", request: call.name)
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
  package func remove() async {
    _ = try? await session.send(OrgCall(.bulk, "DELETE", path))
  }

  private func ask(for locator: String?) {
    let request = Request { [session, path, pageSize] in
      do throws(OrgError) {
        return .success(try await Self.page(locator, session, path, pageSize))
      } catch {
        return .failure(error)
      }
    }
    course.withLock { $0.ahead = request }
  }

  private static func page(
    _ locator: String?, _ session: Session, _ path: String, _ size: Int
  ) async throws(OrgError) -> Page {
    var query = [("maxRecords", String(size))]
    if let locator { query.append(("locator", locator)) }
    var call = OrgCall(.bulk, "GET", path + "/results?" + HTTPQuery.string(query))
    call.headers["Accept"] = "text/csv"
    call.expectsJSON = false
    let response = try await session.send(call)
    let type = response.headers["Content-Type"] ?? "no content type"
    guard type.lowercased().contains("csv"), !response.body.isEmpty else {
      throw Session.invalidResponse(
        "the answer is \(type.prefix { $0 != ";" }), not a page of CSV", call)
    }
    // After the last page the header is there, too: it says "null".
    let next = response.headers["Sforce-Locator"].flatMap { $0 == "null" ? nil : $0 }
    guard next == nil || next != locator else {
      throw Session.invalidResponse("the answer names its own page as the next one", call)
    }
    return Page(csv: response.body, locator: next)
  }
}

extension Character {
  fileprivate var isLetterOrDigit: Bool { isASCII && (isLetter || isNumber) }
}
