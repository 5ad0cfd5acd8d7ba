extension SyncManager {
  /// Runs a sync up by its kind.
  func up(_ target: SyncUpTarget, _ context: SyncContext) async throws(SyncError) {
    switch target.kind {
    case .collection, .batch, .single: try await SyncUpTask.run(target, context)
    case .parentChildren: try await ParentChildrenUpTask.run(target, context)
    case .custom:
      throw SyncError(.notYet, "a \(target.kind.rawValue) sync up is not there yet")
    }
  }

  /// Runs a sync up whose code is the embedding program's.
  func up(_ target: CustomTarget, _ context: SyncContext) async throws(SyncError) {
    try await SyncUpTask.run(try customTargets.syncUp(target), target, context)
  }
}
