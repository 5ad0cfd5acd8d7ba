import JSON
import SQLite

extension Store {
  /// Replaces the indexes of a soup; its elements, their IDs and dates stay.
  ///
  /// A column whose path was indexed before with the same SQL type keeps its values. If
  /// `reIndexData` is set, the others are filled from the elements; otherwise they are empty until
  /// an element is written again. Full-text search always uses FTS5 afterwards.
  public func alterSoup(
    _ name: String, indexSpecs: [IndexSpec], reIndexData: Bool
  ) throws(StoreError) {
    try StoreError.mapping {
      let old = try soup(name)
      try Self.validate(name, indexSpecs)
      // Difference: one transaction, not one per step. If the process is killed, the soup stays as
      // it was.
      try transaction {
        var alteration = SoupAlteration(
          platform: platform, old: old, specs: indexSpecs, reIndexData: reIndexData)
        let row = try begin(alteration)
        try run(&alteration, row: row)
      }
    }
  }

  /// Fills the columns of the given paths from the elements; paths without an index are ignored.
  public func reIndexSoup(_ name: String, paths: [String]) throws(StoreError) {
    try StoreError.mapping {
      let soup = try self.soup(name)
      try transaction { try reIndex(soup, paths: paths) }
    }
  }

  // MARK: interrupted alterations

  /// Finishes interrupted alterations, as both SDKs do when they open a store.
  ///
  /// Difference: the SDKs drop an old table without comparing its rows.
  func resumeLongOperations() throws {
    guard try hasLongOperations() else { return }
    let rows = try SoupAlteration.rows(of: connection, platform: platform)
    guard rows.allSatisfy({ $0.id != nil && $0.alteration != nil }) else {
      throw StoreError.damaged(
        path: path, reason: "long_operations_status " + SoupAlteration.unknownText)
    }
    let current = SoupAlteration.current(rows)
    for row in current { try checkRows(of: row.alteration) }
    for var row in current { try transaction { try run(&row.alteration, row: row.id) } }
    // Alterations that the app requested meanwhile are applied to the soup in its current state.
    for case (let id?, let asked?) in rows where !current.contains(where: { $0.id == id }) {
      try transaction {
        var next = SoupAlteration(
          platform: platform, old: try soup(asked.old.name), specs: asked.new.specs,
          reIndexData: asked.reIndexData)
        if asked.lastStep == .starting, next.old.specs != next.new.specs {
          try run(&next, row: id)
        } else {
          try connection.run("DELETE FROM long_operations_status WHERE id = \(id)")
        }
      }
    }
  }

  /// The soups whose tables are incomplete because an alteration was interrupted.
  func interruptedSoups() throws -> Set<String> {
    guard try hasLongOperations() else { return [] }
    let rows = try SoupAlteration.rows(of: connection, platform: platform)
    let current = SoupAlteration.current(rows).map(\.alteration)
    return Set(current.filter { !$0.isAnswering }.map(\.old.name))
  }

  /// Old files may not have the table.
  private func hasLongOperations() throws -> Bool {
    let table: SQL = "SELECT count(*) FROM sqlite_schema WHERE name = 'long_operations_status'"
    return try connection.integer(table) != 0
  }

  // MARK: the steps

  /// Writes the row of an alteration and returns its ID.
  package func begin(_ alteration: SoupAlteration) throws -> Int64 {
    let now = clock()
    try connection.run(
      """
      INSERT INTO long_operations_status (type, details, status, created, lastModified)
      VALUES (\(SoupAlteration.type(on: platform)), \(alteration.details.text),
        \(alteration.lastStep.status(on: platform)), \(now), \(now))
      """)
    return connection.lastInsertRowID
  }

  /// Runs the remaining steps of an alteration, up to and including a given one.
  package func run(
    _ alteration: inout SoupAlteration, row: Int64, through end: SoupAlteration.Step = .cleanup
  ) throws {
    forget(alteration.new.name)
    let last = SoupAlteration.Step.last(on: platform)
    for step in SoupAlteration.Step.allCases
    where step > alteration.lastStep && step <= end && step <= last {
      try transaction {
        try perform(step, of: alteration)
        try record(step, of: alteration, row: row)
      }
      alteration.lastStep = step
    }
    forget(alteration.new.name)
    connection.forgetStatements()
  }

  /// Records that a step is done; the last one removes the row.
  private func record(
    _ step: SoupAlteration.Step, of alteration: SoupAlteration, row: Int64
  ) throws {
    if step == SoupAlteration.Step.last(on: platform) {
      try connection.run("DELETE FROM long_operations_status WHERE id = \(row)")
    } else if step != .reIndexSoup || alteration.reIndexData {
      try connection.run(
        """
        UPDATE long_operations_status SET status = \(step.status(on: platform)),
          lastModified = \(clock()) WHERE id = \(row)
        """)
    }
  }

