import JSON
import SmartStore

/// Responses of the org that syncs down fetch into a dedicated soup.
struct AnswerCache: Sendable {
  let manager: SyncManager
  let soupName: String

  /// Returns the element of a response from the source that the mode selects; nil only if the store
  /// lacks it.
  func fetch(
    _ target: SyncTarget, _ mode: FetchMode, id: @Sendable (Platform) -> String
  ) async throws(SyncError) -> JSONValue? {
    if mode != .serverFirst {
      let cached = try await cached(id)
      if cached != nil || mode == .cacheOnly { return cached }
    }
    try await download(target)
    guard let element = try await cached(id) else {
      throw SyncError(
        .badResponse, "the org's response is no longer in the soup \"\(soupName)\"",
        fix: "retry")
    }
    return element
  }

  private func cached(_ id: @Sendable (Platform) -> String) async throws(SyncError) -> JSONValue? {
    try await manager.inStore { store in
      guard try store.hasSoup(soupName) else { return nil }
      return try store.elements(
        in: soupName, where: AnswerElement.idPath, is: id(store.platform)
      ).first
    }
  }

  /// Fetches the response with the sync that fetched it before, or with a new one.
  private func download(_ target: SyncTarget) async throws(SyncError) {
    let known = try await manager.inStore { store -> Int64? in
      if try !store.hasSoup(soupName) {
        try store.registerSoup(
          soupName, indexSpecs: [IndexSpec(path: AnswerElement.idPath, type: .json1)])
      }
      return try SyncsSoup.states(in: store).first {
        $0.name == nil && $0.type == .syncDown && $0.soupName == soupName
          && $0.target == target.json
      }?.id
    }
    try await run(target, known).finish()
  }

  private func run(_ target: SyncTarget, _ known: Int64?) async throws(SyncError) -> SyncRun {
    if let known {
      do throws(SyncError) { return try await manager.reSync(id: known) } catch {
        // Another caller is waiting for the same response, so a new sync requests it.
        guard error.code == .running else { throw error }
      }
    }
    return try await manager.syncDown(target: target, soupName: soupName)
  }

}
