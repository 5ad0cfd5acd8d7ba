import JSON
import Salesforce

/// The org's state of parents and children, by 18-character ID.
struct ParentChildrenStates: Sendable {
  var parents: [String: ServerState] = [:]
  var children: [String: ServerState] = [:]

  func states(of tree: ParentChildrenTree) -> [ParentChildrenPlace: ServerState] {
    var states: [ParentChildrenPlace: ServerState] = [:]
    if let id = tree.parent.serverID { states[.parent] = parents[id.recordID18 ?? id] }
    for child in tree.children {
      guard let id = child.serverID else { continue }
      states[.child(child.soupEntryID)] = children[id.recordID18 ?? id]
    }
    return states
  }
}

// The queries of a sync up of families.
extension ParentChildrenRun {
  /// The number of trees whose dates are fetched in one query.
  static let treesOfOneCheck = 100

  /// Returns the org's state of the rows' trees, if the merge mode requires it.
  ///
  /// One query fetches the trees' dates. A record that is missing from it may have moved to another
  /// parent, be deleted, or be hidden. It is requested by its ID, and its deletion is verified.
  func serverStates(of rows: [Int64]) async throws(SyncError) -> ParentChildrenStates {
    var states = ParentChildrenStates()
    guard context.options.mergeMode == .leaveIfChanged else { return states }
    var parentIDs: [String] = []
    var childIDs: [String] = []
    for row in rows {
      guard let tree = try elements.tree(row) else { continue }
      if tree.parent.operation != .create, let id = tree.parent.serverID { parentIDs.append(id) }
      childIDs += tree.children.filter { $0.operation != .create }.compactMap(\.serverID)
    }
    try context.checkStop()
    let reader = try await parents.reader()
    // A single invalid ID would make the org refuse the whole query.
    let asked =
      targets.family.parent.idFieldName == "Id"
      ? parentIDs.filter { RecordID($0) != nil } : parentIDs
    if !asked.isEmpty { try await readTrees(asked, reader.session, into: &states) }
    children.reader = reader
    try await complete(&states.parents, parentIDs, parents)
    try await complete(&states.children, childIDs, children)
    return states
  }

  /// Reads the dates of parents and of their current children.
  private func readTrees(
    _ parentIDs: [String], _ session: Session, into states: inout ParentChildrenStates
  ) async throws(SyncError) {
    let (parent, children) = (targets.family.parent, targets.family.children)
    let pages = session.query(
      targets.dates(where: "in (\(SOQLLiteral.list(parentIDs)))"))
    let splitter = ParentChildrenSplitter(targets.family)
    do throws(SyncError) {
      while let bytes = try await ParentChildrenPages.next(pages) {
        let page = try splitter.split(bytes)
        pages.recycle(bytes)
        try Self.note(page.parents, parent, in: &states.parents)
        try Self.note(page.children, children, in: &states.children)
      }
    } catch {
      if error.cause?.isOutage == true { throw error }
      try context.giveUp(
        on: error, SyncContext.unreadDates(of: parent.sobjectType))
    }
  }

  private static func note(
    _ page: [UInt8], _ member: FamilyMember, in states: inout [String: ServerState]
  ) throws(SyncError) {
    try SyncError.reading("a page of dates") {
      for record in try JSONValue(parsing: page)["records"]?.array ?? [] {
        guard let id = record[member.idFieldName]?.string else { continue }
        let date = record[member.modificationDateFieldName]?.string
        states[id.recordID18 ?? id] = .alive(date.map(ModificationDate.init))
      }
    }
  }

  /// Fetches the records that did not arrive with their trees, and verifies deletions.
  private func complete(
    _ states: inout [String: ServerState], _ ids: [String], _ journal: StoreJournal
  ) async throws(SyncError) {
    let missing = ids.filter { states[$0.recordID18 ?? $0] == nil }
    // Only record IDs can be queried.
    guard !missing.isEmpty, journal.target.idFieldName == "Id", let type = journal.objectType
    else { return }
    for (id, state) in try await journal.states(of: missing, type) {
      states[id.recordID18 ?? id] = state
    }
  }

  /// Returns the state of records that the org reports as missing.
  func fates(
    of ids: [String], _ journal: StoreJournal
  ) async throws(SyncError) -> [String: RecordFate] {
    guard !ids.isEmpty, journal.target.idFieldName == "Id", let type = journal.objectType
    else { return [:] }
    try context.checkStop()
    return try await journal.fates(of: ids, type)
  }
}
