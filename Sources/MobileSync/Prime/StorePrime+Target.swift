import Salesforce
import SmartStore
import System

extension StorePrime {
  /// Runs a sync down of any kind: its pages into the stores of all platforms, then its ghosts.
  func run(_ sync: SyncDefinition, _ target: any SyncDownTarget) async throws(SyncError) {
    var cursor = cursor(of: sync)
    let since = cursor.since
    let listsAll = since == nil || input.ghosts.listIDs.contains(key(sync.syncName))
    let context = try makeContext(sync)
    let pages = try await target.pages(since: since, context)
    let loads = TargetLoads(target.destinations(soupName: sync.soupName)) {
      (place, platform) throws(SyncError) in
      let load = try self.makeLoad(
        sync, soup: place.soupName, idPath: place.idPath, modificationPath: place.modificationPath)
      load.platform = platform
      load.reader = { (store) throws(SyncError) in
        context.store = store
        return try target.idsToSkip(context)[place.soupName] ?? []
      }
      return load
    }
    try await read(pages, into: loads, context)
    try loads.finish()
    cursor.advance(to: loads.latestModification(limit: pages.cursorLimit), now: input.now)
    keep(cursor, of: sync)
    if let first = files.stores.first { context.store = first }
    var remote: [RemoteIDs]?
    if !files.isInitialLoad, since != nil, pages.remoteIDs == nil, listsAll {
      let listed = try await target.remoteIDs(context)
      remote = listed
      if try isSomeMissing(listed) {
        try await read(target.pages(since: nil, context), into: loads, context)
        try loads.finish()
      }
    }
    var counts = loads.counts(of: store.storeName, sync.syncName)
    if !files.isInitialLoad {
      remote = pages.remoteIDs ?? remote
      let isWhole = listsAll || remote != nil
      if remote == nil {
        remote =
          if let since, !listsAll {
            try await target.deletions(since: since, context)
          } else {
            try await target.remoteIDs(context)
          }
      }
      if listsAll, pages.remoteIDs?.contains(where: { $0.ids == nil }) == true {
        warn("which of its records the org still has cannot be told; none was removed", sync)
      }
      if let remote, try clean(remote, &counts, sync), isWhole {
        outcome.listed.insert(key(sync.syncName))
      }
    }
    take(context.report, into: &counts, sync)
    for count in counts { try end(count) }
  }

  /// What the target works with: the stores as they are before it changes anything.
  private func makeContext(_ sync: SyncDefinition) throws(SyncError) -> SyncContext {
    guard let state = files.states[sync.syncName], let first = files.stores.first else {
      throw SyncError(.store, "no store is open to sync into")
    }
    let context = SyncContext(
      state, options: sync.options,
      settings: SyncSettings(overlapSeconds: input.overlapSeconds), store: first,
      login: { [session] in session })
    context.platforms = files.stores.map(\.platform)
    context.variables = input.variables
    return context
  }

  private func read(
    _ pages: any SyncDownPages, into loads: TargetLoads, _ context: SyncContext
  ) async throws(SyncError) {
    var arrived = 0
    while let page = try await pages.next() {
      var records = 0
      for part in page.parts {
        let load = try loads.load(for: part)
        if arrived == 0, load.count.fetched == 0 {
          progress(load.count, of: pages.totalSize, SyncEvent.started)
        }
        records += try load.load(part.bytes, in: part.container).records
        progress(load.count, of: pages.totalSize, SyncEvent.progressed)
      }
      pages.recycle(page, records: records)
      arrived += page.records ?? records
      // The first change has put copies in the place of the stores.
      if let first = files.stores.first { context.store = first }
    }
  }

  /// Whether the org has something that is not here: what came to match without being modified, or
  /// under a parent that came to match, is not among the changes.
  private func isSomeMissing(_ remote: [RemoteIDs]) throws(SyncError) -> Bool {
    guard let first = files.stores.first else { return false }
    for list in remote where list.asked == nil {
      guard let ids = list.ids else { continue }
      let here = try SoupReader(store: first, soup: list.soupName)
        .allIDs(idPath: list.idPath, where: ids.contains)
      if here.count < ids.count { return true }
    }
    return false
  }

  /// Removes what the org no longer has; false where something was kept that may be gone, to be
  /// looked at again in the next run.
  private func clean(
    _ remote: [RemoteIDs], _ counts: inout [SoupCount], _ sync: SyncDefinition
  ) throws(SyncError) -> Bool {
    var isDone = true
    for list in remote {
      guard list.ids != nil, let index = counts.firstIndex(where: { $0.soup == list.soupName })
      else {
        isDone = false
        continue
      }
      let cleaner = GhostCleaner(
        files: files, policy: input.ghosts, soup: list.soupName, syncID: syncID(sync))
      let result = try cleaner.clean(idPath: list.idPath, isGhost: list.isGhost)
      if !take(result, into: &counts[index], sync) { isDone = false }
    }
    return isDone
  }

  /// Takes what the target reported into the counts.
  private func take(
    _ report: SyncReport, into counts: inout [SoupCount], _ sync: SyncDefinition
  ) {
    for warning in report.warnings { warn(warning, sync) }
    for index in counts.indices {
      counts[index].unreadable += report.unreadable[counts[index].soup] ?? []
    }
  }
}

/// The loads of one sync: one for each soup, and for each platform where its elements differ.
final class TargetLoads {
  private struct Key: Hashable {
    let place: SyncDestination
    let platform: Platform?
  }

  private let soups: [String]
  private let make: (SyncDestination, Platform?) throws(SyncError) -> SoupLoad
  private var loads: [(key: Key, load: SoupLoad)] = []

  /// Loads into these soups, each made when its first record comes.
  init(
    _ destinations: [SyncDestination],
    _ make: @escaping (SyncDestination, Platform?) throws(SyncError) -> SoupLoad
  ) {
    soups = destinations.map(\.soupName).reduce(into: []) { soups, soup in
      if !soups.contains(soup) { soups.append(soup) }
    }
    self.make = make
  }

  /// The load that takes a part of a page.
  func load(for part: SyncPage.Part) throws(SyncError) -> SoupLoad {
    let key = Key(place: part.destination, platform: part.platform)
    if let known = loads.first(where: { $0.key == key }) { return known.load }
    let load = try make(part.destination, part.platform)
    loads.append((key, load))
    return load
  }

  /// Ends all loads.
  func finish() throws(SyncError) {
    for (_, load) in loads { try load.finish() }
  }

  /// The greatest modification date of all records, in milliseconds, or the limit if that is less.
  func latestModification(limit: Int64?) -> Int64? {
    let latest = loads.compactMap { _, load in
      load.latestModification.flatMap { Dates.milliseconds(iso8601: $0) }
    }.max()
    guard let latest, let limit else { return latest }
    return min(latest, limit)
  }

  /// What became of each soup; where platforms differ, the first one's records count.
  func counts(of store: String, _ sync: String) -> [SoupCount] {
    let platform = loads.lazy.compactMap(\.key.platform).first
    return soups.map { soup in
      var sum = SoupCount(store: store, sync: sync, soup: soup)
      for (key, load) in loads where key.place.soupName == soup {
        if key.platform == nil || key.platform == platform { sum.add(load.count) }
      }
      return sum
    }
  }
}
