import SmartStore

/// The outcome of cleaning ghosts.
public struct SyncGhosts: Sendable, Hashable {
  /// The number of records removed, as the SDK counts them: without the children of removed
  /// parents.
  public var count = 0
  /// The number of elements removed from each soup.
  public var removed: [String: Int] = [:]
  /// Problems to review, such as that the deleted records cannot be determined.
  public var warnings: [String] = []

  package init(count: Int = 0, removed: [String: Int] = [:], warnings: [String] = []) {
    self.count = count
    self.removed = removed
    self.warnings = warnings
  }
}

extension SyncManager {
  /// Removes records of a sync down that the org no longer returns; locally changed ones stay.
  ///
  /// It waits for the syncs queued before it. The sync's state does not change. Records that the
  /// org has and the soup lacks are fetched by the next run, even if they were not modified.
  ///
  /// - Parameters:
  ///   - id: The sync's ID.
  ///   - allowsAllDeletes: True if an operator confirmed the deletions, however many.
  @discardableResult
  public func cleanResyncGhosts(
    id: Int64, allowsAllDeletes: Bool = false
  ) async throws(SyncError) -> SyncGhosts {
    try await cleanGhosts(of: existing(id: id), allowsAllDeletes)
  }

  /// Removes records of a sync down that the org no longer returns; locally changed ones stay.
  ///
  /// It waits for the syncs queued before it. The sync's state does not change. Records that the
  /// org has and the soup lacks are fetched by the next run, even if they were not modified.
  @discardableResult
  public func cleanResyncGhosts(
    named name: String, allowsAllDeletes: Bool = false
  ) async throws(SyncError) -> SyncGhosts {
    try await cleanGhosts(of: existing(named: name), allowsAllDeletes)
  }

  private func cleanGhosts(
    of state: SyncState, _ allowsAllDeletes: Bool
  ) async throws(SyncError) -> SyncGhosts {
    guard state.type == .syncDown else {
      throw SyncError(
        .definition, "Cannot run cleanResyncGhosts:\(state.id): wrong type:\(state.type.rawValue)",
        fix: "name a sync down", syncName: state.name)
    }
    try enter(state, .ghosts)
    let task = enqueue { manager -> Result<SyncGhosts, SyncError> in
      do throws(SyncError) {
        let ghosts = try await manager.removeGhosts(of: state, allowsAllDeletes)
        manager.leave(state.id)
        return .success(ghosts)
      } catch {
        manager.leave(state.id)
        return .failure(state.name.map { error.of($0) } ?? error)
      }
    }
    let result = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    return try result.get()
  }

  private func removeGhosts(
    of state: SyncState, _ allowsAllDeletes: Bool
  ) async throws(SyncError) -> SyncGhosts {
    let context = SyncContext(
      state, options: SyncOptions(stored: state.options), settings: settings, store: store,
      login: login, shouldStop: { self.phase != .accepting })
    defer { sink = nil }
    try context.checkStop()
    let found = try await engine(try down(state.syncTarget()), context, allowsAllDeletes)
      .cleanGhosts().ghosts
    try keepRefetch(context.state)
    var ghosts = SyncGhosts()
    for soup in found where soup.count > 0 {
      ghosts.removed[soup.list.soupName, default: 0] += soup.count
      if soup.list.isCounted { ghosts.count += soup.count }
    }
    ghosts.warnings = context.report.warnings
    return ghosts
  }

  /// Saves the IDs that the next run must fetch in addition to changes.
  private func keepRefetch(_ state: SyncState) throws(SyncError) {
    guard var stored = try syncStatus(id: state.id),
      stored.refetch != state.refetch || state.maxTimeStamp < 0 && stored.maxTimeStamp > 0
    else { return }
    stored.refetch = state.refetch
    if state.maxTimeStamp < 0 { stored.maxTimeStamp = -1 }
    try SyncsSoup.update(stored, in: store)
  }
}
