import SQLite

/// The rows of a soup that a load added twice.
struct Doubles {
  private let store: Store
  private let soup: Soup
  private let idColumn: String
  private let modificationPath: String

  /// Creates a search for rows with equal ID columns.
  init(_ store: Store, _ soup: Soup, idColumn: String, modificationPath: String) {
    self.store = store
    self.soup = soup
    self.idColumn = idColumn
    self.modificationPath = modificationPath
  }

  /// Removes duplicates.
  ///
  /// Of the rows with one ID, the one with the latest modification date is kept; if the dates are
  /// equal, the last one.
  func remove() throws -> Int {
    let values = try store.connection.all(
      """
      SELECT \(raw: idColumn) FROM \(raw: soup.table) WHERE \(raw: idColumn) IS NOT NULL
      GROUP BY 1 HAVING count(*) > 1
      """)
    var removed = 0
    for value in values.map({ $0[0] }) {
      let rows = try store.connection.all(
        """
        SELECT id, soup FROM \(raw: soup.table) WHERE \(raw: idColumn) = \(value) ORDER BY id
        """)
      let dated = try rows.map { row in
        (row[0].integer ?? 0, try ElementDate.of(row[1].text ?? "", at: modificationPath))
      }
      var kept = dated.startIndex
      for index in dated.indices where ElementDate.stays(dated[index].1, over: dated[kept].1) {
        kept = index
      }
      let gone = dated.indices.filter { $0 != kept }.map { dated[$0].0 }
      try store.transaction { try store.delete(gone, from: soup) }
      removed += gone.count
    }
    return removed
  }
}
