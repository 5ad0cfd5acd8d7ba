import Crypto
import JSON

/// The part common to `/jobs/query` and `/jobs/ingest`.
struct BulkResource: Sendable {
  let kind: BulkJob.Kind
  static let query = BulkResource(kind: .query)
  static let ingest = BulkResource(kind: .ingest)

  /// The maximum number of jobs in one list.
  private static let listLength = 1000

  private var path: String { "jobs/\(kind.rawValue)" }

  @Sendable func create(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let job = try call.org.addBulkJob(BulkJobBody.job(call, kind), as: call.user)
    if kind == .query { try work(job, call) }
    return .json(BulkJobBody.json(job, isWhole: false))
  }

  @Sendable func list(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let jobs = try call.org.bulkJobs(kind, as: call.user)
    let start = try Self.offset(call.target.query("queryLocator"))
    let page = jobs.dropFirst(start).prefix(Self.listLength)
    let isDone = start + page.count >= jobs.count
    return .json(
      [
        "done": .bool(isDone),
        "nextRecordsUrl": isDone
          ? .null
          : .string("\(call.root)/\(path)?queryLocator=\(Self.locator(start + page.count))"),
        "records": .array(page.map { BulkJobBody.json($0, isWhole: false) }),
      ], records: page.count)
  }

  /// Returns the state of a job; requesting an unfinished one also advances it.
  @Sendable func read(_ call: APIRequest) throws(OrgError) -> APIResponse {
    var job = try job(call)
    if job.state.isRunning {
      try work(job, call)
      job = try self.job(call)
    }
    return .json(BulkJobBody.json(job, isWhole: true))
  }

  @Sendable func update(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let wanted = try call.object(of: ["state"])["state"]?.string ?? ""
    let isClosing = wanted == "UploadComplete" && kind == .ingest
    guard isClosing || wanted == "Aborted" else {
      throw .jobState("A job cannot be set to \"\(wanted)\"")
    }
    _ = try job(call)
    let job = try call.org.changeBulkJob(call.path[2], kind, as: call.user) { job, _ in
      guard isClosing ? job.state == .open : !job.state.isOver else {
        throw OrgError.jobState(
          "\(isClosing ? "Closing" : "Aborting") already \(Self.word(job.state)) Job not allowed")
      }
      job.state = isClosing ? .uploadComplete : .aborted
    }
    if isClosing { try work(job, call) }
    return .json(BulkJobBody.json(job, isWhole: false))
  }

  @Sendable func delete(_ call: APIRequest) throws(OrgError) -> APIResponse {
    try call.org.removeBulkJob(call.path[2], kind, as: call.user)
    return .empty(204)
  }

  // MARK: Helpers

  func job(_ call: APIRequest) throws(OrgError) -> BulkJob {
    try call.org.bulkJob(call.path[2], kind, as: call.user)
  }

  private func work(_ job: BulkJob, _ call: APIRequest) throws(OrgError) {
    try call.org.workOnBulkJob(job.id, runs: call.server.options.bulkRuns)
  }

  private static func word(_ state: BulkJob.State) -> String {
    switch state {
    case .complete: "Completed"
    case .uploadComplete, .inProgress: "Closed"
    case .open, .failed, .aborted: state.rawValue
    }
  }

  /// Returns an offset as an opaque locator.
  static func locator(_ offset: Int) -> String {
    Base64.encodeURL(Array(String(offset).utf8))
  }

  static func offset(_ locator: String?) throws(OrgError) -> Int {
    guard let locator else { return 0 }
    guard let bytes = Base64.decodeURL(locator),
      let offset = Int(String(decoding: bytes, as: UTF8.self)), offset >= 0
    else {
      throw OrgError(code: "INVALIDLOCATOR", message: "Invalid locator: \(locator)")
    }
    return offset
  }
}

/// `/jobs/query/ID/results` and `resultPages`.
enum BulkQueryResults {
  /// The number of pages in one response.
  private static let pages = 5

