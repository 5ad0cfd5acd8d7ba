/// A target whose records go into the soup that the sync names.
package protocol OneSoupTarget: SyncDownTarget {
  /// The field names that all targets have.
  var fields: TargetFields { get }
  func destination(_ soupName: String) -> SyncDestination
}

extension OneSoupTarget {
  package func destinations(soupName: String) -> [SyncDestination] { [destination(soupName)] }

  /// The destination with the target's own field names.
  package func destination(_ soupName: String) -> SyncDestination {
    SyncDestination(
      soupName: soupName, idPath: fields.idFieldName,
      modificationPath: fields.modificationDateFieldName)
  }
}
