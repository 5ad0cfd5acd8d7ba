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
}

extension SyncManager {
  /// Removes the records of a sync down that the org no longer gives; locally changed ones stay.
  ///
  /// It waits for the syncs before it. The sync's state is left as it is.
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
  /// It waits for the syncs before it. The sync's state is left as it is.
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
    try context.checkStop()
    let target = try down(state.syncTarget())
    // Nothing here, nothing to ask for.
    var hasRecords = false
    for place in target.destinations(soupName: state.soupName) where !hasRecords {
      hasRecords = try !clean(place.soupName, place.idPath, state) { _ in true }.isEmpty
    }
    guard hasRecords else { return SyncGhosts() }
    let remote = try await target.remoteIDs(context)
    try context.checkStop()
    var found: [(ids: RemoteIDs, entries: [SoupReader.Entry])] = []
    for ids in remote {
      let entries = try clean(ids.soupName, ids.idPath, state, where: ids.isGhost)
      try guardDeletes(entries.count, ids.soupName, allowsAllDeletes)
      found.append((ids, entries))
    }
    var ghosts = SyncGhosts()
    do {
      try store.transaction {
        for (ids, entries) in found where !entries.isEmpty {
          try store.remove(entries.map(\.entryID), from: ids.soupName)
          ghosts.removed[ids.soupName, default: 0] += entries.count
          if ids.isCounted { ghosts.count += entries.count }
        }
      }
    } catch {
      throw SyncError(.store, "\(error)")
    }
    ghosts.warnings = context.report.warnings
    return ghosts
  }

  private func clean(
    _ soup: String, _ idPath: String, _ state: SyncState, where holds: (String) -> Bool
  ) throws(SyncError) -> [SoupReader.Entry] {
    let claimsOrphans = try isOnlyDown(state, into: soup)
    return try SoupReader(store: store, soup: soup)
      .cleanEntries(
        idPath: idPath, syncID: state.id, claimsOrphans: claimsOrphans, where: holds)
  }

  /// Whether no other sync down of the store fills a soup; one that cannot be read might.
  private func isOnlyDown(_ state: SyncState, into soup: String) throws(SyncError) -> Bool {
    try SyncsSoup.states(in: store).allSatisfy { other in
      if other.type != .syncDown || other.id == state.id { return true }
      guard let target = try? down(other.syncTarget()) else { return false }
      return !target.destinations(soupName: other.soupName).contains { $0.soupName == soup }
    }
  }

  private func guardDeletes(
    _ ghosts: Int, _ soup: String, _ allowsAllDeletes: Bool
  ) throws(SyncError) {
    let policy = GhostPolicy(
      maxDeletesPercent: allowsAllDeletes ? 100 : settings.maxDeletesPercent,
      minimumAllowed: settings.minimumDeletes)
    let total = try SoupReader(store: store, soup: soup).count()
    guard policy.allows(deleting: ghosts, of: total) else {
      throw SyncError(
        .tooManyDeletes,
        "\(ghosts) of \(total) records of soup \"\(soup)\" are no longer given by the org, "
          + "more than \(settings.maxDeletesPercent) %; they were kept",
        fix: "look why, then allow the deletions once")
    }
  }
}