  @Sendable static func read(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let job = try complete(call)
    let start = try BulkResource.offset(call.target.query("locator"))
    var most = call.server.options.bulkPageSize
    if let text = call.target.query("maxRecords") {
      guard let number = Int(text), number > 0 else {
        throw OrgError(code: "INVALIDPARAMETER", message: "maxRecords must be greater than 0")
      }
      most = min(most, number)
    }
    most = min(most, call.faults.pageLimit ?? most)
    guard start < job.processed || start == 0 else {
      throw OrgError(code: "INVALIDLOCATOR", message: "Invalid locator")
    }
    let end = min(job.processed, start + most)
    let page = BulkPage(org: call.org, job: job, rows: start..<end)
    var answer = APIResponse(records: end - start)
    answer.headers["Content-Type"] = "text/csv"
    // The last page also has a locator: the word null.
    answer.headers["Sforce-Locator"] = end < job.processed ? BulkResource.locator(end) : "null"
    answer.headers["Sforce-NumberOfRecords"] = String(end - start)
    answer.stream = { try page.next() }
    return answer
  }

  /// Returns the URLs of pages that can be read concurrently.
  @Sendable static func pages(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let job = try complete(call)
    let size = call.server.options.bulkPageSize
    let start = try BulkResource.offset(call.target.query("locator"))
    let starts = Array(stride(from: start, to: max(job.processed, 1), by: size))
    let base = "\(call.root)/jobs/query/\(job.id)"
    var body: JSONObject = [
      "resultPages": .array(
        starts.prefix(pages).map { first in
          let locator = first == 0 ? "" : "?locator=\(BulkResource.locator(first))"
          return ["resultUrl": .string("\(base)/results\(locator)")]
        }),
      "done": .bool(starts.count <= pages),
    ]
    if starts.count > pages {
      body["nextRecordsUrl"] = .string(
        "\(base)/resultPages?locator=\(BulkResource.locator(starts[pages]))")
    }
    return .json(.object(body))
  }

  private static func complete(_ call: APIRequest) throws(OrgError) -> BulkJob {
    let job = try BulkResource.query.job(call)
    guard job.version == call.version else {
      throw OrgError(
        status: 409, code: "INVALIDVERSION",
        message: "The job was created with version \(job.version), which its results require too")
    }
    guard job.state == .complete else {
      throw .jobState("The job is \(job.state.rawValue): there are no results yet")
    }
    return job
  }
}

/// `/jobs/ingest/ID/batches` and the three result sets.
enum BulkIngestResource {
  @Sendable static func upload(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let current = try BulkResource.ingest.job(call)
    let type = (call.headers["Content-Type"] ?? "").prefix { $0 != ";" }
    guard type.lowercased() == "text/csv", case .bytes(let bytes) = call.content else {
      throw OrgError(
        status: 415, code: "UNSUPPORTED_MEDIA_TYPE", message: "A job's data must be text/csv")
    }
    guard let schema = call.schema(current.object) else { throw .notFound }
    _ = try call.org.changeBulkJob(current.id, .ingest, as: call.user) { job, jobs in
      guard job.state == .open else {
        throw OrgError.jobState("The job is \(job.state.rawValue): no data can be added")
      }
      guard !job.isFilled else {
        throw OrgError.jobState(
          "Found multiple contents for job: <\(job.id)>, please 'Close' / 'Abort' / 'Delete' the "
            + "current Job then create a new Job and make sure you only do 'PUT' once on a given "
            + "Job.")
      }
      try BulkUpload(jobs: jobs, object: schema).take(bytes, into: &job)
    }
    return .empty(201)
  }

  @Sendable static func successful(_ call: APIRequest) throws(OrgError) -> APIResponse {
    try results(call, .successful)
  }

  @Sendable static func failed(_ call: APIRequest) throws(OrgError) -> APIResponse {
    try results(call, .failed)
  }

  @Sendable static func unprocessed(_ call: APIRequest) throws(OrgError) -> APIResponse {
    try results(call, .unprocessed)
  }

  private static func results(_ call: APIRequest, _ which: BulkResults.Which) throws(OrgError)
    -> APIResponse
  {
    let job = try BulkResource.ingest.job(call)
    guard job.state.isOver else {
      throw .jobState("The job is \(job.state.rawValue): there are no results yet")
    }
    var answer = APIResponse()
    answer.headers["Content-Type"] = "text/csv"
    answer.stream = BulkResults(job: job, which: which).pieces(of: call.org)
    return answer
  }
}
