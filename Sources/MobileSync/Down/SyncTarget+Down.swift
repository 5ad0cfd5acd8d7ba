import Salesforce

extension SyncTarget {
  /// The fetching side of this target; nil if it is not a sync down or is a custom target.
  var down: (any SyncDownTarget)? { kind as? any SyncDownTarget }

  /// Returns the queries that a sync down with this target sends if nothing was modified after
  /// `since`, as far as they are known without its stores.
  package func queriesAhead(
    since: Int64, asksDeletions: Bool, variables: [String: String]
  ) throws(SyncError) -> [AheadQuery] {
    try down?.queriesAhead(since: since, asksDeletions: asksDeletions, variables: variables) ?? []
  }

  /// Whether a sync down with this target selects the records of its soups; false for a custom
  /// target.
  package var selects: Bool { down?.selects ?? false }

  /// The soups that a sync down with this target fills; `soupName` is the one named by its
  /// definition.
  package func filledSoups(soupName: String) -> [String] {
    down?.destinations(soupName: soupName).map(\.soupName) ?? [soupName]
  }
}

extension SyncTarget {
  /// The soups that a sync down with this target fills, each with the fields that the sync needs;
  /// empty for a custom target.
  package func destinations(soupName: String) -> [SyncDestination] {
    down?.destinations(soupName: soupName) ?? []
  }

  /// The records, by soup, that LEAVE_IF_CHANGED skips: their values at the soup's ID path.
  package func idsToSkip(_ context: SyncContext) throws(SyncError) -> [String: Set<String>] {
    try down?.idsToSkip(context) ?? [:]
  }
}

extension SyncState {
  /// Whether the sync is a sync down that fills a soup; true for one that cannot be read.
  package func fills(_ soup: String) -> Bool {
    guard type == .syncDown else { return false }
    return (try? syncTarget())?.filledSoups(soupName: soupName).contains(soup) ?? true
  }

  /// Whether the sync is a refresh, which updates its soup's records and selects nothing.
  var isRefresh: Bool { (try? syncTarget())?.of(RefreshTarget.self) != nil }
}
