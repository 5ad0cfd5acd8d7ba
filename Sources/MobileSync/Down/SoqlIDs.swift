import JSON
import Salesforce

/// The ids that an org has, or no longer has, of what a query selects.
struct SoqlIDs {
  let session: Session
  let query: SyncQuery

  /// What a person is told where the ids cannot be told.
  static let boundedWarning =
    "the query has a LIMIT or OFFSET that cuts its result, so records that are missing in it "
    + "cannot be told from deleted ones; none was removed"

  /// The ids of all that matches; nil when LIMIT or OFFSET cut the list.
  ///
  /// Each is handed to `see`.
  func all(
    see: (UnsafeRawBufferPointer) -> Void = { _ in }
  ) async throws(SyncError) -> RecordIDSet? {
    let ids = try await ids(of: session.query(query.ids), see)
    guard query.isBounded else { return ids }
    guard !query.hasOffset, let limit = query.limit, ids.count < limit else { return nil }
    return ids
  }

  /// The ids of what was deleted lately; none where the object does not know deletion.
  func deleted(since: Int64) async throws(SyncError) -> RecordIDSet {
    do throws(SyncError) {
      return try await ids(of: session.query(query.deleted(since: since), all: true))
    } catch {
      guard error.code == .queryRefused, error.cause?.code == ErrorCodes.unknownField else {
        throw error
      }
      return RecordIDSet()
    }
  }

  /// The ids of all pages; a list that is not whole is an error.
  private func ids(
    of pages: QueryPages, _ see: (UnsafeRawBufferPointer) -> Void = { _ in }
  ) async throws(SyncError) -> RecordIDSet {
    var ids = RecordIDSet()
    var received = 0
    while let page = try await SyncError.inOrg({ try await pages.next() }) {
      received += try ids.insert(page, query.idField, see: see).records
      pages.recycle(page)
    }
    guard received == pages.totalSize else {
      throw SyncError(
        .incomplete, "\(received) ids arrived of \(pages.totalSize ?? 0) that the org promised",
        fix: "run again")
    }
    return ids
  }
}
