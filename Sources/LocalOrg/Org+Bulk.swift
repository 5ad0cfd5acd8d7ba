import SQLite
import System

extension Org {
  /// Starts a job; the records of a query are selected at this moment.
  ///
  /// A batch comes with its rows.
  func addBulkJob(_ job: BulkJob, rows: [UInt8] = [], as user: OrgUser) throws(OrgError) -> BulkJob
  {
    try bulk { jobs in
      var job = try jobs.add(job)
      let work = BulkWork(store: jobs.store)
      switch (job.role, job.kind) {
      case (.container, _), (.whole, .ingest): return job
      case (.whole, .query): try work.plan(&job, as: user)
      case (.batch, .query): try work.planBatch(&job, as: user)
      case (.batch, .ingest):
        guard let object = jobs.store.catalog(of: user).object(job.object) else {
          throw OrgError.unknownObject(job.object)
        }
        try BulkUpload(jobs: jobs, object: object).take(rows, into: &job)
      }
      try jobs.save(job)
      return job
    }
  }

  /// Returns a job of Bulk API 2.0 that is visible to the user.
  func bulkJob(_ id: String, _ kind: BulkJob.Kind, as user: OrgUser) throws(OrgError) -> BulkJob {
    try bulk { jobs in try Self.find(id, kind, user, jobs) }
  }

  /// Returns a job of Bulk API 1 that is visible to the user.
  func bulkContainer(_ id: String, as user: OrgUser) throws(OrgError) -> BulkJob {
    try bulk { jobs in try Self.container(id, user, jobs) }
  }

  /// Closes or aborts a job of Bulk API 1.
  func endBulkContainer(_ id: String, _ state: BulkJob.State, as user: OrgUser) throws(OrgError)
    -> BulkJob
  {
    try bulk { jobs in
      var job = try Self.container(id, user, jobs)
      job.state = state
      job.changed = jobs.store.clock.now()
      try jobs.save(job)
      return job
    }
  }

  /// The batches of a job, oldest first.
  func bulkBatches(of jobID: String) throws(OrgError) -> [BulkJob] {
    try bulk { jobs in try jobs.batches(of: jobID) }
  }

  /// Returns the jobs of a kind that are visible to the user, newest first.
  func bulkJobs(_ kind: BulkJob.Kind, as user: OrgUser) throws(OrgError) -> [BulkJob] {
    try bulk { jobs in try jobs.list(kind, of: user.viewsAll ? nil : user.id) }
  }

  /// Changes a job in one transaction with the changes that `body` makes.
  func changeBulkJob(
    _ id: String, _ kind: BulkJob.Kind, as user: OrgUser,
    _ body: (inout BulkJob, BulkJobs) throws -> Void
  ) throws(OrgError) -> BulkJob {
    try bulk { jobs in
      var job = try Self.find(id, kind, user, jobs)
      try body(&job, jobs)
      job.changed = jobs.store.clock.now()
      try jobs.save(job)
      return job
    }
  }

  /// Removes a job without remaining work.
  func removeBulkJob(_ id: String, _ kind: BulkJob.Kind, as user: OrgUser) throws(OrgError) {
    try bulk { jobs in
      let job = try Self.find(id, kind, user, jobs)
      guard job.state.isOver || job.state == .uploadComplete else {
        throw OrgError.jobState("A job that is \(job.state.rawValue) cannot be deleted")
      }
      try jobs.remove(job.id)
    }
  }

  /// Processes a job until it is done, the given number of runs is done, or the time is up.
  ///
  /// Other requests get a turn after each run, and completed runs persist.
  func workOnBulkJob(_ id: String, runs: Int?) throws(OrgError) {
    let start = Clock.monotonicNanoseconds()
    var left = runs ?? Int.max
    while left > 0, Clock.monotonicNanoseconds() - start < Self.bulkMilliseconds * 1_000_000 {
      let isMore = try bulk { jobs in try BulkWork(store: jobs.store).step(id) }
      guard isMore else { return }
      left -= 1
    }
  }

  /// How long one request processes a job, so that its client need not wait.
  private static let bulkMilliseconds: UInt64 = 2000

  /// Returns the number of batches and query jobs of the last day.
  func bulkUsage() throws(OrgError) -> (batches: Int, queries: Int) {
    try bulk { jobs in
      let since = jobs.store.clock.now() - 24 * 3_600_000
      func count(_ condition: SQL) throws -> Int {
        let sql: SQL = "SELECT count(*) FROM bulk_job WHERE created > \(since) AND \(condition)"
        return try Int(jobs.store.connection.integer(sql) ?? 0)
      }
      return (
        try count("(role = 'batch' OR role = 'whole' AND kind = 'ingest')"),
        try count("role = 'whole' AND kind = 'query'")
      )
    }
  }

  private func bulk<T>(_ body: (BulkJobs) throws -> T) throws(OrgError) -> T {
    try locked { store in try store.transaction { try body(BulkJobs(store: store)) } }
  }

  private static func find(
    _ id: String, _ kind: BulkJob.Kind, _ user: OrgUser, _ jobs: BulkJobs
  ) throws -> BulkJob {
    guard let job = try jobs.find(id), job.kind == kind, job.role == .whole,
      job.userID == user.id || user.viewsAll
    else { throw OrgError.notFound }
    return job
  }

  private static func container(_ id: String, _ user: OrgUser, _ jobs: BulkJobs) throws -> BulkJob {
    guard let job = try jobs.find(id), job.role == .container,
      job.userID == user.id || user.viewsAll
    else { throw AsyncResource.unknown("job", id) }
    return job
  }
}

extension OrgError {
  /// The error for an operation that the job's state does not allow.
  static func jobState(_ message: String) -> OrgError {
    OrgError(code: "INVALIDJOBSTATE", message: message)
  }
}
