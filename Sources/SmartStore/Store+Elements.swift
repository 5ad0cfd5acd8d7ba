import JSON
import SQLite

extension Store {
  /// The elements with the given soup entry IDs, as JSON text, in the order of the IDs.
  ///
  /// IDs without an element are omitted.
  public func retrieve(_ soupEntryIDs: [Int64], from soup: String) throws(StoreError) -> [String] {
    try StoreError.mapping {
      let table = try self.soup(soup).table
      return try soupEntryIDs.compactMap { id in
        try connection.text("SELECT soup FROM \(raw: table) WHERE id = \(id)")
      }
    }
  }

  /// Removes elements by soup entry ID; IDs without an element are not an error.
  public func remove(_ soupEntryIDs: [Int64], from soup: String) throws(StoreError) {
    try StoreError.mapping {
      let soup = try self.soup(soup)
      try transaction { try delete(soupEntryIDs, from: soup) }
    }
  }

  /// Removes the elements of the first page of a query; returns the number of removed elements.
  @discardableResult
  public func remove(_ query: QuerySpec, from soup: String) throws(StoreError) -> Int {
    try StoreError.mapping {
      let soup = try self.soup(soup)
      return try transaction {
        // Get the IDs first. The SDKs query the full-text table again after the rows are gone.
        let sql: SQL = """
          SELECT id FROM (\(try translated(query.idsSmartSQL, query.arguments)))
          LIMIT \(query.pageSize)
          """
        let ids = try connection.all(sql).compactMap { $0.first?.integer }
        try delete(ids, from: soup)
        return ids.count
      }
    }
  }

  /// Removes rows and their full-text rows.
  func delete(_ ids: [Int64], from soup: Soup) throws {
    for id in ids.sorted() {
      try connection.run("DELETE FROM \(raw: soup.table) WHERE id = \(id)")
      if soup.hasFullText {
        try connection.run("DELETE FROM \(raw: soup.fullTextTable) WHERE rowid = \(id)")
      }
    }
    if ids.isEmpty { return }
    hasRemovedRows = true
    changedSoups.insert(soup.name)
    markFullTextStale(soup)
  }
}
