import SQLite

extension Store {
  /// The names of all soups, in the order of their registration.
  public func soupNames() throws(StoreError) -> [String] {
    try StoreError.mapping { try connection.texts("SELECT soupName FROM soup_attrs ORDER BY id") }
  }

  /// Whether a soup with this name is registered.
  public func hasSoup(_ name: String) throws(StoreError) -> Bool {
    try StoreError.mapping { try find(name) != nil }
  }

  /// The index specs of a soup, in the order in which they were given.
  public func indexSpecs(of soup: String) throws(StoreError) -> [IndexSpec] {
    try StoreError.mapping { try self.soup(soup).specs }
  }

  /// Registers a soup.
  ///
  /// An existing one is left as it is, regardless of its indexes.
  public func registerSoup(_ name: String, indexSpecs: [IndexSpec]) throws(StoreError) {
    try StoreError.mapping {
      guard try find(name) == nil else { return }
      try Self.validate(name, indexSpecs)
      try transaction {
        try connection.run("INSERT INTO soup_attrs (soupName) VALUES (\(name))")
        let soup = Soup(name: name, number: connection.lastInsertRowID, specs: indexSpecs)
        try createTables(of: soup)
      }
    }
  }

  /// Creates the tables and indexes of a soup and records its index specs.
  func createTables(of soup: Soup) throws {
    try connection.execute(layout.createTable(soup))
    if let sql = layout.createFullTextTable(soup) { try connection.execute(sql) }
    for index in layout.createIndexes(soup) { try connection.execute(index.sql) }
    for (spec, column) in zip(soup.specs, soup.columnNames) {
      try connection.run(
        """
        INSERT INTO soup_index_map (soupName, path, columnName, columnType)
        VALUES (\(soup.name), \(spec.path), \(column), \(spec.type.rawValue))
        """)
    }
  }

  /// Rejects definitions that would crash one of the SDKs, or that they interpret differently.
  static func validate(_ name: String, _ specs: [IndexSpec]) throws(StoreError) {
    guard !name.isEmpty else { throw .emptySoupName }
    guard !specs.isEmpty else { throw .noIndexSpecs(soup: name) }
    var paths: Set<String> = []
    for spec in specs {
      guard !spec.path.isEmpty else { throw .emptyPath(soup: name) }
      guard paths.insert(spec.path).inserted else {
        throw .duplicatePath(soup: name, path: spec.path)
      }
    }
  }

  /// Removes a soup and its elements; a missing soup is not an error.
  public func removeSoup(_ name: String) throws(StoreError) {
    try StoreError.mapping {
      guard let soup = try find(name) else { return }
      try transaction {
        try connection.execute("DROP TABLE \(soup.table)")
        if soup.hasFullText { try connection.execute("DROP TABLE \(soup.fullTextTable)") }
        try connection.run("DELETE FROM soup_index_map WHERE soupName = \(name)")
        try connection.run("DELETE FROM soup_attrs WHERE soupName = \(name)")
      }
      forget(name)
      hasRemovedRows = true
      changedSoups.insert(name)
    }
  }

  /// Removes all elements of a soup; IDs are never reused.
  public func clearSoup(_ name: String) throws(StoreError) {
    try StoreError.mapping {
      let soup = try self.soup(name)
      try transaction {
        try connection.execute("DELETE FROM \(soup.table)")
        if soup.hasFullText { try connection.execute("DELETE FROM \(soup.fullTextTable)") }
      }
      hasRemovedRows = true
      changedSoups.insert(name)
      markFullTextStale(soup)
    }
  }

  /// The number of elements in a soup.
  public func count(of soup: String) throws(StoreError) -> Int {
    try StoreError.mapping {
      let table = try self.soup(soup).table
      return Int(try connection.integer("SELECT count(*) FROM \(raw: table)") ?? 0)
    }
  }
}
