import JSON
import SQLite

// An alteration between two of its steps: what is in the file then.
extension SoupAlteration {
  /// The rows of `long_operations_status`; one that no SDK writes has no alteration.
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

  /// Whether the old tables have other names now.
  private var isRenamed: Bool { lastStep >= .renameOldSoupTable }
  /// Whether the new tables are there.
  private var isCreated: Bool { lastStep >= .registerSoupUsingTableName }
  /// Whether the elements are in the new table.
  var isCopied: Bool { lastStep >= .copyTable }
  /// Whether the old tables are there.
  private var isOldThere: Bool { lastStep < .dropOldTable }

  /// Whether the soup's tables and indexes have every answer: nothing has begun, or all but tidying up
  /// is done.
  var isAnswering: Bool {
    !isRenamed || lastStep >= .reIndexSoup || (isCopied && !reIndexData)
  }

  /// The table that has the elements.
  var elementTable: String { isRenamed && !isCopied ? oldTable : old.table }

  /// What `soup_index_map` says of the soup: one of the two lists, or nothing in between.
  var mappedSoup: Soup? {
    if isCreated { return new }
    return lastStep < .dropOldIndexes ? old : nil
  }

  /// The objects of the schema that belong to the soup; `fullText` answers what the full-text table of
  /// a name is taken for.
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
