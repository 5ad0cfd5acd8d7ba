extension Org {
  /// Runs a search: `FIND {Acme} IN NAME FIELDS RETURNING Account(Id, Name)`.
  package func search(_ sosl: String, as user: OrgUser, version: String = VersionResource.newest)
    throws(OrgError) -> SearchPage
  {
    try search(SOQLParser.search(sosl), as: user, version: version)
  }

  func search(_ query: SOSLQuery, as user: OrgUser, version: String) throws(OrgError)
    -> SearchPage
  {
    try locked { store in
      try SearchRunner(store: store, user: user, version: version).run(query)
    }
  }
}
