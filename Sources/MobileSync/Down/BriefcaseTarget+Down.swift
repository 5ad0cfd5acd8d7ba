import Salesforce

extension BriefcaseTarget: SyncDownTarget {
  /// The contents of the user's briefcases: all of them, or only changes.
  ///
  /// Each run lists all IDs with the stamps of their last change. A record has changed if its stamp
  /// differs from the known one. If no stamps are known, changed records are those modified after
  /// `since` and those missing from the soup.
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

  /// The records with these IDs that are still in the briefcases.
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

  /// The soups of the infos; the soup named by the definition is not used.
  package func destinations(soupName: String) -> [SyncDestination] { groups.map(\.destination) }

  /// The current contents of the briefcases for every soup of the infos; unknown if a rule failed.
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
