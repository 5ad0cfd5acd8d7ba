extension SyncTarget {
  /// How a sync down fetches from this target; nil for one that is none, or whose code is elsewhere.
  var down: (any SyncDownTarget)? { kind as? any SyncDownTarget }

  /// Whether a sync down with this target says which records are in its soups; false for one whose code is
  /// elsewhere.
  package var selects: Bool { down?.selects ?? false }

  /// The soups that a sync down with this target fills; `soupName` is the one that its definition
  /// names.
  package func filledSoups(soupName: String) -> [String] {
    down?.destinations(soupName: soupName).map(\.soupName) ?? [soupName]
  }
}

extension SyncTarget {
  /// The soups that a sync down with this target fills, each with the fields that matter in it; none
  /// for a target whose code is elsewhere.
  package func destinations(soupName: String) -> [SyncDestination] {
    down?.destinations(soupName: soupName) ?? []
  }

  /// The records, by soup, that LEAVE_IF_CHANGED leaves as they are: their values at the soup's id
  /// path.
  package func idsToSkip(_ context: SyncContext) throws(SyncError) -> [String: Set<String>] {
    try down?.idsToSkip(context) ?? [:]
  }
}

extension SyncState {
  /// Whether it is a sync down that fills a soup; one that cannot be read might.
  package func fills(_ soup: String) -> Bool {
    guard type == .syncDown else { return false }
    return (try? syncTarget())?.filledSoups(soupName: soupName).contains(soup) ?? true
  }

  /// Whether it renews what is in its soup, and selects nothing.
  var isRefresh: Bool { (try? syncTarget())?.of(RefreshTarget.self) != nil }
}
