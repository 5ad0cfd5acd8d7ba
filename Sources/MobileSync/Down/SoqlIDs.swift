import JSON
import Salesforce

/// The IDs of a query's records that the org has, or has deleted.
package struct SoqlIDs {
  let session: Session
  let query: SyncQuery
  /// What is known about the sync's calls, if the list may be divided by ranges.
  var context: SyncContext?
  /// Called with each page of the list.
  var see: (_ page: [UInt8]) throws(SyncError) -> Void = { _ in }

  /// Returns the IDs of all matching records with their dates; nil if LIMIT or OFFSET cuts the
  /// list.
  func all() async throws(SyncError) -> (ids: RecordIDSet, dates: RecordDates)? {
    let found: (ids: RecordIDSet, dates: RecordDates)
    let query = self.query
    if let ranged = try await listRanges({ query.within($0).listing }) {
      found = (ranged.ids, ranged.dates)
    } else {
      found = try await list(query.listing)
    }
    guard query.isBounded else { return found }
    guard !query.hasOffset, let limit = query.limit, found.ids.count < limit else { return nil }
    return found
  }

  /// Returns the IDs of all matching records, and the dates of those that changed at `since` or
  /// later, in milliseconds; `areAllDated` if the others have dates too; nil if LIMIT or OFFSET cuts
  /// the list.
  ///
  /// A record without a date had an earlier one when it was listed. The changes are listed last, so
  /// that a record that changes in between is not missed.
  func all(
    datedSince since: Int64
  ) async throws(SyncError) -> (ids: RecordIDSet, dates: RecordDates, areAllDated: Bool)? {
    let (field, date) = (query.modificationField, SOQLLiteral.date(since))
    let others = query.within("\(field) < \(date)")
    let changes = SoqlIDs(session: session, query: query.within("\(field) >= \(date)"), see: see)
    guard
      let found = try await listRanges(
        closing: changes.query.listing, { others.within($0).ids })
    else {
      return try await all().map { ($0.ids, $0.dates, true) }
    }
    var (ids, dates) = (found.ids, RecordDates())
    let changed = try await changes.list(changes.query.listing, given: found.closing)
    ids.formUnion(changed.ids)
    dates.merge(changed.dates)
    return (ids, dates, false)
  }

  /// Returns the IDs of recently deleted records; empty if rows of the object cannot be deleted.
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

  /// Returns the IDs and dates of all pages; an incomplete list is an error.
  ///
  /// A list whose locator the org dropped is restarted.
  private func list(
    _ text: String, all: Bool = false, given: GivenPage? = nil
  ) async throws(SyncError) -> (ids: RecordIDSet, dates: RecordDates) {
    var given = given
    return try await RetryPolicy.readingList(cause: \.cause) { () async throws(SyncError) in
      try await readList(text, all, given.take())
    }
  }

  /// Returns the list by ranges of its IDs, several ranges in one call; nil if the ranges are not
  /// known, or the org refuses one.
  ///
  /// `text` returns the statement with a condition. The first page of the `closing` query is returned
  /// if the last call brought it.
  private func listRanges(
    closing: String? = nil, _ text: @escaping @Sendable (_ condition: String?) -> String
  ) async throws(SyncError) -> (ids: RecordIDSet, dates: RecordDates, closing: GivenPage?)? {
    guard let context, let name = context.rangesName(of: query),
      let ranges = context.wide.ranges(name), context.width(.ids).next > 1
    else { return nil }
    let window = RangeWindow(
      session, ranges, context.width(.ids), closing: closing, text: text)
    var (ids, dates) = (RecordIDSet(), RecordDates())
    do throws(SyncError) {
      while let range = try await window.next() {
        try context.checkStop()
        let found = try await list(text(range.condition), given: range.page)
        ids.formUnion(found.ids)
        dates.merge(found.dates)
        window.note(range, records: found.ids.count)
      }
    } catch {
      guard error.code == .queryRefused else { throw error }
      return nil
    }
    return (ids, dates, window.closing)
  }

  private func readList(
    _ text: String, _ all: Bool, _ given: GivenPage?
  ) async throws(SyncError) -> (ids: RecordIDSet, dates: RecordDates) {
    let pages = session.query(text, all: all, given: given)
    var (ids, dates) = (RecordIDSet(), RecordDates())
    var received = 0
    while let page = try await SyncError.inOrg({ try await pages.next() }) {
      received += try ids.insert(page, query.idField).records
      try dates.insert(page, query.idField, query.modificationField)
      try see(page)
      if given == nil, pages.totalSize.map({ $0 > IDRanges.expected }) == true {
        context?.width(.ids).note(bytes: page.count)
      }
      pages.recycle(page)
    }
    try await session.check(
      received, of: pages.totalSize, by: SyncQuery.count(of: text), all: all, what: "ids"
    ) { _ in }
    return (ids, dates)
  }
}
