import JSON

extension SyncDefinition {
  /// The target as a device stores it once it has constructed it: defaults explicit, query
  /// completed.
  ///
  /// `variables` are SOQL literals for `:name` in a query; a device knows nothing of them.
  package func storedTarget(
    variables: [String: String] = [:]
  ) throws(SyncError) -> JSONValue {
    guard case .soql(var target) = target else { return target.json }
    target.query = try target.syncQuery(variables: variables).stored
    return target.json
  }

  /// The state of this sync before it has run.
  package func newState(variables: [String: String] = [:]) throws(SyncError) -> SyncState {
    SyncState(
      type: syncType, name: syncName, target: try storedTarget(variables: variables),
      options: options.json, soupName: soupName)
  }
}

extension SoqlTarget {
  /// The queries of this target with its variables filled in.
  package func syncQuery(variables: [String: String] = [:]) throws(SyncError) -> SyncQuery {
    try SyncQuery(
      SOQLVariables.substitute(variables, in: query), idField: idFieldName,
      modificationField: modificationDateFieldName)
  }
}
