import JSON
import SQLite

/// The check of a soup's rows.
struct SoupCheck {
  let connection: Connection
  let soup: Soup
  let platform: Platform
  let origin: StoreCheck.Origin
  let idPath: String
  let limit: Int
  private(set) var violations: [Violation] = []
  private var largestID: Int64 = 0

  init(
    connection: Connection, soup: Soup, platform: Platform, origin: StoreCheck.Origin,
    idPath: String, limit: Int
  ) {
    self.connection = connection
    self.soup = soup
    self.platform = platform
    self.origin = origin
    self.idPath = idPath
    self.limit = limit
  }

  mutating func run() throws {
    checkSpecs()
    try checkRows()
    try checkSequence()
    try checkFullText()
    try checkIDs()
    violations = Array(violations.prefix(limit))
  }

  private mutating func report(row: Int64? = nil, path: String? = nil, _ message: String) {
    if violations.count < limit {
      violations.append(Violation(soup.table, row: row, path: path, message))
    }
  }

  private mutating func checkSpecs() {
    for spec in soup.specs where spec.path == SyncField.local {
      if let fault = spec.type.localFlagFault { report(path: spec.path, fault) }
    }
    if Set(soup.specs.map(\.path)).count < soup.specs.count {
      report("there are two indexes on this path")
    }
  }

  // MARK: rows

  private mutating func checkRows() throws {
    var found: [Violation] = []
    var largest: Int64 = 0
    let names = ["id", "created", "lastModified", "soup"] + soup.columns.map(\.name)
    let sql: SQL = """
      SELECT \(raw: names.joined(separator: ", ")) FROM \(raw: soup.table) ORDER BY id
      """
    try connection.rows(sql) { row in
      largest = row.integer(0)
      if found.count < limit { found += check(row) }
    }
    largestID = largest
    violations += found
  }

  private func check(_ row: borrowing Row) -> [Violation] {
    let id = row.integer(0)
    func violation(_ message: String, path: String? = nil) -> Violation {
      Violation(soup.table, row: id, path: path, message)
    }
    guard case .text = row[3] else { return [violation("the element is not text")] }
    guard let element = try? JSONValue(parsing: row.bytes(3)), let object = element.object else {
      let hasHalves = JSONText.withoutHalves(row.bytes(3)).flatMap { try? JSONValue(parsing: $0) }
      return [
        violation(
          hasHalves?.object == nil
            ? "the element is not a JSON object"
            : "a text of the element has an unpaired surrogate, which some readers reject")
      ]
    }
    var found: [Violation] = []
    if SoupCheck.writtenMembers(row.bytes(3)) != SoupCheck.members(element) {
      found.append(violation("a name appears twice in an object of the element"))
    }
    if let created = row[1].integer, let modified = row[2].integer, created > modified {
      found.append(violation("created is after lastModified"))
    }
    if object[StoreField.soupEntryID]?.int != id {
      found.append(violation("_soupEntryId is not the row's id"))
    }
    if row[1].integer == nil { found.append(violation("created is not a time in milliseconds")) }
    if let modified = row[2].integer {
      if object[StoreField.lastModified]?.int != modified {
        found.append(violation("_soupLastModifiedDate is not lastModified"))
      }
    } else {
      found.append(violation("lastModified is not a time in milliseconds"))
    }
    if object[StoreField.created] != nil {
      found.append(violation("the element contains _soupCreatedDate"))
    }
    for (index, column) in soup.columns.enumerated()
    where !IndexAgreement.holds(column.spec, element, row[index + 4], platform) {
      found.append(
        violation("the column does not match the element's value", path: column.spec.path))
    }
    return found
  }

  /// The number of members in a JSON text: the colons outside its strings.
  private static func writtenMembers(_ text: UnsafeRawBufferPointer) -> Int {
    var count = 0
    var isInside = false
    var isEscaped = false
    for byte in text {
      if isEscaped {
        isEscaped = false
      } else if isInside {
        isEscaped = byte == 0x5C
        if byte == 0x22 { isInside = false }
      } else if byte == 0x22 {
        isInside = true
      } else if byte == 0x3A {
        count += 1
      }
    }
    return count
  }

