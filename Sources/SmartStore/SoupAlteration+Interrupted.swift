import JSON
import SQLite

// The state of the file between two steps of an alteration.
extension SoupAlteration {
  /// The rows of `long_operations_status`; a row that no SDK writes has no alteration.
  static func rows(
    of connection: Connection, platform: Platform
  ) throws -> [(id: Int64?, alteration: SoupAlteration?)] {
    let rows = try connection.all(
      "SELECT id, type, details, status FROM long_operations_status ORDER BY id")
    return try rows.map { row in
      guard let type = row[1].text, let details = row[2].text, let status = row[3].text,
        let name = (try? JSONValue(parsing: details))?["soupName"]?.string,
        let number = try connection.integer("SELECT id FROM soup_attrs WHERE soupName = \(name)")
      else { return (row[0].integer, nil) }
      let alteration = SoupAlteration(
        platform: platform, type: type, details: details, status: status, number: number)
      return (row[0].integer, alteration)
    }
  }

  /// For each soup, the row of the alteration that has started, in the order of the rows.
  ///
  /// If an app calls `alterSoup` again while the tables of the previous call still exist, each call
  /// adds a row that has no effect.
  static func current(
    _ rows: [(id: Int64?, alteration: SoupAlteration?)]
  ) -> [(id: Int64, alteration: SoupAlteration)] {
    var current: [(id: Int64, alteration: SoupAlteration)] = []
    for case (let id?, let alteration?) in rows {
      let index = current.firstIndex { $0.alteration.old.name == alteration.old.name }
      guard let index else {
        current.append((id, alteration))
        continue
      }
      if alteration.progress > current[index].alteration.progress {
        current[index] = (id, alteration)
      }
    }
    return current
  }

  /// How much of the alteration the schema shows.
  ///
  /// One that has not started leaves no trace; one whose old tables were dropped only its indexes.
  private var progress: Int {
    if !isRenamed { return 0 }
    return isOldThere ? 1 + lastStep.rawValue : 1
  }

  /// Whether the old tables are renamed.
  private var isRenamed: Bool { lastStep >= .renameOldSoupTable }
  /// Whether the new tables exist.
  private var isCreated: Bool { lastStep >= .registerSoupUsingTableName }
  /// Whether the elements are in the new table.
  var isCopied: Bool { lastStep >= .copyTable }
  /// Whether the old tables exist.
  fileprivate var isOldThere: Bool { lastStep < .dropOldTable }

  /// Whether the soup's tables and indexes are complete: the alteration has not started, or only
  /// the cleanup is left.
  var isAnswering: Bool {
    !isRenamed || lastStep >= .reIndexSoup || (isCopied && !reIndexData)
  }

  /// The table with the elements.
  var elementTable: String { isRenamed && !isCopied ? oldTable : old.table }
  /// Whether both tables may have elements.
  ///
  /// The new one then has those that the app has saved since.
  var isInBothTables: Bool { isCreated && !isCopied }

  /// The rows of the old table that are copied.
  ///
  /// The app may have saved others since, as the new table counts IDs from 1 again.
  var copiedRows: String {
    isInBothTables ? "id NOT IN (SELECT id FROM \(new.table))" : "1"
  }

  /// The soup in `soup_index_map`: one of the two lists, or nothing in between.
  var mappedSoup: Soup? {
    if isCreated { return new }
    return lastStep < .dropOldIndexes ? old : nil
  }

