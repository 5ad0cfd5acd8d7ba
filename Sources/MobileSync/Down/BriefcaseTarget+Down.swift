import Salesforce

extension BriefcaseTarget: SyncDownTarget {
  /// What the user's briefcases hold: all of it, or what is new.
  ///
  /// The ids come whole each time, with the stamp of their last change. New is what has another stamp
  /// than is known; where none are known, what was modified after `since` or is not in the soup.
  package func pages(
    since: Int64?, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let groups = self.groups
    let listing = try await list(groups, context)
    var here: [String: RecordIDSet] = [:]
    for soup in Set(groups.map(\.soupName)) where since != nil && context.knownStamps == nil {
      here[soup] = try SoupReader(store: context.store, soup: soup).allIDs(idPath: "Id")
    }
    let wanted = groups.map { group in
      listing.entries(of: group.sobjectType).filter { entry in
        if let known = context.knownStamps {
          return known[group.soupName]?[entry.id] != entry.stamp
        }
        guard let since else { return true }
        return entry.stamp > since || here[group.soupName]?.contains(entry.id) != true
      }
    }
    return BriefcasePages(
      groups, listing, wanted, size: countIdsPerRetrieve, since: since,
      session: try await context.session(), context)
  }

  /// The records with these ids, where the briefcases still hold them.
  package func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let groups = self.groups
    let listing = try await list(groups, context)
    let asked = ids.mapValues(\.set)
    let wanted = groups.map { group in
      listing.entries(of: group.sobjectType).filter {
        asked[group.soupName]?.contains($0.id) == true
      }
    }
    return BriefcasePages(
      groups, listing, wanted, size: countIdsPerRetrieve, since: nil,
      session: try await context.session(), context)
  }

  /// The soups of the infos; the one that the definition names is none of them.
  package func destinations(soupName: String) -> [SyncDestination] { groups.map(\.destination) }

  /// What the briefcases hold now, for every soup of the infos; nothing can be told when a rule
  /// failed.
  package func remoteIDs(_ context: SyncContext) async throws(SyncError) -> [RemoteIDs] {
    let groups = self.groups
    return try await list(groups, context).remoteIDs(of: groups)
  }

  private func list(
    _ groups: [BriefcaseGroup], _ context: SyncContext
  ) async throws(SyncError) -> BriefcaseListing {
    let listing = try await BriefcaseListing.fetch(
      try await context.session(), check: { () throws(SyncError) in try context.checkStop() })
    context.report.ruleErrors = listing.ruleErrors
    let failed = try context.ruleErrorPolicy.warning(ofFailed: listing.ruleErrors)
    for warning in [listing.warning(ofOthersThan: groups), failed] {
      if let warning { context.warn(warning) }
    }
    return listing
  }
}

extension BriefcaseGroup {
  var destination: SyncDestination {
    SyncDestination(
      soupName: soupName, idPath: idFieldName, modificationPath: modificationDateFieldName)
  }
}
