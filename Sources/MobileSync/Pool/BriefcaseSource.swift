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

  init(
    _ groups: [BriefcaseGroup], wanted: [[String]], size: Int, session: Session,
    _ context: SyncContext
  ) {
    let slices = BriefcaseBatch.slices(of: wanted, size: size)
    self.slices = slices[...]
    let batches = slices.flatMap(\.self)
    // A smaller size keeps the responses small.
    answers =
      size >= RequestLimits.retrieve && (slices.count > 1 || session.expectsDescriptions)
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
  private let retrieves: (_ wanted: [[String]]) -> OwnRetrieves
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
      shelf?.name.lacksStamp == true ? group.adding(ReadingClass.stamp) : group
    }
    self.pool = pool
    self.groups = groups
    self.session = session
    records = PooledRecords(
      pool, shelves, wanted: wanted, size: min(size, RequestLimits.retrieve),
      for: session.identity.userID)
    retrieves = { OwnRetrieves(asked, wanted: $0, size: size, session: session, context) }
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
          return try page.map { (answer) throws(SyncError) in
            let group = groups[answer.batch.group]
            session.note(read: group.fields, of: group.sobjectType)
            return BriefcaseAnswer(
              batch: answer.batch,
              bytes: try records.take(answer.bytes, of: answer.batch.group, in: .array))
          }
        }
        self.own = nil
      }
      switch try await records.next() {
      case nil: return nil
      case .fetch(let wanted): own = retrieves(wanted.map { $0.map(\.id) })
      case .use(let part):
        return [
          BriefcaseAnswer(
            batch: BriefcaseBatch(group: part.group, ids: part.ids), bytes: part.bytes)
        ]
      }
    }
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
