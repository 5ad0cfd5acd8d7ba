/// Fetches descriptions of object types and keeps them in the store, in the soup `sfdcMetadata`.
public struct MetadataSyncManager: Sendable {
  private let cache: AnswerCache

  /// Works on the store of a sync manager.
  public init(_ manager: SyncManager) {
    cache = AnswerCache(manager: manager, soupName: MetadataTarget.soupName)
  }

  /// The description of an object type; nil where only the store is asked and has none.
  ///
  /// An org that does not answer is an error.
  public func fetchMetadata(
    objectType: String, mode: FetchMode = .cacheFirst
  ) async throws(SyncError) -> Metadata? {
    let target = SyncTarget.metadata(MetadataTarget(sobjectType: objectType))
    return try await cache.fetch(target, mode) { _ in objectType }.map(Metadata.init)
  }
}
