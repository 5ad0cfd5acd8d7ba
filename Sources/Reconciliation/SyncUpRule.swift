import MobileSync

/// A sync up of the pipeline and the store that it belongs to.
package struct SyncUpRule: Sendable {
  /// The store.
  package var store: StoreKey
  /// The sync up as its file has it.
  package var definition: SyncDefinition
  /// The object types that the syncs of the soup name, in lower case: what is sent by somebody else
  /// than an edit's user is of one of them.
  package var types: Set<String>

  /// A rule; nil for a definition that is no sync up of this program.
  package init?(store: StoreKey, definition: SyncDefinition, types: Set<String> = []) {
    guard definition.syncType == .syncUp, case .syncUp = definition.target else { return nil }
    self.types = types
    self.store = store
    self.definition = definition
  }

  /// The soup.
  package var soup: SoupKey { SoupKey(store: store, soup: definition.soupName) }

  var target: SyncUpTarget {
    guard case .syncUp(let target) = definition.target else { return SyncUpTarget() }
    return target
  }

  var mode: MergeMode { definition.options.mergeMode }

  /// The most records of one collection.
  var batchSize: Int { target.kind == .collection ? max(1, min(target.maxBatchSize, 200)) : 200 }

  func fields(for operation: SyncOperation) throws(SyncError) -> [String] {
    try FieldSelection.fields(for: operation, target: target, options: definition.options)
  }
}