  /// The objects of the schema that belong to the soup; `fullText` returns the version of a
  /// full-text table.
  func objects(
    _ layout: SchemaSQL, fullText: (String) -> FullTextGrammar
  ) -> [FullTextGrammar.Object] {
    var objects: [FullTextGrammar.Object] = []
    if isOldThere {
      let table = isRenamed ? oldTable : old.table
      objects.append(.init(type: "table", name: table, sql: layout.createTable(old, as: table)))
      if lastStep < .dropOldIndexes {
        objects += layout.createIndexes(old, of: table).map {
          .init(type: "index", name: $0.name, sql: $0.sql)
        }
      }
      if old.hasFullText {
        let words = isRenamed ? oldFullTextTable : old.fullTextTable
        objects += fullText(words).objects(of: old, table: words)
      }
    }
    if isCreated {
      objects.append(.init(type: "table", name: new.table, sql: layout.createTable(new)))
      objects += layout.createIndexes(new).map { .init(type: "index", name: $0.name, sql: $0.sql) }
      if new.hasFullText {
        objects += FullTextGrammar.fts5.objects(of: new, table: new.fullTextTable)
      }
    }
    return objects
  }
}

extension Store {
  /// Throws if an edit would be lost with the old table of an alteration.
  func checkRows(of alteration: SoupAlteration) throws {
    guard let lost = try lostEdit(of: alteration) else { return }
    throw StoreError.damaged(
      path: path,
      reason: """
        a change of the indexes of soup "\(alteration.new.name)" was interrupted, and row \(lost.row) of \
        \(alteration.oldTable) \(lost.words)
        """)
  }

  /// The first row of the old table of an alteration that is an edit and would be lost with the
  /// table; nil if there is none.
  ///
  /// While both tables have elements, that is an edit with the ID of a row that the app saved in the
  /// new table; afterwards one that the new table lacks, because a status proves nothing about rows.
  /// Clean rows are no loss: the app has fetched their records again, or will do so.
  func lostEdit(of alteration: SoupAlteration) throws -> (row: Int64, words: String)? {
    let (old, new) = (alteration.oldTable, alteration.new.table)
    let tables: SQL = "SELECT count(*) FROM sqlite_schema WHERE name IN (\(old), \(new))"
    guard try connection.integer(tables) == 2 else { return nil }
    if alteration.isInBothTables,
      let row = try firstEdit(inOldTableOf: alteration, where: "EXISTS", "")
    {
      return (
        row,
        """
        is an edit whose id another row of \(new) has by now; save the edits of \(old) in the app again, and \
        drop that table and the row of long_operations_status
        """
      )
    }
    if alteration.isCopied, alteration.isOldThere,
      let row = try firstEdit(
        inOldTableOf: alteration, where: "NOT EXISTS", "AND new.created IS old.created")
    {
      return (
        row,
        """
        is an edit that \(new) lacks; save the edit in the app again, or drop \(old) and the row of \
        long_operations_status if the row was removed on purpose
        """
      )
    }
    return nil
  }

  /// The first row of the old table that is an edit, or cannot be read, and whose ID is, or is not,
  /// in the new table.
  ///
  /// A copied row keeps the time at which it was created. If that differs, a row that the app saved
  /// since has its ID.
  private func firstEdit(
    inOldTableOf alteration: SoupAlteration, where condition: String, _ isSame: String
  ) throws -> Int64? {
    let flag = flag(of: alteration.old) ?? "0"
    let scanner = RecordScanner(paths: [SyncField.local])
    let spans = UnsafeMutableBufferPointer<JSONSpan>.allocate(capacity: 1)
    spans.initialize(repeating: .missing)
    defer { spans.deallocate() }
    var lost: Int64?
    let sql: SQL = """
      SELECT id, soup, \(flag) FROM \(raw: alteration.oldTable) old
      WHERE \(raw: condition)
        (SELECT 1 FROM \(raw: alteration.new.table) new WHERE new.id = old.id \(raw: isSame))
      ORDER BY id
      """
    try connection.rows(sql) { row in
      guard lost == nil else { return }
      var isEdit = row.integer(2) != 0
      if !isEdit {
        // An element that cannot be parsed is not known to be clean.
        let isRead = (try? scanner.scan(record: row.bytes(1), into: spans)) != nil
        isEdit = !isRead || platform.isSet(spans[0], in: row.bytes(1))
      }
      if isEdit { lost = row.integer(0) }
    }
    return lost
  }
}
