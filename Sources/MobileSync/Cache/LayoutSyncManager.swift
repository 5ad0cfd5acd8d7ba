/// Fetches page layouts and caches them in the store's soup `sfdcLayouts`.
public struct LayoutSyncManager: Sendable {
  private let cache: AnswerCache

  /// Creates a manager that uses the store of a sync manager.
  public init(_ manager: SyncManager) {
    cache = AnswerCache(manager: manager, soupName: LayoutTarget.soupName)
  }

  /// Returns a layout of an object type; nil if only the store is searched and lacks it.
  ///
  /// The org chooses its default for each argument that is nil. Throws if the org does not respond.
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
