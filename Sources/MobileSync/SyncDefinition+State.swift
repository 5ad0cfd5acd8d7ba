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
  /// The target's queries with its variables replaced by their values.
  func syncQuery(variables: [String: String] = [:]) throws(SyncError) -> SyncQuery {
    try SyncQuery(
      SyncError.inQuery { try SOQLVariables.substitute(variables, in: query) },
      idField: idFieldName, modificationField: modificationDateFieldName)
  }

  /// The query that the first run of the sync sends.
  package func statement() throws(SyncError) -> String { try syncQuery().fetch() }
}

extension SyncState {
  /// The sync as a configuration file would define it; nil if its target cannot be read.
  package var definition: SyncDefinition? {
    guard let target = try? syncTarget() else { return nil }
    return SyncDefinition(
      syncName: name ?? "\(id)", syncType: type, soupName: soupName, target: target,
      options: SyncOptions(stored: options))
  }

  /// Reads the target from the stored state.
  package func syncTarget() throws(SyncError) -> SyncTarget {
    do { return try SyncTarget(stored: target, type: type) } catch {
      throw SyncError(.definition, "the target is invalid: \(error)", syncName: name)
    }
  }
}
