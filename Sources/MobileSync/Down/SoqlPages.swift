import JSON
import Salesforce
import System

/// The pages of a query's records, to the last one.
///
/// A cursor that the org dropped is taken up again after the last record that was stored, and in the
/// end what came is compared with what was promised.
final class SoqlPages: SyncDownPages {
  private let session: Session
  private let query: SyncQuery
  private let batchSize: Int
  private let since: Int64?
  private let destination: SyncDestination
  private let warn: (String) -> Void

  /// The statement that is read now.
  private var statement: QueryPages
  /// The place that it begins after.
  private var after: SyncQuery.Key?
  /// The records that had arrived before it, and since.
  private var before = 0
  private var received = 0
  private var restarts = 0
  /// The last page that was stored: it has the place to go on from.
  private var stored: [UInt8]?

  /// The pages of a query: of all its records, or of those that were modified after `since`.
  init(
    _ session: Session, _ query: SyncQuery, batchSize: Int, since: Int64?, soupName: String,
    warn: @escaping (String) -> Void
  ) {
    self.session = session
    self.query = query
    self.batchSize = batchSize
    self.since = since
    self.warn = warn
    destination = query.destination(soupName: soupName)
    statement = session.query(query.fetch(since: since), batchSize: batchSize)
  }

  /// What has arrived and what is still promised.
  var totalSize: Int { before + (statement.totalSize ?? 0) }

  /// We ask for the order of the modification date wherever the query may be put in order.
  var isSorted: Bool { query.canResume || query.isSortedByModification }

  /// The next page.
  nonisolated(nonsending) func next() async throws(SyncError) -> SyncPage? {
    while true {
      do throws(SyncError) {
        let statement = self.statement
        let bytes = try await SyncError.inOrg { () async throws(OrgError) in
          try await statement.next()
        }
        if let bytes {
          let part = SyncPage.Part(destination, bytes: bytes, container: .member("records"))
          return SyncPage(parts: [part])
        }
        try await check()
        return nil
      } catch {
        guard error.cause?.kind == .locatorExpired, restarts < 3 else { throw error }
        restarts += 1
        restart()
      }
    }
  }

  /// Keeps the page that was stored, and gives the one before back.
  func recycle(_ page: consuming SyncPage, records: Int) {
    received += records
    if let stored { statement.recycle(stored) }
    stored = page.parts.first?.bytes
  }

  private func restart() {
    // Without a place to go on from, what came twice is found by its id.
    after = query.canResume ? lastKey ?? after : nil
    before += received
    received = 0
    stored = nil
    statement = session.query(query.fetch(since: since, after: after), batchSize: batchSize)
  }

  /// Compares what came with what was promised; records that were deleted meanwhile do not come.
  nonisolated(nonsending) private func check() async throws(SyncError) {
    guard let promised = statement.totalSize, received != promised else { return }
    let (session, text) = (self.session, query.count(since: since, after: after))
    let now = try await SyncError.inOrg { () async throws(OrgError) in
      try await session.count(text)
    }
    guard received >= now else {
      throw SyncError(
        .incomplete, "\(received) records arrived of \(promised) that the org promised",
        fix: "run again; if it stays so, the org's pages cannot be trusted")
    }
    warn("\(promised - received) records were deleted while they were read")
  }

  /// The place of the last record that was stored.
  private var lastKey: SyncQuery.Key? {
    guard let stored else { return nil }
    var key: SyncQuery.Key?
    let scanner = RecordScanner(paths: [query.idField, query.modificationField])
    stored.withUnsafeBytes { bytes in
      func text(_ span: JSONSpan) -> String {
        String(decoding: bytes[span.range], as: UTF8.self)
      }
      // The page was read before: it can be read again.
      _ = try? scanner.scan(bytes, in: .member("records")) { _, _, fields in
        guard fields[0].kind == .string, fields[1].kind == .string,
          let date = Dates.milliseconds(iso8601: text(fields[1]))
        else { return }
        key = SyncQuery.Key(modified: Dates.utc(date), id: text(fields[0]))
      }
    }
    return key
  }
}

extension SyncQuery {
  /// Where the records go.
  func destination(soupName: String) -> SyncDestination {
    SyncDestination(soupName: soupName, idPath: idField, modificationPath: modificationField)
  }

  /// Whether asking for changes alone could miss one, where the soup holds so many elements.
  ///
  /// An OFFSET skips the first of them, and where a LIMIT cuts the result another record can move
  /// into it unchanged.
  func mayMissChanges(soupCount: () throws(SyncError) -> Int) throws(SyncError) -> Bool {
    if hasOffset { return true }
    guard let limit else { return false }
    return try soupCount() >= limit
  }
}
