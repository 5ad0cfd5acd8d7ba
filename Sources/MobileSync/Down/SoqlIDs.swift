import JSON
import Salesforce

/// The ids that an org has, or no longer has, of what a query selects.
struct SoqlIDs {
  /// The session to ask in.
  let session: Session
  /// The query of the sync.
  let query: SyncQuery

  /// What a person is told where the ids cannot be told.
  static let boundedWarning =
    "the query has a LIMIT or OFFSET that cuts its result, so records that are missing in it "
    + "cannot be told from deleted ones; none was removed"

  /// The ids of all that matches; nil when LIMIT or OFFSET cut the list.
  ///
  /// Each is handed to `see`.
  nonisolated(nonsending) func all(
    see: (UnsafeRawBufferPointer) -> Void = { _ in }
  ) async throws(SyncError) -> RecordIDSet? {
    let ids = try await ids(of: session.query(query.ids), see)
    guard query.isBounded else { return ids }
    guard !query.hasOffset, let limit = query.limit, ids.count < limit else { return nil }
    return ids
  }

  /// The ids of what was deleted lately; none where the object does not know deletion.
  nonisolated(nonsending) func deleted(since: Int64) async throws(SyncError) -> RecordIDSet {
    do throws(SyncError) {
      return try await ids(of: session.query(query.deleted(since: since), all: true))
    } catch {
      guard error.code == .queryRefused, error.cause?.code == "INVALID_FIELD" else { throw error }
      return RecordIDSet()
    }
  }

  /// The ids of all pages; a list that is not whole is an error.
  nonisolated(nonsending) private func ids(
    of pages: QueryPages, _ see: (UnsafeRawBufferPointer) -> Void = { _ in }
  ) async throws(SyncError) -> RecordIDSet {
    let scanner = RecordScanner(paths: [query.idField])
    var ids = RecordIDSet()
    var received = 0
    while let page = try await SyncError.inOrg({ () async throws(OrgError) in
      try await pages.next()
    }) {
      do {
        try page.withUnsafeBytes { bytes in
          let result = try scanner.scan(bytes, in: .member("records")) { _, _, fields in
            guard fields[0].kind == .string else { return }
            let id = UnsafeRawBufferPointer(rebasing: bytes[fields[0].range])
            ids.insert(id)
            see(id)
          }
          received += result.records
        }
      } catch {
        throw SyncError(.badResponse, "a page of ids cannot be read: \(error)")
      }
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

extension SyncError {
  /// Runs what asks an org.
  nonisolated(nonsending) static func inOrg<T>(
    _ body: nonisolated(nonsending) () async throws(OrgError) -> T
  ) async throws(SyncError) -> T {
    do throws(OrgError) { return try await body() } catch { throw SyncError(error) }
  }
}
