import JSON
import Salesforce

extension SyncDefinition {
  /// The state of this sync before it has run.
  package func newState(variables: [String: String] = [:]) throws(SyncError) -> SyncState {
    SyncState(
      type: syncType, name: syncName, target: try target.stored(variables: variables),
      options: options.json, soupName: soupName)
  }
}

extension SoqlTarget {
  /// The queries of this target with its variables filled in.
  func syncQuery(variables: [String: String] = [:]) throws(SyncError) -> SyncQuery {
    try SyncQuery(
      SyncError.inQuery { try SOQLVariables.substitute(variables, in: query) },
      idField: idFieldName, modificationField: modificationDateFieldName)
  }

  /// What a sync of this target asks an org for, the first time.
  package func statement() throws(SyncError) -> String { try syncQuery().fetch() }
}

extension SyncState {
  /// The sync as a file would define it; nil for one whose target cannot be read.
  package var definition: SyncDefinition? {
    guard let target = try? syncTarget() else { return nil }
    return SyncDefinition(
      syncName: name ?? "\(id)", syncType: type, soupName: soupName, target: target,
      options: SyncOptions(stored: options))
  }

  /// The target, read back from what is stored.
  package func syncTarget() throws(SyncError) -> SyncTarget {
    do { return try SyncTarget(stored: target, type: type) } catch {
      throw SyncError(.definition, "the target cannot be used: \(error)", syncName: name)
    }
  }
}
