import JSON

extension SyncTarget {
  /// The target as a device stores it once it has constructed it: defaults explicit, query
  /// completed.
  ///
  /// `variables` are SOQL literals for `:name` in a query; a device knows nothing of them.
  func stored(variables: [String: String] = [:]) throws(SyncError) -> JSONValue {
    switch self {
    case .soql(var target):
      target.query = try target.syncQuery(variables: variables).stored
      return target.json
    case .sosl(var target):
      target.query = try target.search(variables: variables)
      return target.json
    case .parentChildren(var target):
      target.parentSoqlFilter = try ParentChildrenQuery.filter(target, variables: variables)
      return target.json
    default: return json
    }
  }
}
