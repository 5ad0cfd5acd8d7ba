import JSON
import Salesforce
import System

/// All pages of a query's records.
///
/// If deletions are requested, the same requests return what was deleted, if the org supports this.
///
/// A cursor that the org dropped is resumed after the last stored record. At the end, the number of
/// records is compared with the announced one.
final class SoqlPages: SyncDownPages {
  private let session: Session
  private let query: SyncQuery
  /// The maximum number of records per page; reduced after a page was too large.
  private var batchSize: Int
  /// The maximum number of records per statement, if a page of the smallest size was still too
  /// large.
  private var cap: Int?
  private let since: Int64?
  private let destination: SyncDestination
  private let warn: (String) -> Void
  /// Whether `statement` uses `queryAll` and also returns deleted rows.
  private var tellsDeletions = false
  /// The number of deleted rows on the last page read.
  private var deletedOfPage = 0
  /// The IDs of deleted records; nil if they were not requested.
  private var deletedIDs: RecordIDSet?

  /// The first page, if it was read before it was requested; `.some(nil)` if there is none.
  private var first: SyncPage??

  /// The statement that is being read.
  private var statement: QueryPages
  /// The position after which the statement starts.
  private var after: SyncQuery.Key?
  /// The number of records that arrived before this statement, and since.
  private var before = 0
  private var received = 0
  private var restarts = 0
  /// The last page that was stored; it has the position from which to resume.
  private var stored: [UInt8]?
  /// The org's time at the first response of `statement`.
  ///
  /// A record with a later date may be at a different position than its date implies.
  private var begun: Int64?
  /// The number announced for the first statement, and the statement's text.
  private var promised: (records: Int, count: String)?
  /// Learns how the records can be requested by ranges; nil if that is not wanted.
  private let lesson: RangeLesson?

  /// Creates the pages of a query: all its records, or those modified after `since`;
  /// `asksDeletions` requests deletions if the org supports it; the `given` first page of all
  /// records is not requested.
  init(
    _ session: Session, _ query: SyncQuery, batchSize: Int, since: Int64?,
    into destination: SyncDestination,
    asksDeletions: Bool = false, given: GivenPage? = nil, lesson: RangeLesson? = nil,
    warn: @escaping (String) -> Void
  ) {
    self.session = session
    self.query = query
    self.batchSize = batchSize
    self.since = since
    self.warn = warn
    self.destination = destination
    self.lesson = lesson
    let first = query.first(since: since, asksDeletions: asksDeletions)
    tellsDeletions = first.all
    if first.all || asksDeletions && !query.knowsDeletion { deletedIDs = RecordIDSet() }
    statement = session.query(first.soql, all: first.all, batchSize: batchSize, given: given)
  }

  /// An OFFSET, or a LIMIT that cuts the result, requires fetching everything.
  var isWhole: Bool { since == nil }

  var deletions: [RemoteIDs]? {
    deletedIDs.map { [.deleted($0, in: destination)] }
  }

  /// The number of records that arrived and are still announced.
  var totalSize: Int { before + (statement.totalSize ?? 0) }

  /// Records are requested in the order of the modification date wherever the query allows an
  /// order.
  var isSorted: Bool { query.canResume || query.isSortedByModification }

  /// Reads the first page in advance; `next` returns it.
  func readFirst() async throws(SyncError) { first = .some(try await read()) }

  func next() async throws(SyncError) -> SyncPage? {
    if let page = first {
      first = nil
      return page
    }
    return try await read()
  }

  private func read() async throws(SyncError) -> SyncPage? {
    while true {
      do throws(SyncError) {
        let statement = self.statement
        let bytes = try await SyncError.inOrg { try await statement.next() }
        if let bytes {
          if begun == nil { try noteFirstAnswer() }
          if tellsDeletions, isCut { leaveDeletions(knows: false) } else { return try page(bytes) }
          continue
        }
        try await check()
        guard let cap, received >= cap else {
          lesson?.finish(records: before + received)
          return nil
        }
        self.cap = cap < Self.fewestOfPage ? cap * 2 : nil
        restart()
      } catch {
        if error.cause?.kind == .tooLarge {
          try await askForLess(error)
          continue
        }
        if tellsDeletions, error.code == .queryRefused, received == 0 {
          leaveDeletions(knows: error.cause?.code == ErrorCodes.unknownField)
          continue
        }
        guard RetryPolicy.beginsAgain(error.cause, after: restarts) else { throw error }
        restarts += 1
        restart()
      }
    }
  }

  private func page(_ bytes: [UInt8]) throws(SyncError) -> SyncPage {
    var living = bytes
    if let lesson, totalSize > IDRanges.expected { lesson.add(bytes) }
    if tellsDeletions {
      let rows = DeletedRows(idField: query.idField, cutsMember: query.addsIsDeleted)
      let split = try rows.split(bytes)
      living = split.living
      deletedOfPage = split.deleted.count
      for id in split.deleted { deletedIDs?.insert(id) }
    }
    return SyncPage(parts: [.init(destination, bytes: living, container: .member("records"))])
  }

