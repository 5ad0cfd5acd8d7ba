import SmartStore

/// What cleaning ghosts did.
public struct SyncGhosts: Sendable, Hashable {
  /// How many records were removed, as the SDK counts them: the children of removed parents are not
  /// in it.
  public var count = 0
  /// How many elements were removed of each soup.
  public var removed: [String: Int] = [:]
  /// What a person should know of, such as that it cannot be told which records are gone.
  public var warnings: [String] = []

  package init(count: Int = 0, removed: [String: Int] = [:], warnings: [String] = []) {
    self.count = count
    self.removed = removed
    self.warnings = warnings
  }
}

extension SyncManager {
  /// Removes the records of a sync down that the org no longer gives; locally changed ones stay.
  ///
  /// It waits for the syncs before it. The sync's state is left as it is; what the org has and the
  /// soup has not arrives with the next run, though it was not modified.
  ///
  /// - Parameters:
  ///   - id: The sync's id.
  ///   - allowsAllDeletes: True where a person said that the deletions are right, however many.
  @discardableResult
  public func cleanResyncGhosts(
    id: Int64, allowsAllDeletes: Bool = false
  ) async throws(SyncError) -> SyncGhosts {
    try await cleanGhosts(of: existing(id: id), allowsAllDeletes)
  }

  /// Removes the records of a sync down that the org no longer gives; locally changed ones stay.
  ///
  /// It waits for the syncs before it. The sync's state is left as it is; what the org has and the
  /// soup has not arrives with the next run, though it was not modified.
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

  /// Saves what the next run is to fetch beyond what changed.
  private func keepRefetch(_ state: SyncState) throws(SyncError) {
    guard var stored = try syncStatus(id: state.id),
      stored.refetch != state.refetch || state.maxTimeStamp < 0 && stored.maxTimeStamp > 0
    else { return }
    stored.refetch = state.refetch
    if state.maxTimeStamp < 0 { stored.maxTimeStamp = -1 }
    try SyncsSoup.update(stored, in: store)
  }
}
