import Salesforce

/// The source of the records that a briefcase lists.
protocol BriefcaseSource: AnyObject {
  /// Returns the responses of the next page; nil after the last.
  func next() async throws(SyncError) -> [BriefcaseAnswer]?
}

/// Records that the user fetches.
final class OwnRetrieves: BriefcaseSource {
  private var slices: ArraySlice<[BriefcaseBatch]>
  private let answers: any AnswerSource<[BriefcaseAnswer]>

  /// Requests the wanted records of each group; several requests are sent in one call if there is
  /// more than one slice, or if `combines`.
  init(
    _ groups: [BriefcaseGroup], wanted: [[String]], size: Int, session: Session,
    _ context: SyncContext, combines: Bool = false
  ) {
    let slices = BriefcaseBatch.slices(of: wanted, size: size)
    self.slices = slices[...]
    let batches = slices.flatMap(\.self)
    // A smaller size keeps the responses small.
    answers =
      size >= RequestLimits.retrieve
        && (combines || slices.count > 1 || session.expectsDescriptions)
      ? groups.wideRetrieves(
        batches, in: session, context.width(.records))
      : groups.retrieves(batches, in: session)
  }

  func next() async throws(SyncError) -> [BriefcaseAnswer]? {
    guard let slice = slices.popFirst() else { return nil }
    var page: [BriefcaseAnswer] = []
    for _ in slice { page += try await answers.take() }
    return page
  }
}

/// Records of which the user fetches a part, and other users of the run the others.
final class PooledRetrieves: BriefcaseSource {
  private let pool: RecordPool
  private let groups: [BriefcaseGroup]
  private let session: Session
  private let records: PooledRecords
  /// Requests records of the groups, with the fields of each, and after them the values of the
  /// user's own fields.
  private let retrieves:
    (_ wanted: [[String]], _ own: [[String]], _ fields: [[String]]) -> OwnRetrieves
  private var own: OwnRetrieves?
  /// The groups whose shelves depend on the user's description, which is still to be read.
  private var unconfirmed: Set<Int>

  /// Divides the wanted records of each group; nil if none of them are shared.
  init?(
    _ groups: [BriefcaseGroup], wanted: [[BriefcaseListing.Entry]], size: Int, session: Session,
    _ context: SyncContext
  ) {
    guard let pool = context.pool else { return nil }
    let likely = groups.map {
      pool.likelyShelf(session, ReadingClass.Question($0.sobjectType, $0.fields, .retrieve))
    }
    unconfirmed = Set(likely.indices.filter { likely[$0]?.name.hasFormulas == true })
    let shelves = zip(groups, likely).map { $1 ?? Self.shelf(pool, session, $0) }
    guard shelves.contains(where: { $0 != nil }) else { return nil }
    let asked = zip(groups, shelves).map { group, shelf in
      shelf?.name.lacksStamp == true ? group.with(group.fields + [ReadingClass.stamp]) : group
    }
    self.pool = pool
    self.groups = groups
    self.session = session
    let width = context.width(.records)
    records = PooledRecords(
      pool, shelves, wanted: wanted, size: min(size, RequestLimits.retrieve),
      for: session.identity.userID,
      calls: pool.mode == .always ? nil : { RecordPool.calls($0, width: width.expected) })
    let hasOwn = shelves.contains { $0?.name.own.isEmpty == false }
    retrieves = { wanted, own, fields in
      OwnRetrieves(
        asked + zip(groups, fields).map { $0.with(["Id", ReadingClass.stamp] + $1) },
        wanted: wanted + own, size: size, session: session, context, combines: hasOwn)
    }
  }

  private static func shelf(
    _ pool: RecordPool, _ session: Session, _ group: BriefcaseGroup
  ) -> PoolShelf? {
    pool.shelf(session, group.sobjectType, fields: group.fields)
  }

  func next() async throws(SyncError) -> [BriefcaseAnswer]? {
    while true {
      if let own {
        let page = try await own.next()
        await confirm()
        if let page {
          var answers: [BriefcaseAnswer] = []
          for answer in page {
            if let taken = try take(answer) { answers.append(taken) }
          }
          if answers.isEmpty { continue }
          return answers
        }
        self.own = nil
      }
      switch try await records.next() {
      case nil: return nil
      case .fetch(let wanted, let own):
        self.own = retrieves(
          wanted.map { $0.map(\.id) }, own.map { $0.map(\.id) },
          groups.indices.map(records.ownFields))
      case .use(let part):
        return [
          BriefcaseAnswer(
            batch: BriefcaseBatch(group: part.group, ids: part.ids), bytes: part.bytes)
        ]
      }
    }
  }

  /// Takes a response; nil if it has only values of the user's own fields.
  private func take(_ answer: BriefcaseAnswer) throws(SyncError) -> BriefcaseAnswer? {
    let number = answer.batch.group
    guard number < groups.count else {
      try records.take(values: answer.bytes, of: number - groups.count)
      return nil
    }
    let group = groups[number]
    session.note(read: group.fields, of: group.sobjectType)
    return BriefcaseAnswer(
      batch: answer.batch, bytes: try records.take(answer.bytes, of: number, in: .array))
  }

  /// Replaces the shelves by those of the user's own descriptions, which the first records brought.
  ///
  /// Without a description, the user fetches all records.
  private func confirm() async {
    guard !unconfirmed.isEmpty else { return }
    try? await session.learn(unconfirmed.map { groups[$0].sobjectType })
    for group in unconfirmed {
      records.replace(group, by: Self.shelf(pool, session, groups[group]))
    }
    unconfirmed = []
  }
}
