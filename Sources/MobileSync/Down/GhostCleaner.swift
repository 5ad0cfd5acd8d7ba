import SmartStore
import System

/// Finds and removes ghosts: clean elements that a sync fetched and that the org no longer returns.
///
/// Dirty elements are never ghosts. Elements that no sync fetched count as the sync's if it is the
/// only one that fills the soup. Elements that a refresh has updated may be ghosts too, since a
/// refresh selects nothing. If there are more than the guard allows, all are kept.
package struct GhostCleaner {
  /// The ghosts of one list.
  package struct Ghosts {
    let list: RemoteIDs
    package var soupName: String { list.soupName }
    /// The number of ghosts in the first store.
    package let count: Int
    /// The number of elements of the soup in the first store.
    package let total: Int
    let guardLimits: DeletionGuard
    /// Whether the guard allows their removal.
    package var isAllowed: Bool {
      list.isExpected || guardLimits.allows(deleting: count, of: total)
    }
    /// The message if the guard keeps them.
    package var keptText: String {
      "the org no longer returns \(count) of \(CountText.of(total, "record")) of soup \"\(soupName)\", "
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

  /// Finds the ghosts of each list; a list whose IDs are unknown has none.
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

  /// Removes ghosts from all stores, in one transaction per store.
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

  /// Returns the clean elements of a soup that the sync fetched, limited to `ids` and without the
  /// excluded ones; nil for all elements whose ID the org can know.
  func candidates(
    in place: SyncDestination, among ids: RecordIDSet?, without others: RecordIDSet
  ) throws(SyncError) -> IDList {
    guard let store = sink.stores.first else { return IDList() }
    return IDList(
      try clean(place.soupName, place.idPath, in: store, among: ids) { id in
        ids?.contains(id) ?? IDQuery.isAsked(id, of: place.idPath) && !others.contains(id)
      }.map(\.id))
  }

  /// Returns the ghosts of those lists in which nothing is known to be deleted, by soup; another
  /// sync may select them.
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

  /// The refreshes of a soup.
  ///
  /// An element with the ID of a refresh was fetched by a sync that selects it, but it is unknown
  /// which one.
  ///
  /// Empty for a refresh itself. In a live store, the app may have inserted the records for a
  /// refresh to update; these stay, as in the SDK.
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

  /// The elements that refreshes have updated.
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

  /// Returns the clean elements of a soup that belong to a sync: those that it fetched, and those
  /// that no sync fetched if no other sync down of the store fills the soup.
  ///
  /// A sync that cannot be read counts as one that might.
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
  /// Returns the IDs of possible ghosts in the sync's soup, for targets that check IDs instead of
  /// listing all of them.
  func ghostCandidates(
    _ idPath: String, where holds: (String) -> Bool = { _ in true }
  ) throws(SyncError) -> [String] {
    try GhostCleaner.own(
      soupName, idPath, of: syncID, in: store, mayHoldOrphans: mayHoldOrphans, where: holds
    ).map(\.id)
  }
}
