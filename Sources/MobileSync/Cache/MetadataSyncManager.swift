/// Fetches descriptions of object types and caches them in the store's soup `sfdcMetadata`.
public struct MetadataSyncManager: Sendable {
  private let cache: AnswerCache

  /// Creates a manager that uses the store of a sync manager.
  public init(_ manager: SyncManager) {
    cache = AnswerCache(manager: manager, soupName: MetadataTarget.soupName)
  }

  /// Returns the description of an object type; nil if only the store is searched and lacks it.
  ///
  /// Throws if the org does not respond.
  public func fetchMetadata(
    objectType: String, mode: FetchMode = .cacheFirst
  ) async throws(SyncError) -> Metadata? {
    let target = SyncTarget.metadata(MetadataTarget(sobjectType: objectType))
    return try await cache.fetch(target, mode) { _ in objectType }.map(Metadata.init)
  }
}
