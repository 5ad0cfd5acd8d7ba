extension SyncManager {
  /// Runs a sync up with the engine for its kind.
  func up(_ target: SyncUpTarget, _ context: SyncContext) async throws(SyncError) {
    if let problem = target.idProblem {
      throw SyncError(.definition, problem.message, fix: problem.fix)
    }
    switch target.kind {
    case .collection, .batch, .single: try await SyncUpRun(target, context).run()
    case .parentChildren: try await ParentChildrenRun(target, context).run()
    case .custom:
      throw SyncError(.notYet, "a \(target.kind.rawValue) sync up is not supported")
    }
  }

  /// Runs a sync up implemented by the embedding program.
  func up(_ target: CustomTarget, _ context: SyncContext) async throws(SyncError) {
    let custom = try customTargets.syncUp(target)
    try await SyncUpRun(SyncUpTarget(custom, target), custom: custom, context).run()
  }
}
