extension SyncTarget {
  /// How a sync down fetches from this target; nil for one that is none, or whose code is elsewhere.
  package var down: (any SyncDownTarget)? {
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
}
