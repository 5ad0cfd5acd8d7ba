import JSON
import SQLite

extension Store {
  /// The elements of the given soup entry ids, as JSON text, in the order of the ids; ids without an
  /// element are left out.
  public func retrieve(_ soupEntryIDs: [Int64], from soup: String) throws(StoreError) -> [String] {
    try StoreError.mapping {
      let table = try self.soup(soup).table
      return try soupEntryIDs.compactMap { id in
        try connection.text("SELECT soup FROM \(raw: table) WHERE id = \(id)")
      }
    }
  }

  /// Removes elements by soup entry id; ids without an element are no error.
  public func remove(_ soupEntryIDs: [Int64], from soup: String) throws(StoreError) {
    try StoreError.mapping {
      let soup = try self.soup(soup)
      try transaction { try delete(soupEntryIDs, from: soup) }
    }
  }

  /// Removes the elements of the first page of a query; returns how many.
  @discardableResult
  public func remove(_ query: QuerySpec, from soup: String) throws(StoreError) -> Int {
    try StoreError.mapping {
      let soup = try self.soup(soup)
      return try transaction {
        // Ids first: the SDKs ask again for the full-text table when the rows are gone already.
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
    changedSoups.insert(soup.name)
    markFullTextStale(soup)
  }
}
