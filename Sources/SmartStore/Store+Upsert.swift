import JSON
import SQLite

extension Store {
  /// Inserts or updates elements given as JSON text; all of them or none.
  ///
  /// If the path is `_soupEntryId`, an element with that member replaces the entry, and one without
  /// is inserted. Any other path must be indexed; the element with the same value there is
  /// replaced. Returns the elements as stored, with `_soupEntryId` and `_soupLastModifiedDate`.
  @discardableResult
  public func upsert(
    _ elements: [String], into soup: String, externalIDPath: String = "_soupEntryId"
  ) throws(StoreError) -> [String] {
    var values: [JSONValue] = []
    for (index, text) in elements.enumerated() {
      do throws(JSONError) {
        values.append(try JSONValue(parsing: text))
      } catch {
        throw .invalidElement(soup: soup, element: index, reason: error.message)
      }
    }
    return try upsert(values, into: soup, externalIDPath: externalIDPath).map(\.text)
  }

  /// Inserts or updates elements; all of them or none.
  @discardableResult
  package func upsert(
    _ elements: [JSONValue], into soup: String, externalIDPath: String = StoreField.soupEntryID
  ) throws(StoreError) -> [JSONValue] {
    try StoreError.mapping {
      let soup = try self.soup(soup)
      let column = try externalIDColumn(externalIDPath, of: soup)
      return try transaction {
        let now = clock()
        var stored: [JSONValue] = []
        for (index, element) in elements.enumerated() {
          guard case .object(let object) = element else {
            throw StoreError.invalidElement(
              soup: soup.name, element: index, reason: "it has a value of another type")
          }
          let id = try existing(
            object, index, in: soup, externalIDPath: externalIDPath, column: column)
          stored.append(try write(object, id: id, in: soup, now: now))
        }
        if !stored.isEmpty { changedSoups.insert(soup.name) }
        return stored
      }
    }
  }

  /// The column of the external ID path; nil for `_soupEntryId`.
  private func externalIDColumn(_ path: String, of soup: Soup) throws(StoreError) -> String? {
    if path == StoreField.soupEntryID { return nil }
    guard let column = soup.column(of: path, on: platform) else {
      throw .noIndex(soup: soup.name, path: path)
    }
    return column
  }

  /// The entry that an element replaces; nil for an insert.
  private func existing(
    _ element: JSONObject, _ index: Int, in soup: Soup, externalIDPath: String, column: String?
  ) throws -> Int64? {
    guard let column else {
      guard let id = element[StoreField.soupEntryID]?.int else { return nil }
      // Difference: the SDKs return as if an update of no row had succeeded.
      guard
        try connection.integer("SELECT id FROM \(raw: soup.table) WHERE id = \(id)") != nil
      else { throw StoreError.noSuchEntry(soup: soup.name, soupEntryID: id) }
      return id
    }
    let value = JSONProjection.project(externalIDPath, from: .object(element))
    if platform == .ios, value == .null { return nil }
    guard let value, value != .null else {
      throw StoreError.externalIDMissing(soup: soup.name, path: externalIDPath, element: index)
    }
    let ids = try connection.all(
      """
      SELECT id FROM \(raw: soup.table) WHERE \(raw: column) = \(lookup(value)) LIMIT 2
      """)
    guard ids.count < 2 else {
      throw StoreError.externalIDNotUnique(soup: soup.name, path: externalIDPath, element: index)
    }
    return ids.first?.first?.integer
  }

  /// The value to compare with: Android binds text, iOS the value.
  private func lookup(_ value: JSONValue) -> SQLiteValue {
    IndexValue.bound(value, type: .string, platform: platform)
  }

  /// Writes one element and returns it as stored.
  private func write(
    _ element: JSONObject, id existing: Int64?, in soup: Soup, now: Int64
  ) throws -> JSONValue {
    let id = try existing ?? nextID(of: soup)
    var stored = element
    stored[StoreField.soupEntryID] = .number(String(id))
    stored[StoreField.lastModified] = .number(String(now))
    // iOS projects the given element, Android the stored one.
    let source = JSONValue.object(platform == .ios ? element : stored)
    let cells = soup.columns.map { column in
      IndexValue.bound(
        JSONProjection.project(column.spec.path, from: source), type: column.spec.type,
        platform: platform)
    }
    let text = JSONValue.object(stored).text
    if existing == nil {
      try insert(id, text, cells, into: soup, now: now)
    } else {
      try update(id, text, cells, in: soup, now: now)
    }
    return .object(stored)
  }

  /// The ID of the next element.
  func nextID(of soup: Soup) throws -> Int64 {
    (try connection.integer("SELECT seq FROM sqlite_sequence WHERE name = \(soup.table)") ?? 0) + 1
  }

  private func insert(
    _ id: Int64, _ text: String, _ cells: [SQLiteValue], into soup: Soup, now: Int64
  ) throws {
    let names = ["id", "soup", "created", "lastModified"] + soup.columns.map(\.name)
    let values: [SQLiteValue] =
      [.integer(id), .text(text), .integer(now), .integer(now)] + cells
    try connection.run(
      """
      INSERT INTO \(raw: soup.table) (\(raw: names.joined(separator: ", ")))
      VALUES (\(list: values))
      """)
    guard soup.hasFullText else { return }
    let (columns, words) = fullText(of: soup, cells)
    try connection.run(
      """
      INSERT INTO \(raw: soup.fullTextTable) (rowid, \(raw: columns.joined(separator: ", ")))
      VALUES (\(list: [.integer(id)] + words))
      """)
  }

  private func update(
    _ id: Int64, _ text: String, _ cells: [SQLiteValue], in soup: Soup, now: Int64
  ) throws {
    var assignments: [SQL] = ["soup = \(text)", "lastModified = \(now)"]
    for (column, cell) in zip(soup.columns, cells) {
      assignments.append("\(raw: column.name) = \(cell)")
    }
    try connection.run(
      "UPDATE \(raw: soup.table) SET \(assignments.joined(separator: ", ")) WHERE id = \(id)")
    guard soup.hasFullText else { return }
    let (columns, words) = fullText(of: soup, cells)
    let parts = zip(columns, words).map { name, word -> SQL in "\(raw: name) = \(word)" }
    try connection.run(
      """
      UPDATE \(raw: soup.fullTextTable) SET \(parts.joined(separator: ", ")) WHERE rowid = \(id)
      """)
    markFullTextStale(soup)
  }

  private func fullText(
    of soup: Soup, _ cells: [SQLiteValue]
  ) -> (columns: [String], words: [SQLiteValue]) {
    var columns: [String] = []
    var words: [SQLiteValue] = []
    for (column, cell) in zip(soup.columns, cells) where column.spec.type == .fullText {
      columns.append(column.name)
      words.append(cell)
    }
    return (columns, words)
  }
}
