import System

/// Jobs of the Bulk API.
extension Org {
  /// Starts a job; a query's records are chosen here and now.
  func addBulkJob(_ job: BulkJob, as user: OrgUser) throws(OrgError) -> BulkJob {
    try bulk { jobs in
      var job = try jobs.add(job)
      if job.kind == .query {
        try BulkWork(store: jobs.store).plan(&job, as: user)
        try jobs.save(job)
      }
      return job
    }
  }

  /// A job that this user may see.
  func bulkJob(_ id: String, _ kind: BulkJob.Kind, as user: OrgUser) throws(OrgError) -> BulkJob {
    try bulk { jobs in try Self.find(id, kind, user, jobs) }
  }

  /// The jobs of a kind that this user may see, newest first.
  func bulkJobs(_ kind: BulkJob.Kind, as user: OrgUser) throws(OrgError) -> [BulkJob] {
    try bulk { jobs in try jobs.list(kind, of: user.viewsAll ? nil : user.id) }
  }

  /// Changes a job, in one transaction with what `body` does beside it.
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

  /// Forgets a job that no work is left of.
  func removeBulkJob(_ id: String, _ kind: BulkJob.Kind, as user: OrgUser) throws(OrgError) {
    try bulk { jobs in
      let job = try Self.find(id, kind, user, jobs)
      guard job.state.isOver || job.state == .uploadComplete else {
        throw OrgError.jobState("A job that is \(job.state.rawValue) cannot be deleted")
      }
      try jobs.remove(job.id)
    }
  }

  /// Works on a job until it is done, or so many runs are, or the time is over: others get a turn
  /// after each run, and what was done stays done.
  func workOnBulkJob(_ id: String, runs: Int?, milliseconds: UInt64) throws(OrgError) {
    let start = Clock.monotonicNanoseconds()
    var left = runs ?? Int.max
    while left > 0, Clock.monotonicNanoseconds() - start < milliseconds * 1_000_000 {
      let isMore = try bulk { jobs in try BulkWork(store: jobs.store).step(id) }
      guard isMore else { return }
      left -= 1
    }
  }

  private func bulk<T>(_ body: (BulkJobs) throws -> T) throws(OrgError) -> T {
    try locked { store in try store.transaction { try body(BulkJobs(store: store)) } }
  }

  private static func find(
    _ id: String, _ kind: BulkJob.Kind, _ user: OrgUser, _ jobs: BulkJobs
  ) throws -> BulkJob {
    guard let job = try jobs.find(id), job.kind == kind, job.userID == user.id || user.viewsAll
    else { throw OrgError.notFound }
    return job
  }
}

extension OrgError {
  /// The job is not in a state in which this can be done.
  static func jobState(_ message: String) -> OrgError {
    OrgError(code: "INVALIDJOBSTATE", message: message)
  }
}
