import SQLite

/// The rules for the schema of a SmartStore file: tables and indexes match the meta tables, in the
/// platform's own text, and nothing executes code.
enum StoreSchemaCheck {
  private struct Object {
    let type: String
    let name: String
    let table: String
    let sql: String?
  }

  /// The result of checking a schema.
  struct Findings {
    /// Everything that SmartStore does not create; empty for a clean file.
    var violations: [Violation] = []
    /// The interrupted alterations of soups; the schema is in the state after their last step.
    var interrupted: [SoupAlteration] = []
  }

  /// Compares the schema with the meta tables.
  static func findings(of connection: Connection, platform: Platform) throws -> Findings {
    let objects = try connection.all("SELECT type, name, tbl_name, sql FROM sqlite_schema").map {
      Object(
        type: $0[0].text ?? "", name: $0[1].text ?? "", table: $0[2].text ?? "", sql: $0[3].text)
    }
    var findings = Findings()
    // Reading the meta tables is safe only if they are plain tables.
    findings.violations = metaViolations(objects, platform)
    guard findings.violations.isEmpty else { return findings }
    findings.interrupted = try interrupted(connection, platform, &findings.violations)
    let expected = try expectations(connection, platform, objects, &findings)
    for object in objects
    where !metaNames.contains(object.name) && !isOfTheFramework(object, platform) {
      if let reason = fault(in: object, expected) {
        findings.violations.append(Violation(object.name, reason))
      }
    }
    let names = Set(objects.map(\.name))
    for name in expected.keys.sorted() where !names.contains(name) {
      findings.violations.append(Violation(name, "it is missing"))
    }
    return findings
  }

  private static func interrupted(
    _ connection: Connection, _ platform: Platform, _ violations: inout [Violation]
  ) throws -> [SoupAlteration] {
    let rows = try SoupAlteration.rows(of: connection, platform: platform)
    for row in rows where row.alteration == nil {
      violations.append(
        Violation("long_operations_status", row: row.id, "it " + SoupAlteration.unknownText))
    }
    return SoupAlteration.current(rows).map(\.alteration).sorted { $0.old.number < $1.old.number }
  }

  // MARK: meta tables

  private static let metaNames = Set(SchemaSQL(platform: .android).metaObjects.map(\.name))
    .union(["sqlite_sequence", "sqlite_stat1", "sqlite_stat4"])

  /// Whether it is the table that Android's SQLite framework creates in a database that it opens
  /// for writing.
  private static func isOfTheFramework(_ object: Object, _ platform: Platform) -> Bool {
    platform == .android && object.type == "table" && object.name == "android_metadata"
      && object.table == object.name
      && isSame(object.sql, "CREATE TABLE android_metadata (locale TEXT)")
  }

  private static func metaViolations(_ objects: [Object], _ platform: Platform) -> [Violation] {
    var violations: [Violation] = []
    let wanted = SchemaSQL(platform: platform).metaObjects
    let sequence = [("sqlite_sequence", "CREATE TABLE sqlite_sequence(name,seq)")]
    for (name, sql) in wanted + sequence {
      guard let object = objects.first(where: { $0.name == name }) else {
        violations.append(Violation(name, "it is missing"))
        continue
      }
      if isSame(object.sql ?? "", sql) { continue }
      // SDKs from 4.3 to 10.x added feature columns at the end of soup_attrs.
      if name == "soup_attrs", isLegacyAttributes(object.sql ?? "", of: sql) { continue }
      violations.append(Violation(name, "it does not match the SDK's"))
    }
    for object in objects where object.type != "table" && object.type != "index" {
      violations.append(Violation(object.name, "a store has no \(object.type)"))
    }
    return violations
  }

