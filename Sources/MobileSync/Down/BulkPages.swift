import Salesforce

/// The records of a query that are so many that the org makes the result by itself, in a query job.
///
/// They come in no order, and the org reads them while others write: the cursor stays before the moment at
/// which the job began. Where a part of the result cannot be had, all is read by the query's own pages; what
/// came twice is found by its id.
final class BulkPages: SyncDownPages {
  private let job: BulkQueryJob
  private let records: BulkRecords
  private let byQuery: () -> any SyncDownPages
  private let warn: (String) -> Void
  /// The query's own pages, once the job has failed.
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

  /// Has the org make the result of a query; nil where a job does not give what a query gives, or where the
  /// org makes none for this user.
  ///
  /// `byQuery` makes the query's own pages.
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
      // Dates of an org have whole seconds.
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
      warn("the org made no bulk job, and the result is read by pages: \(error.message)")
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
        "\(received) records arrived of \(job.records) that the org promised")
    }
    await job.remove()
    return nil
  }

  /// Goes on with the first of the query's own pages.
  private func leaveJob(_ words: String) async throws(SyncError) -> SyncPage? {
    warn("the result of the bulk job cannot be had, and all is read by pages: \(words)")
    reading = nil
    await job.giveUp()
    let pages = byQuery()
    instead = pages
    return try await pages.next()
  }

  /// The next records of what has arrived.
  private func read() throws(OrgError) -> (json: [UInt8], records: Int)? {
    guard var course = reading else { return nil }
    let page = try records.next(&course)
    reading = page == nil ? nil : course
    return page
  }
}

extension SyncQuery {
  /// The statement for a query job and the fields that it selects; nil for one that only a query answers:
  /// with a limit, with fields of other records, with functions or subqueries, or for some rows of a scope.
  var bulk: (text: String, fields: [String])? {
    let fields = soql.readPaths
    guard canResume, fields.count == soql.selectedFields.count,
      !fields.contains(where: { $0.contains(".") }), isOfConditionsAlone
    else { return nil }
    var query = soql
    // In an order the org does not divide the work.
    query[.orderBy] = nil
    return (query.text, fields)
  }
}
