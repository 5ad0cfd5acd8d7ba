extension SyncManager {
  /// Runs a sync up by its kind.
  func up(_ target: SyncUpTarget, _ context: SyncContext) async throws(SyncError) {
    throw SyncError(.notYet, "a \(target.kind.rawValue) sync up is not there yet")
  }
}