  /// The number of members in a value, at all depths.
  ///
  /// Of equal names one is counted.
  private static func members(_ value: JSONValue) -> Int {
    switch value {
    case .object(let object): object.reduce(object.count) { $0 + members($1.value) }
    case .array(let items): items.reduce(0) { $0 + members($1) }
    default: 0
    }
  }

  private mutating func checkSequence() throws {
    let rows = try connection.all("SELECT seq FROM sqlite_sequence WHERE name = \(soup.table)")
    let sequence = rows.first?.first?.integer ?? 0
    if rows.count > 1 {
      report("sqlite_sequence has two entries for it")
    } else if sequence < largestID {
      report("sqlite_sequence is less than the largest ID, so an ID would be reused")
    }
    // In a file that attache wrote, the number is the last ID used.
    if rows.contains(where: { $0[0].integer == nil }) {
      report("sqlite_sequence has no number for it")
    }
  }

  private mutating func checkIDs() throws {
    guard let column = soup.column(of: idPath, on: platform) else { return }
    let sql: SQL = """
      SELECT min(id), count(*) FROM \(raw: soup.table) WHERE \(raw: column) IS NOT NULL
      GROUP BY \(raw: column) HAVING count(*) > 1 ORDER BY 1
      """
    for row in try connection.all(sql) {
      report(row: row[0].integer, path: idPath, "several elements have this ID")
    }
  }

  // MARK: full text

  /// Compares the words with the columns through the content table, an ordinary table.
  ///
  /// So the full-text modules' code never runs on an untrusted file.
  private mutating func checkFullText() throws {
    let columns = soup.fullTextColumns
    guard !columns.isEmpty else { return }
    let content = soup.fullTextTable + "_content"
    let table = soup.fullTextTable
    let kind = FullTextGrammar(
      of: try connection.text("SELECT sql FROM sqlite_schema WHERE name = \(table)"))
    let key = kind.contentKey
    for row in try connection.all(
      """
      SELECT id FROM \(raw: soup.table) EXCEPT SELECT \(raw: key) FROM \(raw: content) ORDER BY 1
      """)
    {
      violations.append(Violation(table, row: row[0].integer, "the row is missing"))
    }
    let sequence: SQL = "SELECT seq FROM sqlite_sequence WHERE name = \(soup.table)"
    let last = try connection.integer(sequence) ?? 0
    for row in try connection.all(
      """
      SELECT \(raw: key) FROM \(raw: content) EXCEPT SELECT id FROM \(raw: soup.table) ORDER BY 1
      """)
    {
      // A device's SDK leaves the words of removed elements, whose IDs were in use once.
      let wasThere = row[0].integer.map { $0 > 0 && $0 <= last } ?? false
      if origin == .device, wasThere { continue }
      violations.append(
        Violation(
          table, row: row[0].integer,
          wasThere ? "its element no longer exists" : "its element does not exist and never did")
      )
    }
    for row in try connection.all(
      """
      SELECT \(raw: key) FROM \(raw: table)_docsize EXCEPT SELECT \(raw: key) FROM \(raw: content)
      ORDER BY 1
      """)
    {
      violations.append(Violation(table, row: row[0].integer, "it has a length but no words"))
    }
    for (column, words) in zip(columns, kind.contentColumns(columns.map(\.name))) {
      // FTS5 has no affinity: a number there is text in the soup's table.
      let sql: SQL = """
        SELECT s.id, s.\(raw: column.name), f.\(raw: words)
        FROM \(raw: soup.table) s JOIN \(raw: content) f ON f.\(raw: key) = s.id
        WHERE s.\(raw: column.name) IS NOT f.\(raw: words)
        """
      for row in try connection.all(sql) where !IndexAgreement.isSameText(row[1], row[2]) {
        violations.append(
          Violation(
            table, row: row[0].integer, path: column.spec.path, "the words do not match the column")
        )
      }
    }
  }
}
