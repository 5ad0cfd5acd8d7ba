import SmartStore

/// The one rule for ghosts: what a sync brought, is clean, and the org no longer gives.
///
/// A dirty element is never one. An element that no sync brought is the sync's too where it is the
/// only one that fills the soup; one that a refresh has renewed may be, since a refresh selects nothing. More
/// than the guard allows are kept.
package struct GhostCleaner {
  /// The ghosts of one list.
  package struct Ghosts {
    let list: RemoteIDs
    /// The soup that they are in.
    package var soupName: String { list.soupName }
    /// How many there are in the first store.
    package let count: Int
    /// The elements of the soup in the first store.
    package let total: Int
    let guardLimits: DeletionGuard
    /// Whether the guard lets them go.
    package var isAllowed: Bool {
      list.isExpected || guardLimits.allows(deleting: count, of: total)
    }
    /// What a person is told where it does not.
    package var keptText: String {
      "\(count) of \(total) records of soup \"\(soupName)\" are no longer given by the org, "
        + "more than \(guardLimits.maxDeletesPercent) %; they were kept"
    }
  }

  let sink: any RecordSink
  let guardLimits: DeletionGuard
  let syncID: Int64

  package init(sink: any RecordSink, guardLimits: DeletionGuard, syncID: Int64) {
    self.sink = sink
    self.guardLimits = guardLimits
    self.syncID = syncID
  }

  /// Finds the ghosts of each list; a list that tells nothing has none.
  package func find(_ remote: [RemoteIDs]) throws(SyncError) -> [Ghosts] {
    guard let store = sink.stores.first else { return [] }
    var found: [Ghosts] = []
    for list in remote {
      let count = try entries(of: list, in: store).count
      let total = count > 0 ? try SoupReader(store: store, soup: list.soupName).count() : 0
      found.append(Ghosts(list: list, count: count, total: total, guardLimits: guardLimits))
    }
    return found
  }

  /// Removes ghosts from all stores; in each together or not at all.
  func remove(_ ghosts: [Ghosts]) throws(SyncError) {
    let lists = ghosts.filter { $0.count > 0 }.map(\.list)
    guard !lists.isEmpty else { return }
    try sink.makeWritable()
    for store in sink.stores {
      try SyncError.inStore {
        try store.transaction {
          for list in lists {
            try store.remove(entries(of: list, in: store).map(\.entryID), from: list.soupName)
          }
        }
      }
    }
  }

  /// Whether a soup has any element that could be a ghost.
  func hasCandidates(in place: SyncDestination) throws(SyncError) -> Bool {
    guard let store = sink.stores.first else { return false }
    return try !clean(place.soupName, place.idPath, in: store) { _ in true }.isEmpty
  }

  /// The clean elements of a soup that the sync brought, of these and without those; `ids` is nil for all whose
  /// id the org can know.
  func candidates(
    in place: SyncDestination, among ids: RecordIDSet?, without others: RecordIDSet
  ) throws(SyncError) -> IDList {
    guard let store = sink.stores.first else { return IDList() }
    return IDList(
      try clean(place.soupName, place.idPath, in: store, among: ids) { id in
        ids?.contains(id) ?? IDQuery.isAsked(id, of: place.idPath) && !others.contains(id)
      }.map(\.id))
  }

  /// The ghosts of some lists of which none was deleted, by soup: another sync may select them.
  func lost(_ lists: [RemoteIDs]) throws(SyncError) -> [String: LostRecords] {
    guard let store = sink.stores.first else { return [:] }
    var lost: [String: LostRecords] = [:]
    for list in lists where list.ids != nil {
      var records = lost[list.soupName] ?? LostRecords(idPath: list.idPath)
      guard records.idPath == list.idPath else { continue }
      let (soup, idPath, suspects) = (list.soupName, list.idPath, list.suspects)
      for entry in try own(soup, idPath, in: store, among: suspects, where: list.isGhost) {
        records.own.insert(entry.id)
      }
      for entry in try renewed(soup, idPath, in: store, among: suspects, where: list.isGhost) {
        records.renewed.insert(entry.id)
      }
      lost[list.soupName] = records
    }
    return lost.filter { !$0.value.isEmpty }
  }

  /// The refreshes of a soup: what bears the id of one was brought by a sync that selects it, and which one
  /// that was nobody knows.
  ///
  /// None for a refresh itself. In a live store an app may have put records there itself, which a refresh is for:
  /// they stay, as the SDK leaves them.
  func refreshes(of soup: String) throws(SyncError) -> [Int64] {
    guard let store = sink.stores.first, !sink.mayHoldOrphans else { return [] }
    let refreshes = try SyncsSoup.states(in: store).filter { $0.fills(soup) && $0.isRefresh }
      .map(\.id)
    return refreshes.contains(syncID) ? [] : refreshes
  }

  private func entries(
    of list: RemoteIDs, in store: Store
  ) throws(SyncError) -> [SoupReader.Entry] {
    guard list.ids != nil else { return [] }
    return try clean(
      list.soupName, list.idPath, in: store, among: list.suspects, where: list.isGhost)
  }

  private func clean(
    _ soup: String, _ idPath: String, in store: Store, among suspects: RecordIDSet? = nil,
    where holds: (String) -> Bool
  ) throws(SyncError) -> [SoupReader.Entry] {
    try own(soup, idPath, in: store, among: suspects, where: holds)
      + renewed(soup, idPath, in: store, among: suspects, where: holds)
  }

  /// What refreshes have renewed.
  private func renewed(
    _ soup: String, _ idPath: String, in store: Store, among suspects: RecordIDSet?,
    where holds: (String) -> Bool
  ) throws(SyncError) -> [SoupReader.Entry] {
    var entries: [SoupReader.Entry] = []
    for refresh in try refreshes(of: soup) {
      entries += try SoupReader(store: store, soup: soup)
        .cleanEntries(idPath: idPath, syncID: refresh, among: suspects, where: holds)
    }
    return entries
  }

  private func own(
    _ soup: String, _ idPath: String, in store: Store, among suspects: RecordIDSet?,
    where holds: (String) -> Bool
  ) throws(SyncError) -> [SoupReader.Entry] {
    try Self.own(
      soup, idPath, of: syncID, in: store, mayHoldOrphans: sink.mayHoldOrphans, among: suspects,
      where: holds)
  }

  /// The clean elements of a soup that are a sync's: what it brought, and what no sync brought where no other sync
  /// down of the store fills the soup; one that cannot be read might.
  fileprivate static func own(
    _ soup: String, _ idPath: String, of syncID: Int64, in store: Store, mayHoldOrphans: Bool,
    among suspects: RecordIDSet? = nil, where holds: (String) -> Bool
  ) throws(SyncError) -> [SoupReader.Entry] {
    let claimsOrphans =
      mayHoldOrphans
      ? try !SyncsSoup.states(in: store).contains { $0.id != syncID && $0.fills(soup) } : false
    return try SoupReader(store: store, soup: soup)
      .cleanEntries(
        idPath: idPath, syncID: syncID, claimsOrphans: claimsOrphans, among: suspects, where: holds)
  }
}

extension SyncContext {
  /// The ids of what may be a ghost in the sync's soup: what a target asks about that is not given a list of all.
  func ghostCandidates(
    _ idPath: String, where holds: (String) -> Bool = { _ in true }
  ) throws(SyncError) -> [String] {
    try GhostCleaner.own(
      soupName, idPath, of: syncID, in: store, mayHoldOrphans: mayHoldOrphans, where: holds
    ).map(\.id)
  }
}
