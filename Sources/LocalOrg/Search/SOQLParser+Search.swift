/// SOSL: `FIND {words} IN NAME FIELDS RETURNING Account(Id, Name WHERE … LIMIT 10) LIMIT 100`.
extension SOQLParser {
  /// Parses a whole search.
  static func search(_ statement: String) throws(OrgError) -> SOSLQuery {
    do throws(OrgError) {
      let (text, rest) = try cut(statement)
      var query = SOSLQuery(expression: try SearchTextParser.parse(text))
      var parser = SOQLParser(
        tokens: try SOQLLexer.tokens(of: rest), statement: statement)
      try parser.search(&query)
      return query
    } catch  where error.code == "MALFORMED_QUERY" {
      throw OrgError(code: "MALFORMED_SEARCH", message: error.message)
    }
  }

  /// Returns the text in the braces, and the statement with spaces up to the closing brace.
  private static func cut(_ statement: String) throws(OrgError) -> (text: String, rest: String) {
    let missing = OrgError(
      code: "MALFORMED_SEARCH",
      message: "No search term found. The search term must be enclosed in braces.")
    guard let opening = statement.firstIndex(of: "{"),
      statement[..<opening].split(whereSeparator: \.isWhitespace).map({ $0.lowercased() })
        == ["find"]
    else { throw missing }
    var index = statement.index(after: opening)
    while index < statement.endIndex, statement[index] != "}" {
      if statement[index] == "\\" { index = statement.index(after: index) }
      if index < statement.endIndex { index = statement.index(after: index) }
    }
    guard index < statement.endIndex else { throw missing }
    let text = String(statement[statement.index(after: opening)..<index])
    let end = statement.index(after: index)
    // Lines and columns in errors are those of the whole statement.
    let blanks = statement[..<end].map { $0.isNewline ? "\n" : " " }.joined()
    return (text, blanks + statement[end...])
  }

  private mutating func search(_ query: inout SOSLQuery) throws(OrgError) {
    if take("IN") {
      guard let group = SearchGroup(rawValue: try word().uppercased()) else { throw unexpected() }
      try expect("FIELDS")
      query.group = group
    }
    if take("RETURNING") {
      var objects: [SOQLQuery] = []
      repeat { objects.append(try returned()) } while take(symbol: ",")
      query.returning = objects
    }
    while take("WITH") {
      // Divisions, networks, snippets and the like do not exist here; they are parsed and ignored.
      while token.kind != .end, !isWord("WITH"), !isWord("LIMIT"), !isWord("UPDATE") { place += 1 }
    }
    if take("LIMIT") {
      let limit = try count()
      guard (1...SearchRunner.most).contains(limit) else {
        throw OrgError(
          code: "MALFORMED_SEARCH",
          message: "LIMIT is between 1 and \(SearchRunner.most), but \(limit) was given")
      }
      query.limit = limit
    }
    if take("UPDATE") {
      repeat { _ = try word() } while take(symbol: ",")
    }
    try expectEnd()
  }

  private mutating func returned() throws(OrgError) -> SOQLQuery {
    var query = SOQLQuery()
    query.from = try path()
    guard take(symbol: "(") else { return query }
    repeat { query.selections.append(try selection(depth: 1)) } while take(symbol: ",")
    if isWord("USING"), isWord("LISTVIEW", ahead: 1) {
      place += 2
      try expect(symbol: "=")
      _ = try word()
    }
    try clauses(of: &query, depth: 1)
    guard query.groups.isEmpty, !query.forView, !query.forReference, !query.allRows else {
      throw unexpected()
    }
    try expect(symbol: ")")
    try checkAliases(of: query)
    return query
  }
}
