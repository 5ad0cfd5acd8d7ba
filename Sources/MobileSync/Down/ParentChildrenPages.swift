import JSON
import Salesforce
import System

/// The pages of a family: each brings parents and all of their children.
final class ParentChildrenPages: SyncDownPages {
  private let target: ParentChildrenTarget
  private let query: ParentChildrenQuery
  private let splitter: ParentChildrenSplitter
  private let session: Session
  private let context: SyncContext
  private let since: Int64?
  /// The only parents and children to fetch; nil for all.
  private let among: (parents: [String], children: [String])?
  private var chain: QueryPages
  /// The parents that came with this chain, and with those before it.
  private var received = 0
  private var before = 0
  /// The org's clock at the first answer of this chain.
  private var begun: Int64?
  /// Where this chain began, if it took up another that broke off.
  private var onward: String?
  private var restarts = 0
  /// The most parents of a page; less since one was too large to be taken.
  private var batchSize = RequestLimits.queryPage.upperBound
  private var lastParent: [UInt8] = []
  private var parentsAreRead = false
  /// The parents that the sync had brought when the first page came.
  private var knownParents: RecordIDSet?
  /// The changed children, once the parents are read.
  private var changed: QueryPages?
  private var receivedChildren = 0
  private(set) var totalSize = -1
  private(set) var cursorLimit: Int64?

  /// Begins a fetch of what was modified after `since`, of these parents with all of their children and
  /// of these children, or of everything.
  init(
    _ target: ParentChildrenTarget, since: Int64?,
    among: (parents: [String], children: [String])? = nil, _ session: Session,
    _ context: SyncContext
  ) throws(SyncError) {
    self.target = target
    self.since = since
    self.among = among
    self.session = session
    self.context = context
    query = try ParentChildrenQuery(target, variables: context.variables)
    splitter = ParentChildrenSplitter(target.family)
    chain = session.query(
      query.records(since: since, among: among?.parents ?? []), ahead: false)
    if among?.parents.isEmpty == true {
      parentsAreRead = true
      totalSize = 0
    }
  }

  /// Never, though parents come in the order of their dates.
  ///
  /// A run that goes on from a cursor asks for children after it: the older children of parents
  /// that are still to come would be passed over, and a child may be newer than parents to come.
  var isSorted: Bool { false }

  func next() async throws(SyncError) -> SyncPage? {
    while true {
      do throws(SyncError) {
        return try await nextOfChain()
      } catch {
        if error.cause?.kind == .tooLarge,
          let smaller = RequestLimits.smallerQueryPage(than: batchSize)
        {
          batchSize = smaller
          if parentsAreRead { (changed, receivedChildren) = (nil, 0) }
        } else {
          guard RetryPolicy.beginsAgain(error.cause, after: restarts) else { throw error }
          restarts += 1
        }
        if parentsAreRead { continue }
        before += received
        (received, begun) = (0, nil)
        onward = lastParent.isEmpty ? onward : String(decoding: lastParent, as: UTF8.self)
        chain = session.query(
          query.records(since: since, from: onward, among: among?.parents ?? []),
          batchSize: batchSize, ahead: false)
      }
    }
  }

  private func nextOfChain() async throws(SyncError) -> SyncPage? {
    guard !parentsAreRead, let bytes = try await Self.next(chain) else {
      return try await nextOfChildren()
    }
    if totalSize < 0 { totalSize = chain.totalSize ?? 0 }
    if begun == nil { begun = session.serverDate }
    let left = try treesToLeave()
    let page = try splitter.split(bytes, leaving: left)
    note(page)
    chain.recycle(bytes)
    var children = [page.children]
    children += try await childrenOfNewcomers(among: page.parents, leaving: left)
    for family in page.unfinished {
      children += try await others(of: family, leaving: left).map(\.children)
    }
    received += page.parentCount
    if isPlace(page.lastParent) { lastParent = page.lastParent }
    let (parents, offspring) = target.family.destinations
    return SyncPage(
      parts: [SyncPage.Part(parents, bytes: page.parents, container: .member("records"))]
        + children.map { SyncPage.Part(offspring, bytes: $0, container: .member("records")) },
      records: page.parentCount)
  }

  /// Whether a parent's date says where it stands in the order: one that was changed since the chain began
  /// has a later one.
  private func isPlace(_ date: [UInt8]) -> Bool {
    guard let begun, let time = Dates.milliseconds(iso8601: String(decoding: date, as: UTF8.self))
    else { return false }
    return time < begun
  }

