extension SyncTarget {
  /// How a sync down fetches from this target; nil for one that is none, or whose code is elsewhere.
  package var down: (any SyncDownTarget)? {
    switch self {
    case .soql(let target): target
    case .parentChildren(let target): target
    case .sosl, .mru, .refresh, .layout, .metadata, .briefcase: nil
    case .syncUp, .custom: nil
    }
  }
}
