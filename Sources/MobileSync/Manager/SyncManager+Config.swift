import JSON
import SmartStore

extension SyncManager {
  /// Registers the soups of a configuration and returns the names of the new ones; existing soups
  /// are left unchanged.
  @discardableResult
  public func setUpStore(from config: StoreConfig) throws(SyncError) -> [String] {
    try SyncError.inStore { try settledStore.register(config) }
  }

  /// Creates the syncs of a configuration that do not exist yet.
  ///
  /// An existing sync keeps its definition and its cursor, even if the configuration's definition
  /// differs; the result lists it. `replacing` overrides this. Of two syncs with the same name, the
  /// first one counts.
  @discardableResult
  public func setUpSyncs(
    from config: SyncsConfig, replacing: SyncReplacement = .none
  ) throws(SyncError) -> SyncsSetUp {
    var result = SyncsSetUp()
    try SyncError.inStore {
      try settledStore.transaction {
        for sync in config.syncs { try setUp(sync, replacing, &result) }
      }
    }
    return result
  }

  private func setUp(
    _ sync: SyncDefinition, _ replacing: SyncReplacement, _ result: inout SyncsSetUp
  ) throws(SyncError) {
    let name = sync.syncName
    var state: SyncState
    do throws(SyncError) { state = try sync.newState(variables: settings.variables) } catch {
      throw error.of(name)
    }
    guard let existing = try syncStatus(named: name) else {
      _ = try SyncsSoup.save(state, in: store)
      return result.created.append(name)
    }
    guard !existing.hasDefinition(of: state) else { return result.kept.append(name) }
    let isOfThisConfig = result.created.contains(name) || result.replaced.contains(name)
    guard replacing.includes(name), !isOfThisConfig else {
      return result.differing.append(name)
    }
    guard active[existing.id] == nil else {
      throw SyncError(
        .running, "sync \(existing.id) is still running", fix: "wait until it ends", syncName: name)
    }
    state.id = existing.id
    try SyncsSoup.update(state, in: store)
    result.replaced.append(name)
  }
}

extension SyncState {
  /// Whether two stored syncs do the same, whether attache or a device stored them.
  ///
  /// A device stores the names of the SDK's own classes in addition to their meaning.
  package func hasDefinition(of other: SyncState) -> Bool {
    type == other.type && soupName == other.soupName
      && SyncOptions(stored: options) == SyncOptions(stored: other.options)
      && target(withoutClasses: self) == target(withoutClasses: other)
  }

  private func target(withoutClasses state: SyncState) -> JSONValue {
    guard let target = try? state.syncTarget(),
      let stored = try? target.stored(),
      var object = stored.object
    else { return state.target }
    if target.kind is CustomTarget { return state.target }
    if let up = target.kind as? SyncUpTarget { object["kind"] = .string(up.kind.rawValue) }
    object["iOSImpl"] = nil
    object["androidImpl"] = nil
    return .object(object)
  }
}
