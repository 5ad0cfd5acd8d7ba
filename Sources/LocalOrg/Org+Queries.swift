extension Org {
  /// Runs a statement and returns its first page.
  ///
  /// `includeDeleted` corresponds to `queryAll`; a page contains at most `childPageSize` children
  /// of one record.
  package func query(
    _ soql: String, as user: OrgUser, includeDeleted: Bool = false,
    batchSize: Int = OrgLimits.queryPage.upperBound,
    childPageSize: Int = OrgLimits.children, version: String = VersionResource.newest
  ) throws(OrgError) -> QueryPage {
    try locked { store in
      try QueryRunner(
        store: store, user: user, version: version, childPageSize: childPageSize
      )
      .run(soql, includeDeleted: includeDeleted, batchSize: batchSize)
    }
  }

  /// Returns another page by its locator (`0r8…-2000`): any page, any number of times, until the
  /// locator expires.
  ///
  /// As in a real org, this invalidates the locators of children on earlier pages, unless
  /// `endsChildLocators` is false.
  package func queryMore(
    _ locator: String, as user: OrgUser, batchSize: Int = OrgLimits.queryPage.upperBound,
    childPageSize: Int = OrgLimits.children,
    endsChildLocators: Bool = true, version: String = VersionResource.newest
  ) throws(OrgError) -> QueryPage {
    try locked { store in
      try QueryRunner(
        store: store, user: user, version: version, childPageSize: childPageSize,
        endsChildLocators: endsChildLocators
      )
      .more(locator, batchSize: batchSize)
    }
  }

  /// Returns the number of records of the selected objects; objects without records are omitted.
  func recordCounts(as user: OrgUser, where wanted: (ObjectSchema) -> Bool) throws(OrgError) -> [(
    object: String, count: Int64
  )] {
    try locked { store in
      try store.catalog(of: user).objects.filter(wanted).compactMap { schema in
        let table = try store.table(schema.name).table
        let count = try store.connection.integer(
          "SELECT count(*) FROM \(raw: table) WHERE \"IsDeleted\" = 0")
        return count.flatMap { $0 > 0 ? (schema.name, $0) : nil }
      }
    }
  }

  /// Invalidates all query locators.
  package func expireCursors() throws(OrgError) {
    try locked { try $0.cursors.expire() }
  }
}
