import JSON
import Salesforce
import System

/// The pages of a query's records, to the last one.
///
/// Asked for deletions, it learns in the same requests what was deleted since, where the org can
/// tell.
/// A cursor that the org dropped is taken up again after the last record that was stored, and in the
/// end what came is compared with what was promised.
final class SoqlPages: SyncDownPages {
  private let session: Session
  private let query: SyncQuery
  /// The most records of a page; less since one was too large to be taken.
  private var batchSize: Int
  /// The most records of a statement, where a page of the fewest was still too large.
  private var cap: Int?
  private let since: Int64?
  private let destination: SyncDestination
  private let warn: (String) -> Void
  /// Whether `statement` is one of `queryAll` that tells deleted rows too.
  private var tellsDeletions = false
  /// The deleted rows of the page that was read last.
  private var deletedOfPage = 0
  /// The ids of what was deleted; nil where it was not asked for.
  private var deletedIDs: RecordIDSet?

  /// The first page, or that there is none, where it was read before it was asked for.
  private var first: SyncPage??

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
  /// The org's clock at the first answer of `statement`: what is dated later may stand in another place
  /// than its date says.
  private var begun: Int64?
  /// What the first statement promised, and its text.
  private var promised: (records: Int, count: String)?

  /// The pages of a query: of all its records, or of those that were modified after `since`;
  /// `asksDeletions` is a wish.
  init(
    _ session: Session, _ query: SyncQuery, batchSize: Int, since: Int64?,
    into destination: SyncDestination,
    asksDeletions: Bool = false, warn: @escaping (String) -> Void
  ) {
    self.session = session
    self.query = query
    self.batchSize = batchSize
    self.since = since
    self.warn = warn
    self.destination = destination
    if asksDeletions, let since, let changes = query.changes(since: since) {
      tellsDeletions = true
      deletedIDs = RecordIDSet()
      statement = session.query(changes, all: true, batchSize: batchSize)
    } else {
      if asksDeletions, !query.knowsDeletion { deletedIDs = RecordIDSet() }
      statement = session.query(query.fetch(since: since), batchSize: batchSize)
    }
  }

  /// An OFFSET or a LIMIT that cuts has all asked for.
  var isWhole: Bool { since == nil }

  var deletions: [RemoteIDs]? {
    deletedIDs.map { [.deleted($0, in: destination)] }
  }

  /// What has arrived and what is still promised.
  var totalSize: Int { before + (statement.totalSize ?? 0) }

  /// We ask for the order of the modification date wherever the query may be put in order.
  var isSorted: Bool { query.canResume || query.isSortedByModification }

  /// Reads the first page, for `next`.
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
        guard let cap, received >= cap else { return nil }
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
    if tellsDeletions {
      let rows = DeletedRows(idField: query.idField, cutsMember: query.addsIsDeleted)
      let split = try rows.split(bytes)
      living = split.living
      deletedOfPage = split.deleted.count
      for id in split.deleted { deletedIDs?.insert(id) }
    }
    return SyncPage(parts: [.init(destination, bytes: living, container: .member("records"))])
  }

  /// Whether a LIMIT or OFFSET left records out; where deleted rows came too, they may have taken the places of
  /// living ones.
  var isCut: Bool {
    query.hasOffset || query.limit.map { (statement.totalSize ?? 0) >= $0 } ?? query.isBounded
  }

  /// Asks for the living records alone; `knows` says that nothing of the object is ever deleted.
  private func leaveDeletions(knows: Bool) {
    tellsDeletions = false
    (begun, promised) = (nil, nil)
    deletedIDs = knows ? RecordIDSet() : nil
    statement = session.query(query.fetch(since: since), batchSize: batchSize)
  }

  /// The org makes no pages of fewer records.
  private static let fewestOfPage = RequestLimits.queryPage.lowerBound

  /// Goes on after the last record that was stored, with smaller pages, or with smaller statements; a
  /// record that is too large by itself is named.
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

  /// Keeps the page that was stored, and gives the one before back.
  func recycle(_ page: consuming SyncPage, records: Int) {
    received += records + deletedOfPage
    deletedOfPage = 0
    // Taken out first: a buffer that somebody else still holds would be copied.
    if let before = stored.take() { statement.recycle(before) }
    stored = page.parts.first?.bytes
  }

  private func restart() {
    // Without a place to go on from, what came twice is found by its id.
    after = query.canResume ? lastKey ?? after : nil
    before += received
    received = 0
    stored = nil
    begun = nil
    statement = session.query(text, all: tellsDeletions, batchSize: batchSize)
  }

  /// What is asked for, from the place where to go on.
  private var text: String {
    let changes = tellsDeletions ? since.flatMap { query.changes(since: $0, after: after) } : nil
    return changes ?? query.fetch(since: since, after: after, limit: cap)
  }

  private func noteFirstAnswer() throws(SyncError) {
    begun = session.serverDate
    guard promised == nil, before == 0, cap == nil, let records = statement.totalSize
    else { return }
    promised = (records, try SyncQuery.count(of: text))
  }

  /// Compares what came with what was promised: by the statement that was read last, and, where another
  /// was taken up again, by the first one.
  private func check() async throws(SyncError) {
    if before > 0, let promised {
      try await session.check(
        before + received, of: promised.records, by: promised.count, all: tellsDeletions
      ) { _ in }
    }
    try await session.check(
      received, of: statement.totalSize, by: SyncQuery.count(of: text), all: tellsDeletions, warn)
  }

  /// The place of the last record that was stored and has its place by its date: one that was changed since
  /// the statement began bears a later date than the place where it came.
  private var lastKey: SyncQuery.Key? {
    guard let stored, let begun else { return nil }
    var key: SyncQuery.Key?
    let scanner = RecordScanner(paths: [query.idField, query.modificationField])
    stored.withUnsafeBytes { bytes in
      func text(_ span: JSONSpan) -> String {
        String(decoding: bytes[span.range], as: UTF8.self)
      }
      // The page was read before: it can be read again.
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
