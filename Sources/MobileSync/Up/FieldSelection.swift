/// Which fields of an element travel to the server.
package enum FieldSelection {
  /// The fields to send for an operation, in the order of the list that holds.
  ///
  /// A create takes the target's create list, an update its update list, and where the target has
  /// none the list of the options; never a union. An empty list is a list. The id and the
  /// modification date are dropped. A record that is made anew after a deletion on the server takes
  /// the create list.
  package static func fields(
    for operation: SyncOperation, target: SyncUpTarget, options: SyncOptions
  ) throws(SyncError) -> [String] {
    let list: [String]?
    switch operation {
    case .create: list = target.createFieldlist ?? options.fieldlist
    case .update: list = target.updateFieldlist ?? options.fieldlist
    case .delete, .none, .dropLocally: return []
    }
    guard let list else {
      let name = operation == .create ? "createFieldlist" : "updateFieldlist"
      throw SyncError(
        .definition, "the sync up names no fields to send for a local \(operation.rawValue)",
        fix: "set options.fieldlist, or target.\(name)")
    }
    return list.filter {
      $0 != target.idFieldName && $0 != target.modificationDateFieldName
    }
  }

  /// True when a created element is sent as an upsert by its external id.
  ///
  /// Only created elements are, and only where the external id has a value that no device made up.
  package static func upserts(_ operation: SyncOperation, externalID: String?) -> Bool {
    guard operation == .create, let externalID, !externalID.isEmpty else { return false }
    return !LocalFields.isLocalID(externalID)
  }
}
