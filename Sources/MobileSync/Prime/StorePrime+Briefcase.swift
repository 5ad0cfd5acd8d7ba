import JSON
import Salesforce
import SmartStore
import System

extension StorePrime {
  /// Runs a sync down of what the user's briefcases hold.
  ///
  /// The ids come whole each time, with the stamp of their last change; only those whose stamp is
  /// not known are retrieved. So an unmoved org costs the list alone, and what the list leaves out
  /// is gone.
  func run(_ sync: SyncDefinition, _ target: BriefcaseTarget) async throws(SyncError) {
    let groups = target.groups
    let listing = try await list(sync, groups)
    let isFull = isFull(sync)
    var known: [String: [String: Int64]] = [:]
    for soup in Set(groups.map(\.soupName)) where !isFull {
      known[soup] = try knownStamps(of: soup, sync)
    }
    var fetch = BriefcaseFetch(groups: groups, listing: listing) { known[$0] ?? [:] }
    try await load(&fetch, target, sync)
    // The ids come whole each time, so nothing is read again for a clock that was set back.
    keep(try cursor(after: fetch, sync), of: sync)
    for soup in fetch.soups { try finish(soup, &fetch, sync) }
  }

  /// Where a device goes on from: never behind what is missing.
  ///
  /// What a failed rule would have given may have been modified at any time since the last prime, so
  /// the cursor stays where it was, at nothing after a first prime. What could not be read keeps it
  /// before the record's stamp.
  private func cursor(
    after fetch: BriefcaseFetch, _ sync: SyncDefinition
  ) throws(SyncError) -> SyncCursor {
    var cursor = cursor(of: sync, rereads: false)
    guard fetch.listing.ruleErrors.isEmpty else { return cursor }
    cursor.advance(
      to: fetch.latestModification.flatMap { Dates.milliseconds(iso8601: $0) }, now: input.now)
    if input.wasIncomplete {
      // What the cursor was held for is here now, and may be older than what was here before.
      for group in fetch.groups where !files.isInitialLoad {
        guard let first = files.stores.first else { continue }
        let latest = try SyncError.inStore { () throws(StoreError) in
          try first.maximum(
            of: group.modificationDateFieldName, in: group.soupName,
            .clean(syncID: syncID(sync)))
        }
        cursor.advance(to: latest.flatMap { Dates.milliseconds(iso8601: $0) }, now: input.now)
      }
    }
    if let missing = fetch.earliestUnreadable { cursor.hold(before: missing) }
    return cursor
  }

  /// The stamps of what the soup has: another sync of it may have removed a record as its ghost.
  private func knownStamps(
    of soup: String, _ sync: SyncDefinition
  ) throws(SyncError) -> [String: Int64] {
    let stamps = input.knownStamps[key(soup)] ?? [:]
    let isShared = store.syncs.contains { other in
      other.syncName != sync.syncName && other.syncType == .syncDown
        && other.target.down?.destinations(soupName: other.soupName)
          .contains { $0.soupName == soup } == true
    }
    guard isShared, !files.isInitialLoad, let first = files.stores.first else { return stamps }
    let here = try SoupReader(store: first, soup: soup).allIDs(idPath: "Id")
    return stamps.filter { here.contains($0.key) }
  }

  /// The ids of all pages; what a failed rule means is for the pipeline to say.
  private func list(
    _ sync: SyncDefinition, _ groups: [BriefcaseGroup]
  ) async throws(SyncError) -> BriefcaseListing {
    let listing = try await BriefcaseListing.fetch(session)
    if !listing.ruleErrors.isEmpty {
      outcome.hadRuleErrors = true
      guard input.onRuleErrors == .keepAndWarn else {
        throw SyncError(
          .ruleErrors,
          "the org could not run the briefcase rules "
            + listing.ruleErrors.joined(separator: ", "),
          fix: "mend the rules in Briefcase Builder, or set onRuleErrors to keepAndWarn")
      }
    }
    for warning in listing.warnings(for: groups) { warn(warning, sync) }
    return listing
  }

  // MARK: records

  private func load(
    _ fetch: inout BriefcaseFetch, _ target: BriefcaseTarget, _ sync: SyncDefinition
  ) async throws(SyncError) {
    let batches = fetch.batches(of: target.countIdsPerRetrieve)
    let groups = fetch.groups
    var current: (group: Int, load: SoupLoad)?
    let retrieves = groups.retrieves(batches, in: session)
    do throws(SyncError) {
      for batch in batches {
        let answers = try await retrieves.take()
        if current?.group != batch.group {
          if let current { try close(current.load, current.group, &fetch) }
          current = (batch.group, try open(batch.group, fetch, sync))
        }
        guard let load = current?.load else { continue }
        for answer in answers { try store(answer.bytes, of: answer.batch, load, &fetch) }
      }
      if let current { try close(current.load, current.group, &fetch) }
    } catch {
      retrieves.cancel()
      throw error
    }
  }

  private func open(
    _ group: Int, _ fetch: BriefcaseFetch, _ sync: SyncDefinition
  ) throws(SyncError) -> SoupLoad {
    let info = fetch.groups[group]
    let load = try makeLoad(
      sync, soup: info.soupName, idPath: info.idFieldName,
      modificationPath: info.modificationDateFieldName)
    progress(load.count, of: fetch.wanted[group].count, SyncEvent.started)
    return load
  }

  private func store(
    _ page: [UInt8], of batch: BriefcaseBatch, _ load: SoupLoad, _ fetch: inout BriefcaseFetch
  ) throws(SyncError) {
    let (records, nulls) = try load.load(page, in: .array)
    try batch.check(answered: records + nulls, of: fetch.groups)
    if nulls > 0 { try fetch.noteUnreadable(page, of: batch) }
    progress(load.count, of: fetch.wanted[batch.group].count, SyncEvent.progressed)
  }

  private func close(
    _ load: SoupLoad, _ group: Int, _ fetch: inout BriefcaseFetch
  ) throws(SyncError) {
    try load.finish()
    fetch.add(load.count, latestModification: load.latestModification, of: group)
  }

  // MARK: ghosts and stamps

  private func finish(
    _ soup: String, _ fetch: inout BriefcaseFetch, _ sync: SyncDefinition
  ) throws(SyncError) {
    var count =
      fetch.counts[soup] ?? SoupCount(store: store.storeName, sync: sync.syncName, soup: soup)
    count.unreadable = fetch.unreadable[soup] ?? []
    if !count.unreadable.isEmpty {
      warn(
        "\(count.unreadable.count) records of soup \"\(soup)\" are in the briefcases, "
          + "but cannot be read", sync)
    }
    var hasAll = fetch.listing.ruleErrors.isEmpty
    if hasAll, !files.isInitialLoad {
      let listed = fetch.listing.ids(of: soup, in: fetch.groups)
      let cleaner = GhostCleaner(
        files: files, policy: input.ghosts, soup: soup, syncID: syncID(sync))
      let result = try cleaner.clean(idPath: "Id") { !listed.contains($0) }
      hasAll = take(result, into: &count, sync)
    }
    // Another sync of the store may have filled the soup too.
    outcome.stamps[key(soup), default: [:]]
      .merge(fetch.stamps(of: soup, keepingOthers: !hasAll)) { max($0, $1) }
    try end(count)
  }
}
