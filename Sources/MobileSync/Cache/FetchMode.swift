/// Where a description or a layout is looked for.
public enum FetchMode: String, Sendable, Hashable, CaseIterable {
  /// In the store alone.
  case cacheOnly = "CACHE_ONLY"
  /// In the store, and in the org what is not there.
  case cacheFirst = "CACHE_FIRST"
  /// In the org; what it answers replaces what is in the store.
  case serverFirst = "SERVER_FIRST"
}