  private static func isLegacyAttributes(_ sql: String, of present: String) -> Bool {
    let known = tokens(present).dropLast()
    var rest = tokens(sql)[...]
    guard rest.starts(with: known), rest.last == ")" else { return false }
    rest = rest.dropFirst(known.count).dropLast()
    while !rest.isEmpty {
      // `, feature INTEGER DEFAULT 0`
      guard rest.count >= 5, rest.first == ",", isName(rest[rest.startIndex + 1]),
        rest[(rest.startIndex + 2)..<(rest.startIndex + 5)].elementsEqual(
          ["integer", "default", "0"])
      else { return false }
      rest = rest.dropFirst(5)
    }
    return true
  }

  // MARK: soups

  private struct Expectation {
    let type: String
    /// The text, of which only the tokens count; nil if there is none.
    let sql: String?
  }

  private static func expectations(
    _ connection: Connection, _ platform: Platform, _ objects: [Object],
    _ findings: inout Findings
  ) throws -> [String: Expectation] {
    let layout = SchemaSQL(platform: platform)
    var expected: [String: Expectation] = [:]
    for (name, number) in try soupNumbers(connection, &findings.violations) {
      let parts: [FullTextGrammar.Object]
      if let alteration = findings.interrupted.first(where: { $0.old.name == name }) {
        try compareMap(of: alteration, connection, &findings.violations)
        parts = alteration.objects(layout) { fullText($0, objects) }
      } else {
        guard let soup = try soup(name, number, connection, platform, &findings.violations) else {
          continue
        }
        parts = whole(soup, layout, objects)
      }
      for part in parts {
        expected[part.name] = Expectation(type: part.type, sql: part.sql)
      }
    }
    return expected
  }

  /// The objects of a soup without an alteration.
  private static func whole(
    _ soup: Soup, _ layout: SchemaSQL, _ objects: [Object]
  ) -> [FullTextGrammar.Object] {
    var parts: [FullTextGrammar.Object] = [
      .init(type: "table", name: soup.table, sql: layout.createTable(soup))
    ]
    parts += layout.createIndexes(soup).map { .init(type: "index", name: $0.name, sql: $0.sql) }
    if soup.hasFullText {
      let table = soup.fullTextTable
      parts += fullText(table, objects).objects(of: soup, table: table)
    }
    return parts
  }

  /// The version of a full-text table.
  private static func fullText(_ table: String, _ objects: [Object]) -> FullTextGrammar {
    FullTextGrammar(of: objects.first { $0.name == table }?.sql)
  }

  /// Compares `soup_index_map` with the state after the alteration's last step.
  private static func compareMap(
    of alteration: SoupAlteration, _ connection: Connection, _ violations: inout [Violation]
  ) throws {
    let name = alteration.old.name
    let rows = try connection.all(
      "SELECT path, columnName, columnType FROM soup_index_map WHERE soupName = \(name)")
    let soup = alteration.mappedSoup
    let wanted: [[SQLiteValue]] = zip(soup?.specs ?? [], soup?.columnNames ?? []).map {
      [.text($0.path), .text($1), .text($0.type.rawValue)]
    }
    if rows != wanted {
      violations.append(
        Violation(
          "soup_index_map",
          "the indexes of a soup do not match the step at which its change was interrupted"))
    }
  }

  private static func soupNumbers(
    _ connection: Connection, _ violations: inout [Violation]
  ) throws -> [(String, Int64)] {
    var soups: [(String, Int64)] = []
    var seen: Set<String> = []
    for row in try connection.all("SELECT id, soupName FROM soup_attrs ORDER BY id") {
      guard let number = row[0].integer, number > 0, let name = row[1].text, !name.isEmpty else {
        violations.append(Violation("soup_attrs", row: row[0].integer, "a soup has no name"))
        continue
      }
      guard seen.insert(name).inserted else {
        violations.append(Violation("soup_attrs", row: number, "the soup is registered twice"))
        continue
      }
      soups.append((name, number))
    }
    let rows = try connection.all("SELECT DISTINCT soupName FROM soup_index_map")
    for case let name? in rows.map({ $0[0].text }) where !seen.contains(name) {
      violations.append(Violation("soup_index_map", "it has indexes of an unregistered soup"))
    }
    return soups
  }

