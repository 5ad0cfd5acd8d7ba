/// Where to look up a description or a layout.
public enum FetchMode: String, Sendable, Hashable, CaseIterable {
  /// Only in the store.
  case cacheOnly = "CACHE_ONLY"
  /// In the store, then in the org if the store lacks it.
  case cacheFirst = "CACHE_FIRST"
  /// In the org; its response replaces the store's copy.
  case serverFirst = "SERVER_FIRST"
}
