/// Runs a sync up of parents with their children.
package enum ParentChildrenUpTask {
  /// Sends each changed family as one request; every answer is in the store before the next one.
  package nonisolated(nonsending) static func run(
    _ target: SyncUpTarget, _ context: SyncContext
  ) async throws(SyncError) {
    try await FamilyUpRun(target, context).run()
  }
}
