extension SyncTarget {
  /// How a sync down fetches from this target; nil for one that is none, or whose code is elsewhere.
  var down: (any SyncDownTarget)? {
    switch self {
    case .soql(let target): target
    case .sosl(let target): target
    case .mru(let target): target
    case .refresh(let target): target
    case .layout(let target): target
    case .metadata(let target): target
    case .parentChildren(let target): target
    case .briefcase(let target): target
    case .syncUp, .custom: nil
    }
  }

  /// The soups that a sync down with this target fills; `soupName` is the one that its definition
  /// names.
  package func filledSoups(soupName: String) -> [String] {
    down?.destinations(soupName: soupName).map(\.soupName) ?? [soupName]
  }
}

extension SyncState {
  /// Whether it is a sync down that fills a soup; one that cannot be read might.
  func fills(_ soup: String) -> Bool {
    guard type == .syncDown else { return false }
    return (try? syncTarget())?.filledSoups(soupName: soupName).contains(soup) ?? true
  }
}
