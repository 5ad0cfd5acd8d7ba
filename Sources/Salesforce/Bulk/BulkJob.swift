import HTTP
import JSON

/// A job of Bulk API 2.0: work that the org does asynchronously, with results that it keeps for
/// seven days.
struct BulkJob: Sendable {
  /// The kind of a job; the name of its resource.
  enum Kind: String, Sendable {
    case query, ingest
  }

  /// The state of a job.
  enum State: String, Sendable {
    /// The job accepts rows, but does not process them.
    case open = "Open"
    case uploadComplete = "UploadComplete"
    case inProgress = "InProgress"
    case complete = "JobComplete"
    case failed = "Failed"
    case aborted = "Aborted"

    /// Whether the org is still working on the job, or will be.
    var isRunning: Bool { self == .uploadComplete || self == .inProgress }
  }

  private static let firstPauseMilliseconds = 1000
  private static let longestPauseMilliseconds = 30_000
  /// An org may queue a job behind others.
  ///
  /// It is not awaited longer than about four hours.
  private static let mostPauses = 500

  let session: Session
  let id: String
  let path: String

  /// Creates a reference to an existing job.
  init(_ kind: Kind, id: String, _ session: Session) {
    (self.session, self.id) = (session, id)
    path = session.path("jobs/\(kind.rawValue)/\(id)")
  }

  /// Creates a CSV job in the org.
  ///
  /// A job whose response is lost does no harm, so the request may be repeated like a read.
  static func make(
    _ kind: Kind, _ body: JSONObject, _ session: Session
  ) async throws(OrgError) -> BulkJob {
    var body = body
    body["contentType"] = "CSV"
    body["columnDelimiter"] = "COMMA"
    body["lineEnding"] = "LF"
    let call = OrgCall(
      .bulk, "POST", session.path("jobs/\(kind.rawValue)"), body: JSONValue.object(body).bytes,
      isRead: true)
    guard let id = try await session.json(call)["id"]?.string, id.recordID18 != nil else {
      throw Session.invalidResponse("the response has no job ID", call)
    }
    return BulkJob(kind, id: id, session)
  }

  /// The state of the job, with the org's whole response.
  func state() async throws(OrgError) -> (state: State, answer: JSONValue) {
    let call = OrgCall(.bulk, "GET", path)
    let answer = try await session.json(call)
    guard let word = answer["state"]?.string, let state = State(rawValue: word) else {
      throw Session.invalidResponse("the response does not have the state of the job", call)
    }
    return (state, answer)
  }

  /// Waits until the job has finished.
  ///
  /// If `mayWait` returns false, or it takes too long, the state is that of a running job.
  func end(
    while mayWait: @Sendable () -> Bool = { true }
  ) async throws(OrgError) -> (state: State, answer: JSONValue) {
    var bound = Self.firstPauseMilliseconds
    var found = try await state()
    for _ in 0..<Self.mostPauses where found.state.isRunning && mayWait() {
      try await session.connection.rest(milliseconds: bound, "GET \(path)")
      bound = min(bound * 2, Self.longestPauseMilliseconds)
      found = try await state()
    }
    return found
  }

  /// One of the job's results.
  ///
  /// If it may be empty, a response without a body means no rows.
  func csv(_ name: String, mayBeEmpty: Bool = false) async throws(OrgError) -> (
    response: HTTPResponse, call: OrgCall
  ) {
    var call = OrgCall(.bulk, "GET", path + "/" + name)
    call.headers["Accept"] = "text/csv"
    call.expected = .csv
    let response = try await session.send(call)
    guard mayBeEmpty || !response.body.isEmpty else {
      throw Session.invalidResponse("the response is empty, not a page of CSV", call)
    }
    return (response, call)
  }

  /// Changes the state of the job.
  func move(to state: State) async throws(OrgError) {
    _ = try await session.send(
      OrgCall(
        .bulk, "PATCH", path, body: JSONValue.object(["state": .string(state.rawValue)]).bytes))
  }

  /// Deletes the job in the org; a failure is ignored.
  func remove() async {
    _ = try? await session.send(OrgCall(.bulk, "DELETE", path))
  }
}
