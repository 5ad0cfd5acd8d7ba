import Salesforce

/// All records of a query, of which the user fetches a part, and other users of the run the others.
///
/// The user's own list of IDs says which records the query selects.
final class PooledQueryPages: SyncDownPages {
  let totalSize: Int
  let isSorted = false
  let isWhole = true
  private let records: PooledRecords
  private let destination: SyncDestination
  private let context: SyncContext
  private let noteRead: () -> Void
  private let answers: (_ wanted: IDList) -> any AnswerSource<QueryAnswer>
  private var own: (any AnswerSource<QueryAnswer>)?

  private init(
    _ records: PooledRecords, _ totalSize: Int, into destination: SyncDestination,
    _ context: SyncContext, _ noteRead: @escaping () -> Void,
    answers: @escaping (IDList) -> any AnswerSource<QueryAnswer>
  ) {
    self.totalSize = totalSize
    self.records = records
    self.destination = destination
    self.context = context
    self.noteRead = noteRead
    self.answers = answers
  }

  /// Lists the records of a query; nil if they are not shared.
  static func make(
    _ query: SyncQuery, _ session: Session, into destination: SyncDestination,
    _ context: SyncContext
  ) async throws(SyncError) -> PooledQueryPages? {
    guard let pool = context.pool, pool.mode == .always, query.mayBeShared else { return nil }
    let likely = pool.likelyShelf(
      session, ReadingClass.Question(query.objectName, query.soql.readPaths, .query))
    guard let name = likely?.name ?? described(query, session) else { return nil }
    let values = OwnValues(name)
    guard let wanted = try await list(query, session, pool, context, values),
      wanted.count <= context.settings.bulkAbove,
      let shelf = await confirmed(likely, query, session, pool), shelf.name.own == name.own
    else { return nil }
    let stamped = shelf.name.lacksStamp ? query.selecting(ReadingClass.stamp) : query
    let records = PooledRecords(
      pool, [shelf], wanted: [wanted], size: RequestLimits.queryPage.upperBound,
      for: session.identity.userID, listed: values)
    let noteRead = { session.note(read: query.soql.readPaths, of: query.objectName) }
    return PooledQueryPages(records, wanted.count, into: destination, context, noteRead) { ids in
      session.answers(
        about: ids, slice: RequestLimits.idsPerQuery, context.width(.records)
      ) { stamped.fetch(among: $0) }
    }
  }

  /// The class of a user whose description of the object is known; nil if the records are not
  /// shared.
  private static func described(_ query: SyncQuery, _ session: Session) -> ReadingClass? {
    guard let object = session.knownObject(query.objectName),
      case .shared(let name, _) = query.sharing(object)
    else { return nil }
    return name
  }

  /// The user's shelf, after the list, with which the description arrives if it is needed.
  private static func confirmed(
    _ likely: PoolShelf?, _ query: SyncQuery, _ session: Session, _ pool: RecordPool
  ) async -> PoolShelf? {
    if let likely, !likely.name.hasFormulas { return likely }
    try? await session.learn([query.objectName])
    return described(query, session).map { pool.shelf($0) }
  }

  /// The IDs that the query selects now, with the versions of the records; adds the user's own
  /// values to `values`.
  private static func list(
    _ query: SyncQuery, _ session: Session, _ pool: RecordPool, _ context: SyncContext,
    _ values: OwnValues?
  ) async throws(SyncError) -> [BriefcaseListing.Entry]? {
    let dated = try query.dated(by: ReadingClass.stamp).listing(values?.fields ?? [])
    let ids = SoqlIDs(session: session, query: dated, context: context) { page throws(SyncError) in
      try values?.insert(page, in: QueryAnswer.container) { stamp in
        stamp.map { pool.version($0, .query) } ?? RecordPool.unchanged
      }
    }
    guard let found = try await ids.all(datedSince: pool.start) else { return nil }
    let sorted = found.ids.subtracting(RecordIDSet())
    let all = sorted.slice(0, of: max(1, sorted.count))
    if let name = context.rangesName(of: query),
      context.wide.ranges(name)?.isFit(for: all.count) != true
    {
      // A few of the IDs are enough to cut the list.
      let step = all.count / (IDRanges.mostCuts * IDRanges.intervalsPerRange) + 1
      let sample = stride(from: 0, to: all.count, by: step).map { all[$0] }
      if let ranges = IDRanges(sample: sample, records: all.count) {
        context.wide.learn(ranges, of: name)
      }
    }
    return all.map { id in
      var text = id
      let stamp = text.withUTF8 { found.dates[UnsafeRawBufferPointer($0)] }
      return BriefcaseListing.Entry(
        id: id,
        stamp: stamp.map { pool.version($0, .query) }
          ?? (found.areAllDated ? RecordPool.unknown : RecordPool.unchanged))
    }
  }

  func next() async throws(SyncError) -> SyncPage? {
    while true {
      if let own {
        if own.hasMore {
          try context.checkStop()
          let answer = try await own.take()
          try answer.read()
          noteRead()
          var parts: [SyncPage.Part] = []
          for page in answer.pages {
            let bytes = try records.take(page, of: 0, in: QueryAnswer.container)
            parts.append(SyncPage.Part(destination, bytes: bytes, container: .array))
          }
          return SyncPage(parts: parts)
        }
        self.own = nil
      }
      switch try await records.next() {
      case nil: return nil
      case .fetch(let wanted, _): own = answers(IDList(wanted.flatMap { $0.map(\.id) }))
      case .use(let part):
        let page = SyncPage.Part(destination, bytes: part.bytes, container: .array)
        return SyncPage(parts: [page])
      }
    }
  }
}