  /// The next page of children that changed under unchanged parents.
  ///
  /// The SDK misses them: SOQL does not join the two conditions by an OR. They cost a query of
  /// their own; where the org refuses it, the run is as the SDK's.
  private func nextOfChildren() async throws(SyncError) -> SyncPage? {
    if !parentsAreRead {
      parentsAreRead = true
      if before > 0 {
        try await session.check(
          before + received, of: totalSize,
          by: query.count(since: since, among: among?.parents ?? [])
        ) { _ in }
      }
      try await session.check(
        received, of: chain.totalSize,
        by: query.count(since: since, from: onward, among: among?.parents ?? []), context.warn)
    }
    guard let statement = childrenStatement() else { return nil }
    let chain = changed ?? session.query(statement, batchSize: batchSize)
    changed = chain
    do throws(SyncError) {
      guard let bytes = try await Self.next(chain) else {
        try await session.check(
          receivedChildren, of: chain.totalSize,
          by: childrenStatement(isCount: true) ?? statement, context.warn)
        return nil
      }
      let page = try splitter.children(bytes, leaving: try treesToLeave())
      note(page)
      chain.recycle(bytes)
      receivedChildren += page.childCount
      let place = target.family.destinations.children
      return SyncPage(
        parts: [SyncPage.Part(place, bytes: page.children, container: .member("records"))],
        records: 0)
    } catch {
      switch error.code {
      case .queryRefused where receivedChildren == 0:
        context.warn(
          "the org does not give changed children of unchanged parents: \(error.message)")
        return nil
      default:
        if error.cause?.kind == .locatorExpired {
          changed = nil
          receivedChildren = 0
        }
        throw error
      }
    }
  }

  /// The query for children that come without their parents; nil where none do.
  private func childrenStatement(isCount: Bool = false) -> String? {
    if let among {
      if among.children.isEmpty { return nil }
      return query.children(among: among.children, isCount: isCount)
    }
    guard let since, context.settings.readsChangedChildren else { return nil }
    return query.changedChildren(since: since, isCount: isCount)
  }

  /// Remembers the trees of which a child was left out.
  private func note(_ page: ParentChildrenSplitter.Page) {
    guard !page.leftParents.isEmpty else { return }
    context.leftTrees[target.family.parent.soupName, default: []].formUnion(page.leftParents)
  }

  /// All children of the parents that the sync had not brought.
  ///
  /// The query for changes brings those that were modified since: the SDK misses the older children of
  /// a parent that came to match. That another sync has brought the parent says nothing of its children.
  private func childrenOfNewcomers(
    among page: [UInt8], leaving left: ParentChildrenSplitter.Left
  ) async throws(SyncError) -> [[UInt8]] {
    guard since != nil, context.settings.readsChangedChildren else { return [] }
    let parents = try newcomers(among: page)
    var pages: [[UInt8]] = []
    for slice in parents.parts(of: RequestLimits.idsPerQuery) {
      try context.checkStop()
      let answer: QueryAnswer
      do throws(SyncError) {
        answer = try await SyncError.inOrg {
          try await session.answer(about: slice) { [query] in query.children(of: $0) }
        }
      } catch {
        guard error.code == .queryRefused else { throw error }
        context.warn("the org does not give all children of new parents: \(error.message)")
        return pages
      }
      try answer.read()
      for bytes in answer.pages {
        pages.append(try splitter.children(bytes, leaving: left).children)
      }
    }
    return pages
  }

  /// The ids of the parents on a page that this sync had not brought.
  private func newcomers(among page: [UInt8]) throws(SyncError) -> [String] {
    let place = target.family.destinations.parents
    let known: RecordIDSet
    if let knownParents {
      known = knownParents
    } else {
      known = try SoupReader(store: context.store, soup: place.soupName).cleanIDs(
        idPath: place.idPath, syncID: context.syncID)
      knownParents = known
    }
    var ids: [String] = []
    var all = RecordIDSet()
    try all.insert(page, place.idPath) { id in
      if !known.contains(id) { ids.append(String(decoding: id, as: UTF8.self)) }
    }
    return ids
  }

  /// The further children of one parent.
  private func others(
    of family: ParentChildrenSplitter.Unfinished, leaving left: ParentChildrenSplitter.Left
  ) async throws(SyncError) -> [ParentChildrenSplitter.Page] {
    guard let address = family.address else {
      context.warn("the org did not give all children of a record, nor where to get them")
      // The cursor stays where it was: they are asked for again.
      cursorLimit = since ?? -1
      return []
    }
    var pages: [ParentChildrenSplitter.Page] = []
    let chain = try session.others(at: address)
    while let bytes = try await Self.next(chain) {
      try context.checkStop()
      let page = try splitter.children(bytes, of: family.parentID, leaving: left)
      note(page)
      pages.append(page)
      chain.recycle(bytes)
    }
    return pages
  }

  /// Trees that were changed on the device; children that are new in the org belong to them too.
  private func treesToLeave() throws(SyncError) -> ParentChildrenSplitter.Left {
    guard context.options.mergeMode == .leaveIfChanged, !context.isInitialLoad else {
      return ParentChildrenSplitter.Left()
    }
    let ids = try target.family.idsOfDirtyTrees(in: context.store)
    return ParentChildrenSplitter.Left(parents: ids.parents, knownChildren: ids.children)
  }

  static func next(_ chain: QueryPages) async throws(SyncError) -> [UInt8]? {
    try await SyncError.inOrg { try await chain.next() }
  }
}