  private static func soup(
    _ name: String, _ number: Int64, _ connection: Connection, _ platform: Platform,
    _ violations: inout [Violation]
  ) throws -> Soup? {
    let rows = try connection.all(
      """
      SELECT path, columnName, columnType, rowid FROM soup_index_map WHERE soupName = \(name)
      """)
    var specs: [IndexSpec] = []
    for row in rows {
      guard let path = row[0].text,
        let type = row[2].text.flatMap({ IndexType(stored: $0, on: platform) })
      else {
        violations.append(
          Violation("soup_index_map", row: row[3].integer, "an index of an unknown type"))
        return nil
      }
      let spec = IndexSpec(path: path, type: type)
      guard row[1].text == SchemaSQL.column(SchemaSQL.table(number), specs.count, spec) else {
        violations.append(
          Violation(
            "soup_index_map", row: row[3].integer, path: path, "the column does not match the SDK's"
          ))
        return nil
      }
      specs.append(spec)
    }
    guard !specs.isEmpty else {
      violations.append(Violation("soup_attrs", row: number, "the soup has no index"))
      return nil
    }
    return Soup(name: name, number: number, specs: specs)
  }

  private static func fault(in object: Object, _ expected: [String: Expectation]) -> String? {
    guard let wanted = expected[object.name] else {
      return object.type == "trigger" || object.type == "view"
        ? "a store has no \(object.type)" : "no registered soup has this \(object.type)"
    }
    guard object.type == wanted.type else { return "it should be a \(wanted.type)" }
    return isSame(object.sql, wanted.sql) ? nil : "it does not match the meta tables"
  }

  // MARK: text

  /// Whether two statements have the same tokens, as those of the same bytes do.
  private static func isSame(_ sql: String?, _ wanted: String?) -> Bool {
    guard let sql, let wanted else { return sql == nil && wanted == nil }
    return sql.utf8.elementsEqual(wanted.utf8) || tokens(sql) == tokens(wanted)
  }

  /// Whether it is a plain ASCII name, as every name that SmartStore creates.
  private static func isName(_ token: String) -> Bool {
    !token.isEmpty && token.unicodeScalars.allSatisfy(isWordPart)
  }

  private static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    default: false
    }
  }

  /// The characters that SQLite considers white space, all of them ASCII.
  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    [" ", "\t", "\n", "\u{C}", "\r"].contains(scalar)
  }

  /// A word in lower case by SQLite's comparison: only ASCII letters change, so the Kelvin sign is
  /// not k.
  private static func lowercased(_ word: String) -> String {
    String(
      String.UnicodeScalarView(
        word.unicodeScalars.map { ("A"..."Z").contains($0) ? .init(UInt8($0.value) + 32) : $0 }))
  }

  /// The words and symbols of a statement.
  ///
  /// Outside quotes, case and white space have no meaning, and neither do quotes around a plain
  /// name.
  ///
  /// They are separated as in SQLite. SmartStore writes no character outside ASCII, so each one is
  /// a token.
  static func tokens(_ sql: String) -> [String] {
    var tokens: [String] = []
    var word = ""
    var quote: Unicode.Scalar?
    func flush() {
      if !word.isEmpty { tokens.append(word) }
      word = ""
    }
    for scalar in sql.unicodeScalars {
      if let open = quote {
        word.unicodeScalars.append(scalar)
        if scalar == open {
          quote = nil
          let inner = String(word.dropFirst().dropLast())
          if isName(inner) { word = lowercased(inner) }
          flush()
        }
      } else if scalar == "'" || scalar == "\"" || scalar == "`" {
        flush()
        quote = scalar
        word.unicodeScalars.append(scalar)
      } else if isSpace(scalar) {
        flush()
      } else if isWordPart(scalar) {
        word += lowercased(String(scalar))
      } else {
        flush()
        tokens.append(String(scalar))
      }
    }
    flush()
    return tokens
  }
}
