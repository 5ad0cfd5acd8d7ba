/// SOQL.
extension Org {
  /// Runs a statement and answers its first page.
  ///
  /// `includeDeleted` is what `queryAll` does; of one record's children a page holds at most
  /// `childPageSize`.
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

  /// Another page by its locator (`0r8…-2000`): any page, any number of times, until it expires.
  ///
  /// As in a real org the locators of children that earlier pages gave end with that, unless
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

  /// How many records there are of the objects that are wanted; of those that have some.
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

  /// Makes every locator given out so far invalid.
  package func expireCursors() throws(OrgError) {
    try locked { try $0.cursors.expire() }
  }
}
