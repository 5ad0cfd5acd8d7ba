/// Fetches page layouts and keeps them in the store, in the soup `sfdcLayouts`.
public struct LayoutSyncManager: Sendable {
  private let cache: AnswerCache

  /// Works on the store of a sync manager.
  public init(_ manager: SyncManager) {
    cache = AnswerCache(manager: manager, soupName: LayoutTarget.soupName)
  }

  /// A layout of an object type; nil where only the store is asked and has none.
  ///
  /// What is nil is left to the org. An org that does not answer is an error.
  public func fetchLayout(
    objectAPIName: String, formFactor: LayoutTarget.FormFactor? = nil,
    layoutType: LayoutTarget.LayoutType, layoutMode: LayoutTarget.Mode? = nil,
    recordTypeID: String? = nil, mode: FetchMode = .cacheFirst
  ) async throws(SyncError) -> Layout? {
    let target = LayoutTarget(
      sobjectType: objectAPIName, formFactor: formFactor, layoutType: layoutType,
      mode: layoutMode, recordTypeId: recordTypeID)
    return try await cache.fetch(.layout(target), mode) { target.id(on: $0) }.map(Layout.init)
  }
}
