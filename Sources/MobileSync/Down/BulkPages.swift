import Salesforce
import System

/// The records of a large query, which the org runs as a bulk query job.
///
/// Records arrive in no order, and the org reads them while others write, so the cursor stays
/// before the start of the job. If part of the result is unavailable, all records are read through
/// the query's own pages; records that arrive twice are matched by ID.
final class BulkPages: SyncDownPages {
  private let job: BulkQueryJob
  private let records: BulkRecords
  private let byQuery: () -> any SyncDownPages
  private let warn: (String) -> Void
  /// The query's own pages, used after the job failed.
  private var instead: (any SyncDownPages)?
  private let destination: SyncDestination
  private var received = 0
  private var reading: BulkRecords.Reading?

  let cursorLimit: Int64?
  let isSorted = false
  let isWhole = true

  private init(
    _ job: BulkQueryJob, _ records: BulkRecords, into destination: SyncDestination, began: Int64?,
    byQuery: @escaping () -> any SyncDownPages, warn: @escaping (String) -> Void
  ) {
    (self.job, self.records, self.destination) = (job, records, destination)
    (self.byQuery, self.warn) = (byQuery, warn)
    cursorLimit = began
  }

  /// Runs a query as a bulk job; returns nil if a job's result would differ from the query's, or if
  /// the user may not run bulk jobs.
  ///
  /// `byQuery` creates the query's own pages.
  static func make(
    _ session: Session, _ query: SyncQuery, into destination: SyncDestination,
    byQuery: @escaping () -> any SyncDownPages, warn: @escaping (String) -> Void
  ) async throws(SyncError) -> BulkPages? {
    guard let (text, fields) = query.bulk else { return nil }
    do throws(OrgError) {
      let records = BulkRecords(
        try await session.describe(query.objectName), apiVersion: session.apiVersion)
      guard records.gives(fields) else { return nil }
      let job = try await BulkQueryJob.begin(text, session)
      // The org's dates have whole seconds.
      let began = session.serverDate.map { $0 - 1000 }
      do throws(OrgError) {
        try await job.complete()
      } catch {
        await job.giveUp()
        throw error
      }
      return BulkPages(
        job, records, into: destination, began: began, byQuery: byQuery, warn: warn)
    } catch {
      guard error.mayFareBetter else { throw SyncError(error) }
      warn("the org created no bulk job, so the result is read by pages: \(error.message)")
      return nil
    }
  }

  var totalSize: Int { instead?.totalSize ?? job.records }

  func recycle(_ page: consuming SyncPage, records: Int) {
    instead?.recycle(page, records: records)
  }

  func next() async throws(SyncError) -> SyncPage? {
    if let instead { return try await instead.next() }
    do throws(OrgError) {
      while true {
        if let page = try read() {
          received += page.records
          return SyncPage(
            parts: [.init(destination, bytes: page.json, container: .member("records"))])
        }
        guard let csv = try await job.next() else { break }
        reading = BulkRecords.Reading(csv)
      }
    } catch {
      guard error.mayFareBetter else {
        await job.giveUp()
        throw SyncError(error)
      }
      return try await leaveJob(error.message)
    }
    guard received == job.records else {
      return try await leaveJob(
        "\(received) of \(CountText.of(job.records, "record")) arrived")
    }
    await job.remove()
    return nil
  }

  /// Continues with the first of the query's own pages.
  private func leaveJob(_ words: String) async throws(SyncError) -> SyncPage? {
    warn("the bulk job's result is unavailable, so all records are read by pages: \(words)")
    reading = nil
    await job.giveUp()
    let pages = byQuery()
    instead = pages
    return try await pages.next()
  }

  /// Returns the next records that have arrived.
  private func read() throws(OrgError) -> (json: [UInt8], records: Int)? {
    guard var course = reading else { return nil }
    let page = try records.next(&course)
    reading = page == nil ? nil : course
    return page
  }
}

extension SyncQuery {
  /// The statement for a query job and its fields; nil if only a query supports it: with a limit,
  /// fields of other records, functions, subqueries, or a scope.
  var bulk: (text: String, fields: [String])? {
    let fields = soql.readPaths
    guard canResume, fields.count == soql.selectedFields.count,
      !fields.contains(where: { $0.contains(".") }), isOfConditionsAlone
    else { return nil }
    var query = soql
    // With an ORDER BY, the org does not split the job.
    query[.orderBy] = nil
    return (query.text, fields)
  }
}