  /// Whether a LIMIT or OFFSET excluded records; if deleted rows were returned too, they may have
  /// displaced others.
  var isCut: Bool {
    query.hasOffset || query.limit.map { (statement.totalSize ?? 0) >= $0 } ?? query.isBounded
  }

  /// Stops requesting deleted rows; `knows` means that rows of the object cannot be deleted.
  private func leaveDeletions(knows: Bool) {
    tellsDeletions = false
    (begun, promised) = (nil, nil)
    deletedIDs = knows ? RecordIDSet() : nil
    statement = session.query(query.fetch(since: since), batchSize: batchSize)
  }

  /// The org does not return smaller pages.
  private static let fewestOfPage = RequestLimits.queryPage.lowerBound

  /// Continues after the last stored record with smaller pages or smaller statements.
  ///
  /// If a single record is too large, the error names it.
  private func askForLess(_ error: SyncError) async throws(SyncError) {
    if let cap {
      guard cap > 1 else { throw try await naming(error) }
      self.cap = cap / 2
    } else if let smaller = RequestLimits.smallerQueryPage(than: batchSize) {
      batchSize = smaller
    } else {
      guard query.canResume else { throw error }
      cap = Self.fewestOfPage / 2
      if tellsDeletions { leaveDeletions(knows: false) }
    }
    restart()
  }

  private func naming(_ error: SyncError) async throws(SyncError)
    -> SyncError
  {
    let (session, text) = (
      self.session, query.fetch(since: since, after: after, limit: 1, idsOnly: true)
    )
    let found = try await SyncError.inOrg { try await session.queryAllRecords(text) }
    guard let cause = error.cause, let id = found.first?[query.idField]?.string else {
      return error
    }
    return SyncError(cause.of(record: id))
  }

  /// Keeps the stored page and returns the buffer of the one before it.
  func recycle(_ page: consuming SyncPage, records: Int) {
    received += records + deletedOfPage
    deletedOfPage = 0
    // Taken out first: a buffer with a second reference would be copied.
    if let before = stored.take() { statement.recycle(before) }
    stored = page.parts.first?.bytes
  }

  private func restart() {
    // Without a position to resume from, records that arrive twice are matched by ID.
    after = query.canResume ? lastKey ?? after : nil
    before += received
    received = 0
    stored = nil
    begun = nil
    statement = session.query(text, all: tellsDeletions, batchSize: batchSize)
  }

  /// The statement's text, from the position to resume at.
  private var text: String {
    let changes = tellsDeletions ? since.flatMap { query.changes(since: $0, after: after) } : nil
    return changes ?? query.fetch(since: since, after: after, limit: cap)
  }

  private func noteFirstAnswer() throws(SyncError) {
    begun = statement.askedAt ?? session.serverDate
    guard promised == nil, before == 0, cap == nil, let records = statement.totalSize
    else { return }
    promised = (records, try SyncQuery.count(of: text))
  }

  /// Compares the number of records with the announced one: that of the last statement and, after a
  /// resume, also that of the first.
  private func check() async throws(SyncError) {
    if before > 0, let promised {
      try await session.check(
        before + received, of: promised.records, by: promised.count, all: tellsDeletions
      ) { _ in }
    }
    try await session.check(
      received, of: statement.totalSize, by: SyncQuery.count(of: text), all: tellsDeletions, warn)
  }

  /// The position of the last stored record whose date is reliable; a record changed since the
  /// statement started has a later date than its position.
  private var lastKey: SyncQuery.Key? {
    guard let stored, let begun else { return nil }
    var key: SyncQuery.Key?
    let scanner = RecordScanner(paths: [query.idField, query.modificationField])
    stored.withUnsafeBytes { bytes in
      func text(_ span: JSONSpan) -> String {
        String(decoding: bytes[span.range], as: UTF8.self)
      }
      // The page was parsed before, so this cannot fail.
      _ = try? scanner.scan(bytes, in: .member("records")) { _, _, fields in
        guard let id = fields[0].text(in: bytes), fields[1].kind == .string,
          let date = Dates.milliseconds(iso8601: text(fields[1])), date < begun
        else { return }
        key = SyncQuery.Key(modified: SOQLLiteral.date(date), id: id)
      }
    }
    return key
  }
}

extension SyncQuery {
  /// Whether fetching only changes could miss one, given the number of elements in the soup.
  ///
  /// An OFFSET skips the first changes, and if a LIMIT cuts the result, an unchanged record can
  /// move into it.
  func mayMissChanges(soupCount: () throws(SyncError) -> Int) throws(SyncError) -> Bool {
    if hasOffset { return true }
    guard let limit else { return false }
    return try soupCount() >= limit
  }
}
