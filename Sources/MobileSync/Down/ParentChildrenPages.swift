import JSON
import Salesforce
import System

/// The pages of a family: each contains parents with all their children.
final class ParentChildrenPages: SyncDownPages {
  private let target: ParentChildrenTarget
  private let query: ParentChildrenQuery
  private let splitter: ParentChildrenSplitter
  private let session: Session
  private let context: SyncContext
  private let since: Int64?
  /// The parents and children to fetch; nil for all.
  private let among: (parents: [String], children: [String])?
  private var chain: QueryPages
  /// The number of parents in this chain of pages and in those before it.
  private var received = 0
  private var before = 0
  /// The org's time at the first response of this chain.
  private var begun: Int64?
  /// The starting point of this chain, if it continues an interrupted one.
  private var onward: String?
  private var restarts = 0
  /// The maximum number of parents per page; reduced after a page was too large.
  private var batchSize = RequestLimits.queryPage.upperBound
  private var lastParent: [UInt8] = []
  private var parentsAreRead = false
  /// The parents that the sync had already fetched at the first page.
  private var knownParents: RecordIDSet?
  /// The changed children, fetched after the parents.
  private var changed: QueryPages?
  private var receivedChildren = 0
  private(set) var totalSize = -1
  private(set) var cursorLimit: Int64?

  /// Starts fetching what was modified after `since`, or the given parents with all their children
  /// and the given children, or everything.
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

  /// Always false, although parents arrive in the order of their dates.
  ///
  /// A run that resumes from a cursor requests only children changed after it. It would miss older
  /// children of parents still to come, and a child may be newer than the remaining parents.
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
    if begun == nil { begun = chain.askedAt ?? session.serverDate }
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

  /// Whether a parent's date is its position in the order; a parent changed since the chain started
  /// has a later date.
  private func isPlace(_ date: [UInt8]) -> Bool {
    guard let begun, let time = Dates.milliseconds(iso8601: String(decoding: date, as: UTF8.self))
    else { return false }
    return time < begun
  }

  /// Returns the next page of changed children of unchanged parents.
  ///
  /// The SDK misses them, because SOQL cannot join the two conditions with OR. They need a separate
  /// query; if the org refuses it, the run behaves like the SDK.
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
          "the org does not return changed children of unchanged parents: \(error.message)")
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

  /// The query for children that arrive without their parents; nil if there are none.
  private func childrenStatement(isCount: Bool = false) -> String? {
    if let among {
      if among.children.isEmpty { return nil }
      return query.children(among: among.children, isCount: isCount)
    }
    guard let since, context.settings.readsChangedChildren else { return nil }
    return query.changedChildren(since: since, isCount: isCount)
  }

  /// Records the trees of which a child was skipped.
  private func note(_ page: ParentChildrenSplitter.Page) {
    guard !page.leftParents.isEmpty else { return }
    context.leftTrees[target.family.parent.soupName, default: []].formUnion(page.leftParents)
  }

  /// Fetches all children of the parents that the sync had not fetched before.
  ///
  /// The query for changes returns only children modified since the last run. The SDK misses the
  /// older children of a parent that newly matches. If another sync fetched the parent, that does
  /// not mean that its children are present.
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
        context.warn("the org does not return all children of new parents: \(error.message)")
        return pages
      }
      try answer.read()
      for bytes in answer.pages {
        pages.append(try splitter.children(bytes, leaving: left).children)
      }
    }
    return pages
  }

  /// Returns the IDs of the parents on a page that this sync had not fetched before.
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

  /// Fetches the further children of one parent.
  private func others(
    of family: ParentChildrenSplitter.Unfinished, leaving left: ParentChildrenSplitter.Left
  ) async throws(SyncError) -> [ParentChildrenSplitter.Page] {
    guard let address = family.address else {
      context.warn("the org returned neither all children of a record nor a URL for the others")
      // The cursor stays, so they are requested again.
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

  /// Trees that were changed on the device; new children in the org belong to them too.
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