  private func perform(_ step: SoupAlteration.Step, of alteration: SoupAlteration) throws {
    let (old, new) = (alteration.old, alteration.new)
    switch step {
    case .starting, .cleanup: break
    case .renameOldSoupTable:
      try connection.execute("ALTER TABLE \(old.table) RENAME TO \(alteration.oldTable)")
      if old.hasFullText {
        try connection.execute(
          "ALTER TABLE \(old.fullTextTable) RENAME TO \(alteration.oldFullTextTable)")
      }
    case .dropOldIndexes:
      for index in layout.createIndexes(old) {
        try connection.execute("DROP INDEX IF EXISTS \(index.name)")
      }
      try connection.run("DELETE FROM soup_index_map WHERE soupName = \(old.name)")
    case .registerSoupUsingTableName: try createTables(of: new)
    case .copyTable: try copyOldData(alteration)
    case .reIndexSoup:
      if alteration.reIndexData { try reIndex(new, paths: alteration.changedPaths) }
    case .dropOldTable:
      try connection.execute("DROP TABLE IF EXISTS \(alteration.oldTable)")
      if old.hasFullText {
        try connection.execute("DROP TABLE IF EXISTS \(alteration.oldFullTextTable)")
      }
    }
  }

  private func copyOldData(_ alteration: SoupAlteration) throws {
    let new = alteration.new
    let kept = alteration.keptColumns
    func copy(into table: String, _ fields: [(old: String, new: String)]) throws {
      try connection.execute(
        """
        INSERT OR REPLACE INTO \(table) (\(fields.map(\.new).joined(separator: ", ")))
        SELECT \(fields.map(\.old).joined(separator: ", ")) FROM \(alteration.oldTable)
        WHERE \(alteration.copiedRows) ORDER BY id
        """)
    }
    // Copy the words first: the rows of the table determine which ones are copied.
    if new.hasFullText {
      let words = kept.filter { $0.new.spec.type == .fullText }.map { ($0.old, $0.new.name) }
      try copy(into: new.fullTextTable, [("id", "rowid")] + words)
    }
    let core = ["id", "soup", "created", "lastModified"].map { ($0, $0) }
    try copy(into: new.table, core + kept.map { ($0.old, $0.new.name) })
    // Difference: the SDKs reset the sequence to the largest ID, so that IDs are reused.
    let sequence: SQL = """
      SELECT max(seq) FROM sqlite_sequence WHERE name IN (\(alteration.oldTable), \(new.table))
      """
    guard let last = try connection.integer(sequence) else { return }
    try connection.run("DELETE FROM sqlite_sequence WHERE name = \(new.table)")
    try connection.run("INSERT INTO sqlite_sequence (name, seq) VALUES (\(new.table), \(last))")
  }

  /// The number of elements that are read before they are written again.
  private static let reIndexBatch = 500

  /// Projects the elements of a soup again into the columns of some paths.
  func reIndex(_ soup: Soup, paths: [String]) throws {
    let wanted = Set(paths)
    let columns = soup.columns.filter {
      wanted.contains($0.spec.path)
        && soup.position(of: $0.spec.path, on: platform) == $0.position
    }
    guard !columns.isEmpty else { return }
    var last = Int64.min
    while true {
      let rows = try connection.all(
        """
        SELECT id, soup FROM \(raw: soup.table) WHERE id > \(last)
        ORDER BY id LIMIT \(Self.reIndexBatch)
        """)
      guard let end = rows.last?[0].integer else { break }
      for row in rows {
        // An element that is not valid JSON keeps its columns, as on a device.
        guard let id = row[0].integer, let text = row[1].text,
          let element = try? JSONValue(parsing: text)
        else { continue }
        try reIndex(element, id: id, columns, of: soup)
      }
      last = end
    }
    if columns.contains(where: { $0.spec.type == .fullText }) { markFullTextStale(soup) }
  }

  private func reIndex(
    _ element: JSONValue, id: Int64, _ columns: [Soup.Column], of soup: Soup
  ) throws {
    let cells = columns.map { column in
      let value = IndexValue.bound(
        JSONProjection.project(column.spec.path, from: element), type: column.spec.type,
        platform: platform)
      return (column: column, assignment: "\(raw: column.name) = \(value)" as SQL)
    }
    try connection.run(
      """
      UPDATE \(raw: soup.table) SET \(cells.map(\.assignment).joined(separator: ", "))
      WHERE id = \(id)
      """)
    let words = cells.filter { $0.column.spec.type == .fullText }.map(\.assignment)
    guard !words.isEmpty else { return }
    try connection.run(
      """
      UPDATE \(raw: soup.fullTextTable) SET \(words.joined(separator: ", ")) WHERE rowid = \(id)
      """)
  }
}
