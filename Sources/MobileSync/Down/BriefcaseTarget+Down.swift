import Salesforce

extension BriefcaseTarget: SyncDownTarget {
  /// What the user's briefcases hold: all of it, or what was modified after `since` and what the
  /// soups do not have.
  nonisolated(nonsending) package func pages(
    since: Int64?, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let groups = self.groups
    let listing = try await list(groups, context)
    var known: [String: RecordIDSet] = [:]
    for group in groups where known[group.soupName] == nil {
      known[group.soupName] = try SoupReader(store: context.store, soup: group.soupName)
        .allIDs(idPath: "Id")
    }
    let wanted = groups.map { group in
      listing.entries(of: group.sobjectType).filter { entry in
        guard let since else { return true }
        return entry.stamp > since || known[group.soupName]?.contains(entry.id) != true
      }
    }
    return BriefcasePages(
      groups, wanted, size: countIdsPerRetrieve,
      limit: listing.ruleErrors.isEmpty ? nil : since ?? -1,
      session: try await context.session(), context)
  }

  /// The soups of the infos; the one that the definition names is none of them.
  package func destinations(soupName: String) -> [SyncDestination] { groups.map(\.destination) }

  /// What the briefcases hold now, for every soup of the infos; nothing can be told when a rule
  /// failed.
  nonisolated(nonsending) package func remoteIDs(
    _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] {
    let groups = self.groups
    let listing = try await list(groups, context)
    var remote: [RemoteIDs] = []
    for soup in groups.map(\.soupName) where remote.last?.soupName != soup {
      remote.append(
        RemoteIDs(
          soupName: soup, idPath: "Id",
          ids: listing.ruleErrors.isEmpty ? listing.ids(of: soup, in: groups) : nil))
    }
    return remote
  }

  nonisolated(nonsending) private func list(
    _ groups: [BriefcaseGroup], _ context: SyncContext
  ) async throws(SyncError) -> BriefcaseListing {
    let listing = try await BriefcaseListing.fetch(
      try await context.session(), check: { () throws(SyncError) in try context.checkStop() })
    for warning in listing.warnings(for: groups) { context.warn(warning) }
    return listing
  }
}

extension BriefcaseGroup {
  /// Where the group's records go.
  var destination: SyncDestination {
    SyncDestination(
      soupName: soupName, idPath: idFieldName, modificationPath: modificationDateFieldName)
  }
}
