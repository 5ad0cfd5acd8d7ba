import JSON
import SQLite

// Store operations for Mobile Sync and reconciliation, without parsing each element into a tree.
extension Store {
  /// Calls `body` with each element of a soup, by ascending soup entry ID or by the value at a
  /// path, with the positions of the members at `paths`.
  ///
  /// With `rows`, only the elements with these soup entry IDs.
  package func forEachElement(
    in soup: String, paths: [String] = [], _ filter: ElementFilter = .all,
    among rows: [Int64]? = nil, orderedBy path: String? = nil,
    _ body: (borrowing StoredElement) throws -> Void
  ) throws {
    let soup = try self.soup(soup)
    let order = path.map { soup.expression(for: $0, on: platform) } ?? "id"
    try forEachElement(
      in: soup, where: [try condition(filter, soup, among: rows)], orderedBy: order, paths, body)
  }

  /// Calls `body` with the elements of soup entry IDs, in the order of the IDs.
  ///
  /// IDs without an element are omitted.
  ///
  /// An element that is not a JSON object is an error, unless `damaged` is given: it receives the
  /// ID.
  package func forEachElement(
    of soupEntryIDs: [Int64], in soup: String, paths: [String] = [],
    damaged: ((Int64) -> Void)? = nil, _ body: (borrowing StoredElement) throws -> Void
  ) throws {
    let conditions = soupEntryIDs.lazy.map { id -> SQL in "id = \(id)" }
    try forEachElement(
      in: self.soup(soup), where: conditions, orderedBy: "id", paths, damaged: damaged, body)
  }

  private func forEachElement(
    in soup: Soup, where conditions: some Sequence<SQL>, orderedBy order: String,
    _ paths: [String], damaged: ((Int64) -> Void)? = nil,
    _ body: (borrowing StoredElement) throws -> Void
  ) throws {
    let scanner = RecordScanner(paths: paths)
    let spans = UnsafeMutableBufferPointer<JSONSpan>.allocate(capacity: paths.count)
    spans.initialize(repeating: .missing)
    defer { spans.deallocate() }
    func hand(_ row: borrowing StoredRow) throws {
      try body(
        StoredElement(
          soupEntryID: row.soupEntryID, created: row.created, lastModified: row.lastModified,
          bytes: row.bytes, fields: UnsafeBufferPointer(spans)))
    }
    for condition in conditions {
      try forEachRow(of: soup, where: condition, orderedBy: order) { row in
        if (try? scanner.scan(record: row.bytes, into: spans)) != nil { return try hand(row) }
        if let whole = JSONText.withoutHalves(row.bytes) {
          let isHanded = try whole.withUnsafeBytes { bytes in
            guard (try? scanner.scan(record: bytes, into: spans)) != nil else { return false }
            try hand(row.holding(bytes))
            return true
          }
          if isHanded { return }
        }
        guard let damaged else {
          throw StoreError.damaged(
            path: self.path, reason: "\(soup.table) row \(row.soupEntryID) is not a JSON object")
        }
        damaged(row.soupEntryID)
      }
    }
  }

