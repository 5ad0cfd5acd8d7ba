import JSON
import Salesforce

/// The ids that an org has, or no longer has, of what a query selects.
package struct SoqlIDs {
  let session: Session
  let query: SyncQuery

  /// What a person is told where the ids cannot be told.
  package static let boundedWarning =
    "the query has a LIMIT or OFFSET that cuts its result, so records that are missing in it "
    + "cannot be told from deleted ones; none was removed"

  /// The ids of all that matches, with their dates; nil when LIMIT or OFFSET cut the list.
  func all() async throws(SyncError) -> (ids: RecordIDSet, dates: RecordDates)? {
    let found = try await list(query.listing)
    guard query.isBounded else { return found }
    guard !query.hasOffset, let limit = query.limit, found.ids.count < limit else { return nil }
    return found
  }

  /// The ids of what was deleted lately; none where the object does not know deletion.
  func deleted(since: Int64) async throws(SyncError) -> RecordIDSet {
    do throws(SyncError) {
      return try await list(query.deleted(since: since), all: true).ids
    } catch {
      guard error.code == .queryRefused, error.cause?.code == ErrorCodes.unknownField else {
        throw error
      }
      return RecordIDSet()
    }
  }

  /// The ids and dates of all pages; a list that is not whole is an error.
  ///
  /// A list whose locator the org dropped is begun again.
  private func list(
    _ text: String, all: Bool = false
  ) async throws(SyncError) -> (ids: RecordIDSet, dates: RecordDates) {
    try await RetryPolicy.readingList(cause: \.cause) { () async throws(SyncError) in
      try await readList(text, all)
    }
  }

  private func readList(
    _ text: String, _ all: Bool
  ) async throws(SyncError) -> (ids: RecordIDSet, dates: RecordDates) {
    let pages = session.query(text, all: all)
    var (ids, dates) = (RecordIDSet(), RecordDates())
    var received = 0
    while let page = try await SyncError.inOrg({ try await pages.next() }) {
      received += try ids.insert(page, query.idField).records
      try dates.insert(page, query.idField, query.modificationField)
      pages.recycle(page)
    }
    try await session.check(
      received, of: pages.totalSize, by: SyncQuery.count(of: text), all: all, what: "ids"
    ) { _ in }
    return (ids, dates)
  }
}
