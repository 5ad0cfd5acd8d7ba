/// A target whose records go into the soup that the sync names.
protocol OneSoupTarget: SyncDownTarget {
  /// The field names that all targets have.
  var fields: TargetFields { get }
  /// Where the records go.
  func destination(_ soupName: String) -> SyncDestination
}

extension OneSoupTarget {
  /// The sync's soup.
  package func destinations(soupName: String) -> [SyncDestination] { [destination(soupName)] }

  /// By the target's own field names.
  func destination(_ soupName: String) -> SyncDestination {
    SyncDestination(
      soupName: soupName, idPath: fields.idFieldName,
      modificationPath: fields.modificationDateFieldName)
  }
}