  /// Calls `body` with the value at an indexed path of each element as bytes.
  ///
  /// Elements without a value are skipped; only the index is read.
  ///
  /// With `rows`, only the elements with these soup entry IDs.
  package func forEachValue(
    of path: String, in soup: String, _ filter: ElementFilter = .all, among rows: [Int64]? = nil,
    _ body: (_ soupEntryID: Int64, _ value: UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let soup = try self.soup(soup)
    let column = soup.expression(for: path, on: platform)
    let sql: SQL = """
      SELECT id, \(raw: column) FROM \(raw: soup.table)
      WHERE \(raw: column) IS NOT NULL AND \(try condition(filter, soup, among: rows))
      """
    try connection.rows(sql) { row in try body(row.integer(0), row.bytes(1)) }
  }

  /// Whether the index on a path has no value for some element.
  package func hasNull(at path: String, in soup: String) throws(StoreError) -> Bool {
    try StoreError.mapping {
      let soup = try self.soup(soup)
      let column = soup.expression(for: path, on: platform)
      return try connection.integer(
        "SELECT EXISTS (SELECT 1 FROM \(raw: soup.table) WHERE \(raw: column) IS NULL)") == 1
    }
  }

  /// The soup entry IDs of the elements whose text at an indexed path starts with one of the given
  /// texts.
  package func soupEntryIDs(
    in soup: String, where path: String, beginsWithAnyOf texts: [String]
  ) throws(StoreError) -> [Int64] {
    try StoreError.mapping {
      let soup = try self.soup(soup)
      let column = soup.expression(for: path, on: platform)
      var ids: [Int64] = []
      try connection.reading {
        for text in texts {
          // The greatest character of any text.
          let sql: SQL = """
            SELECT id FROM \(raw: soup.table)
            WHERE \(raw: column) >= \(text) AND \(raw: column) < \(text + "\u{10FFFF}")
            """
          try connection.rows(sql) { ids.append($0.integer(0)) }
        }
      }
      return ids
    }
  }

  /// The values at an indexed path, in their order.
  package func values(
    of path: String, in soup: String, _ filter: ElementFilter = .all
  ) throws(StoreError) -> [String] {
    try StoreError.mapping {
      var values: [String] = []
      try forEachValue(of: path, in: soup, filter) { _, value in
        values.append(String(decoding: value, as: UTF8.self))
      }
      return values.sorted()
    }
  }

  /// The elements with a value at a path, by ascending soup entry ID.
  package func elements(
    in soup: String, where path: String, is value: String
  ) throws(StoreError) -> [JSONValue] {
    try StoreError.mapping {
      let soup = try self.soup(soup)
      let column = soup.expression(for: path, on: platform)
      let rows = try connection.all(
        """
        SELECT soup FROM \(raw: soup.table) WHERE \(raw: column) = \(value) ORDER BY id
        """)
      return try rows.map { row -> JSONValue in
        let text = Array((row[0].text ?? "").utf8)
        do { return try JSONValue(parsing: text) } catch {
          guard let whole = text.withUnsafeBytes(JSONText.withoutHalves) else { throw error }
          return try JSONValue(parsing: whole)
        }
      }
    }
  }

  /// Removes the elements with one of the values at a path; returns the number of removed elements.
  @discardableResult
  package func deleteElements(
    in soup: String, where path: String, in values: some Sequence<String>
  ) throws(StoreError) -> Int {
    try StoreError.mapping {
      let soup = try self.soup(soup)
      let column = soup.expression(for: path, on: platform)
      return try transaction {
        var ids: [Int64] = []
        for value in values {
          ids += try connection.all(
            "SELECT id FROM \(raw: soup.table) WHERE \(raw: column) = \(value)"
          ).compactMap { $0[0].integer }
        }
        try delete(ids, from: soup)
        return ids.count
      }
    }
  }

  /// The number of elements of a soup that match a filter.
  package func count(of soup: String, _ filter: ElementFilter) throws(StoreError) -> Int {
    try StoreError.mapping {
      let soup = try self.soup(soup)
      let sql: SQL =
        "SELECT count(*) FROM \(raw: soup.table) WHERE \(try condition(filter, soup))"
      return Int(try connection.integer(sql) ?? 0)
    }
  }

  /// The greatest text at a path of a soup; nil if no element has one.
  package func maximum(
    of path: String, in soup: String, _ filter: ElementFilter = .all
  ) throws(StoreError) -> String? {
    try StoreError.mapping {
      let soup = try self.soup(soup)
      let column = soup.expression(for: path, on: platform)
      let sql: SQL = """
        SELECT max(\(raw: column)) FROM \(raw: soup.table) WHERE \(try condition(filter, soup))
        """
      return try connection.text(sql)
    }
  }

  /// The SQL of a filter, restricted to `rows` if they are given.
  private func condition(
    _ filter: ElementFilter, _ soup: Soup, among rows: [Int64]?
  ) throws -> SQL {
    let condition = try condition(filter, soup)
    guard let rows else { return condition }
    return "\(condition) AND id IN (\(each: rows))"
  }

  /// The SQL of a filter, with the SDKs' comparison: an element without `__local__` is neither
  /// dirty nor clean.
  private func condition(_ filter: ElementFilter, _ soup: Soup) throws -> SQL {
    switch filter {
    case .all: return "1"
    case .dirty:
      let odd = try oddlyDirtyRows(of: soup)
      if odd.isEmpty { return isLocal(true, soup) }
      return "(\(isLocal(true, soup)) OR id IN (\(each: odd)))"
    case .written(let since):
      // Few rows among many: they are found by their index, regardless of the requested order.
      return "id IN (SELECT id FROM \(raw: soup.table) WHERE lastModified >= \(since))"
    case .clean(let syncID):
      let clean = isLocal(false, soup)
      guard let syncID, let column = soup.column(of: SyncField.syncID, on: platform) else {
        return clean
      }
      return "\(clean) AND \(raw: column) = \(syncID)"
    }
  }

  private func isLocal(_ flag: Bool, _ soup: Soup) -> SQL {
    "\(raw: localColumn(soup)) = \(platform.text(of: flag))"
  }

  /// The value in the index on `__local__`, or the one it would have if the soup has no string
  /// index.
  private func localColumn(_ soup: Soup) -> String {
    if let position = soup.position(of: SyncField.local, on: platform),
      soup.specs[position].type != .json1
    {
      return soup.columnNames[position]
    }
    let type = "json_type(soup, \(SQL.quoted(text: "$." + SyncField.local)))"
    let words = [true, false].map { "WHEN '\($0)' THEN '\(platform.text(of: $0))'" }
    return "CASE \(type) \(words.joined(separator: " ")) "
      + "ELSE CAST(\(SchemaSQL.extract(SyncField.local)) AS TEXT) END"
  }

  /// The rows whose `__local__` has a value that the SDK's query does not find, but that the SDK
  /// considers set when it reads the element: `"YES"` on iOS, `"TRUE"` on Android, and any value
  /// that `alterSoup` has not indexed.
  private func oddlyDirtyRows(of soup: Soup) throws -> [Int64] {
    let column = localColumn(soup)
    // These conditions let an index on the flag skip all rows with regular values.
    let (no, yes) = (platform.text(of: false), platform.text(of: true))
    let others: SQL = """
      (\(raw: column) < \(no) OR (\(raw: column) > \(no) AND \(raw: column) < \(yes))
        OR \(raw: column) > \(yes) OR \(raw: column) IS NULL)
      """
    var rows: [Int64] = []
    // An element that cannot be parsed is not known to be clean.
    try forEachElement(
      in: soup, where: [others], orderedBy: "id", [SyncField.local], damaged: { rows.append($0) }
    ) { element in
      if element.isSet(0, on: platform) { rows.append(element.soupEntryID) }
    }
    return rows
  }

  /// The rows that count as changed although the SDK's query for changes does not find them.
  ///
  /// A caller's own SQL must include them.
  package func oddlyDirtyRows(of soup: String) throws(StoreError) -> [Int64] {
    try StoreError.mapping { try oddlyDirtyRows(of: self.soup(soup)) }
  }
}
