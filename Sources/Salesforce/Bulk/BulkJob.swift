import HTTP
import JSON

/// A job of Bulk API 2.0: work that the org does by itself, and whose results it keeps for seven days.
struct BulkJob: Sendable {
  /// What a job does; the name of its resource.
  enum Kind: String, Sendable {
    case query, ingest
  }

  /// How far it is.
  enum State: String, Sendable {
    /// It takes rows; nothing is done with them.
    case open = "Open"
    case uploadComplete = "UploadComplete"
    case inProgress = "InProgress"
    case complete = "JobComplete"
    case failed = "Failed"
    case aborted = "Aborted"

    /// Whether the org is still at work, or will be.
    var isRunning: Bool { self == .uploadComplete || self == .inProgress }
  }

  private static let firstPauseMilliseconds = 1000
  private static let longestPauseMilliseconds = 30_000
  /// An org may let a job wait behind others; longer than this, about four hours, it is not waited for.
  private static let mostPauses = 500

  let session: Session
  let id: String
  let path: String

  /// A job that was made before.
  init(_ kind: Kind, id: String, _ session: Session) {
    (self.session, self.id) = (session, id)
    path = session.path("jobs/\(kind.rawValue)/\(id)")
  }

  /// Makes a job of CSV.
  ///
  /// One whose answer is lost does no harm, so that the request may be repeated like a read.
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
      throw Session.invalidResponse("the answer has no id of a job", call)
    }
    return BulkJob(kind, id: id, session)
  }

  /// How far it is, with all that the org says of it.
  func state() async throws(OrgError) -> (state: State, answer: JSONValue) {
    let call = OrgCall(.bulk, "GET", path)
    let answer = try await session.json(call)
    guard let word = answer["state"]?.string, let state = State(rawValue: word) else {
      throw Session.invalidResponse("the answer does not say how far the job is", call)
    }
    return (state, answer)
  }

  /// Waits until the org's work is over.
  ///
  /// Where `mayWait` says no, or that takes too long, the state is that of a job at work.
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

  /// One of its results; where it may be empty, an answer without a body is one without rows.
  func csv(_ name: String, mayBeEmpty: Bool = false) async throws(OrgError) -> (
    response: HTTPResponse, call: OrgCall
  ) {
    var call = OrgCall(.bulk, "GET", path + "/" + name)
    call.headers["Accept"] = "text/csv"
    call.expected = .csv
    let response = try await session.send(call)
    guard mayBeEmpty || !response.body.isEmpty else {
      throw Session.invalidResponse("the answer is empty, not a page of CSV", call)
    }
    return (response, call)
  }

  /// Asks the org for another state.
  func move(to state: State) async throws(OrgError) {
    _ = try await session.send(
      OrgCall(
        .bulk, "PATCH", path, body: JSONValue.object(["state": .string(state.rawValue)]).bytes))
  }

  /// Lets the org forget the job; that it does not is no reason to fail.
  func remove() async {
    _ = try? await session.send(OrgCall(.bulk, "DELETE", path))
  }
}
