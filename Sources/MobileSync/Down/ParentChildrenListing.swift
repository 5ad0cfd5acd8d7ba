import JSON
import Salesforce

/// The IDs of all parents that a target matches now, and of all their children.
struct ParentChildrenListing {
  var parents = RecordIDSet()
  var children = RecordIDSet()
  /// The last change of each of them.
  private(set) var dates = (parents: RecordDates(), children: RecordDates())
  /// Parents whose children the org did not return completely.
  private(set) var unread: [String] = []

  private let query: ParentChildrenQuery
  private let family: ParentChildrenFamily
  private let session: Session
  private let context: SyncContext
  private let splitter: ParentChildrenSplitter

  init(_ target: ParentChildrenTarget, _ context: SyncContext) async throws(SyncError) {
    query = try ParentChildrenQuery(target, variables: context.variables)
    family = target.family
    session = try await context.session()
    self.context = context
    splitter = ParentChildrenSplitter(target.family)
  }

  /// Reads all pages, including further pages of children; a listing whose locator the org dropped
  /// is restarted.
  mutating func read() async throws(SyncError) {
    try await RetryPolicy.readingList(cause: \.cause) { () async throws(SyncError) in
      (parents, children, unread) = (RecordIDSet(), RecordIDSet(), [])
      try await readAll()
    }
  }

  private mutating func readAll() async throws(SyncError) {
    let chain = session.query(query.childrenIDs, ahead: false)
    var received = 0
    while true {
      try context.checkStop()
      guard let bytes = try await ParentChildrenPages.next(chain) else { break }
      let page = try splitter.split(bytes)
      chain.recycle(bytes)
      received += page.parentCount
      try parents.insert(page.parents, family.parent.idFieldName)
      try children.insert(page.children, family.children.idFieldName)
      try dates.parents.insert(
        page.parents, family.parent.idFieldName, family.parent.modificationDateFieldName)
      try noteDates(of: page.children)
      for more in page.unfinished { try await readOthers(of: more) }
    }
    try await session.check(received, of: chain.totalSize, by: query.count(), what: "ids") { _ in }
  }

  private mutating func noteDates(of page: [UInt8]) throws(SyncError) {
    try dates.children.insert(
      page, family.children.idFieldName, family.children.modificationDateFieldName)
  }

  private mutating func readOthers(
    of more: ParentChildrenSplitter.Unfinished
  ) async throws(SyncError) {
    guard let address = more.address else {
      unread.append(String(decoding: more.parentID, as: UTF8.self))
      return
    }
    let chain = try session.others(at: address)
    while let bytes = try await ParentChildrenPages.next(chain) {
      try context.checkStop()
      let page = try splitter.children(bytes, of: more.parentID)
      try children.insert(page.children, family.children.idFieldName)
      try noteDates(of: page.children)
      chain.recycle(bytes)
    }
  }
}

extension Session {
  /// Returns the pages from a URL that the org sent.
  func others(at address: String) throws(SyncError) -> QueryPages {
    do throws(OrgError) { return try pages(from: address) } catch { throw SyncError(error) }
  }
}
