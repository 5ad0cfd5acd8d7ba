import Salesforce

extension SoqlTarget: OneSoupTarget {
  package func pages(
    since: Int64?, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let query = try syncQuery(variables: context.variables)
    let mayMiss = try query.mayMissChanges { () throws(SyncError) in
      try SoupReader(store: context.store, soup: context.soupName).count()
    }
    let (session, place) = (try await context.session(), destination(context.soupName))
    if since == nil,
      let pages = try await PooledQueryPages.make(query, session, into: place, context)
    {
      return pages
    }
    if since == nil, let pages = rangedPages(query, session, context) { return pages }
    func byQuery(since: Int64?) -> SoqlPages {
      SoqlPages(
        session, query, batchSize: maxBatchSize, since: since, into: place,
        asksDeletions: context.asksDeletions,
        lesson: since == nil ? lesson(query, context) : nil, warn: context.warn)
    }
    let pages = byQuery(since: mayMiss ? nil : since)
    guard since == nil else { return pages }
    // The first page has the total number.
    try await pages.readFirst()
    guard pages.totalSize > context.settings.bulkAbove else { return pages }
    return try await BulkPages.make(
      session, query, into: place, byQuery: { byQuery(since: nil) }, warn: context.warn) ?? pages
  }

  /// All records by ranges of their IDs; nil if that is not possible, or not fewer requests, as far
  /// as is known.
  private func rangedPages(
    _ query: SyncQuery, _ session: Session, _ context: SyncContext
  ) -> RangedPages? {
    guard isDivisible(query), let name = context.rangesName(of: query),
      let ranges = context.wide.ranges(name), ranges.records <= context.settings.bulkAbove,
      context.width(.records).next > 1
    else { return nil }
    let (size, place, calls) = (maxBatchSize, destination(context.soupName), context.wide)
    let window = RangeWindow(session, ranges, context.width(.records)) {
      query.within($0).fetch()
    }
    func pages(_ condition: String?, _ page: GivenPage?) -> SoqlPages {
      SoqlPages(
        session, query.within(condition), batchSize: size, since: nil, into: place, given: page,
        warn: context.warn)
    }
    return RangedPages(
      window, pages: { pages($0.condition, $0.page) }, whole: { pages(nil, nil) },
      finished: { calls.learn(ranges.with(records: $0), of: name) })
  }

  /// Learns the ranges; nil if nothing is kept for other runs.
  private func lesson(_ query: SyncQuery, _ context: SyncContext) -> RangeLesson? {
    guard isDivisible(query), let name = context.rangesName(of: query) else { return nil }
    return RangeLesson(context.wide, name: name, context.width(.records))
  }

  /// A smaller page size keeps the responses small, so nothing is combined.
  private func isDivisible(_ query: SyncQuery) -> Bool {
    maxBatchSize >= Self.defaultBatchSize && query.isDivisible
  }

  package func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let query = try syncQuery(variables: context.variables)
    return RecordsByIDPages(
      ids[context.soupName] ?? IDList(), into: destination(context.soupName),
      session: try await context.session(), context
    ) { query.fetch(among: $0) }
  }

  /// If a LIMIT or OFFSET may cut the result, only a full fetch shows what it contains.
  package func pages(
    selectedOf ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let query = try syncQuery(variables: context.variables)
    return query.isBounded
      ? try await pages(since: nil, context) : try await pages(among: ids, context)
  }

  /// With an OFFSET, everything is fetched; with a LIMIT, the number of stored records decides.
  package func queriesAhead(
    since: Int64, asksDeletions: Bool, variables: [String: String]
  ) throws(SyncError) -> [AheadQuery] {
    let query = try syncQuery(variables: variables)
    guard !query.hasOffset else { return [] }
    let first = query.first(since: since, asksDeletions: asksDeletions)
    guard asksDeletions, !first.all else { return [first] }
    return [first] + (try destination("").deletionsAhead(of: query.objectName, since: since))
  }

  package func remoteIDs(_ context: SyncContext) async throws(SyncError) -> [RemoteIDs] {
    let query = try syncQuery(variables: context.variables)
    var list = SoqlIDs(session: try await context.session(), query: query)
    if isDivisible(query) { list.context = context }
    let found = try await list.all()
    return [
      RemoteIDs(
        soupName: context.soupName, idPath: query.idField, ids: found?.ids,
        dates: found.map { (query.modificationField, $0.dates) })
    ]
  }

  package func remoteIDs(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    let query = try syncQuery(variables: context.variables)
    guard let asked = ids[context.soupName] else { return [] }
    return [
      try await destination(context.soupName).remoteIDs(among: asked, context) {
        query.fetch(among: $0, .ids)
      }
    ]
  }

  package func dates(
    of ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs]? {
    let query = try syncQuery(variables: context.variables)
    guard let asked = ids[context.soupName] else { return [] }
    return [
      try await destination(context.soupName).dates(of: asked, context) {
        query.fetch(among: $0, .dates)
      }
    ]
  }

  package func deletions(
    since: Int64, _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    let query = try syncQuery(variables: context.variables)
    return try await destination(context.soupName)
      .deletions(of: query.objectName, since: since, context)
  }
}
