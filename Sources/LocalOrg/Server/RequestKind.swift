/// The kind of a request, for the log and the faults.
package enum RequestKind: String, Sendable, CaseIterable {
  case token, revoke, userinfo, identity, soapLogin, soapUndelete
  case versions, resources, limits, describeGlobal, object, describe, layout, recent
  case query, queryMore, search, priming, retrieve, changes
  case rowCreate, rowRead, rowUpdate, rowUpsert, rowDelete
  case collectionCreate, collectionUpdate, collectionUpsert, collectionDelete
  case composite, batch, tree
  case bulkCreate, bulkRead, bulkUpload, bulkClose, bulkResults, bulkDelete
  case unknown

  /// Whether it changes records; composite and batch are writes if one of their parts is.
  package var isWrite: Bool {
    switch self {
    case .rowCreate, .rowUpdate, .rowUpsert, .rowDelete, .collectionCreate, .collectionUpdate,
      .collectionUpsert, .collectionDelete, .bulkUpload, .bulkClose, .tree, .soapUndelete:
      true
    default: false
    }
  }

  /// Whether it counts against the daily limit.
  var isMetered: Bool {
    switch self {
    case .token, .revoke, .userinfo, .identity, .soapLogin, .versions: false
    default: true
    }
  }
}
