/// Parses a SOQL statement, or a condition alone.
struct SOQLParser {
  let tokens: [SOQLToken]
  var place = 0
  /// The statement, for error messages.
  private let statement: String
  /// Whether aggregate values may be compared.
  private var isInHaving = false

  /// Parses a whole statement.
  static func parse(_ statement: String) throws(OrgError) -> SOQLQuery {
    guard statement.utf8.count <= 100_000 else {
      throw OrgError(code: "QUERY_TOO_COMPLICATED", message: "SOQL statement is too long")
    }
    var parser = SOQLParser(
      tokens: try SOQLLexer.tokens(of: statement), statement: statement)
    let query = try parser.query(depth: 0)
    try parser.expectEnd()
    return query
  }

  /// Parses the text after WHERE.
  static func condition(_ text: String) throws(OrgError) -> SOQLCondition {
    var parser = SOQLParser(tokens: try SOQLLexer.tokens(of: text))
    let condition = try parser.condition(depth: 0)
    try parser.expectEnd()
    return condition
  }

  init(tokens: [SOQLToken], statement: String = "") {
    self.tokens = tokens
    self.statement = statement
  }

  // MARK: Statement

  private mutating func query(depth: Int) throws(OrgError) -> SOQLQuery {
    guard depth < 6 else { throw unexpected() }
    var query = SOQLQuery()
    try expect("SELECT")
    repeat { query.selections.append(try selection(depth: depth)) } while take(symbol: ",")
    try expect("FROM")
    query.from = try path()
    query.alias = alias()
    try parents(of: &query)
    try clauses(of: &query, depth: depth)
    try checkAliases(of: query)
    return query
  }

  /// Parses the names of parents in a FROM: `FROM Contact c, c.Account a, a.Owner o`.
  private mutating func parents(of query: inout SOQLQuery) throws(OrgError) {
    let roots = Set([query.from.text, query.alias].compactMap { $0?.lowercased() })
    while take(symbol: ",") {
      var path = try path()
      let first = path.parts.removeFirst().lowercased()
      let above: [String]? = roots.contains(first) ? [] : query.parents[first]?.parts
      guard let above, !path.parts.isEmpty else {
        throw OrgError(
          code: "MALFORMED_QUERY",
          message: QueryError.place(path)
            + "A driving SObject type has already been set, all other entity types in the FROM "
            + "clause must be relationships to the initial object. The driving object is "
            + query.from.text)
      }
      path.parts = above + path.parts
      guard let name = alias() else { throw unexpected() }
      guard !roots.contains(name.lowercased()),
        query.parents.updateValue(path, forKey: name.lowercased()) == nil
      else { throw QueryError.duplicateAlias(path, name) }
    }
  }

  /// Rejects a field alias outside grouped queries: the word after a field is usually a field with
  /// a missing comma.
  func checkAliases(of query: SOQLQuery) throws(OrgError) {
    guard query.groups.isEmpty else { return }
    for case .field(let path, _?) in query.selections where path.functions.isEmpty {
      throw OrgError(
        code: "MALFORMED_QUERY",
        message: QueryError.place(path) + "only aggregate expressions use field aliasing")
    }
  }

  private static let clauseWords: Set<String> = [
    "USING", "WHERE", "WITH", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "FOR", "ALL",
    "UPDATE",
  ]

  mutating func clauses(of query: inout SOQLQuery, depth: Int) throws(OrgError) {
    if take("USING") {
      try expect("SCOPE")
      query.scope = try word()
    }
    if take("WHERE") { query.condition = try condition(depth: depth) }
    if take("WITH") {
      guard take("SECURITY_ENFORCED") || take("USER_MODE") else { throw unexpected() }
    }
    if take("GROUP") {
      try expect("BY")
      repeat { query.groups.append(try operand()) } while take(symbol: ",")
    }
    if take("HAVING") {
      isInHaving = true
      query.having = try condition(depth: depth)
      isInHaving = false
    }
    if take("ORDER") {
      try expect("BY")
      repeat { query.orders.append(try order()) } while take(symbol: ",")
    }
    if take("LIMIT") { query.limit = try count() }
    if take("OFFSET") { query.offset = try count() }
    while take("FOR") {
      if take("VIEW") {
        query.forView = true
      } else if take("REFERENCE") {
        query.forReference = true
      } else {
        try expect("UPDATE")
      }
    }
    if take("ALL") {
      try expect("ROWS")
      query.allRows = true
    }
  }

  mutating func selection(depth: Int) throws(OrgError) -> SOQLSelection {
    if take(symbol: "(") {
      let children = try query(depth: depth + 1)
      try expect(symbol: ")")
      return .children(children)
    }
    guard !isWord("FROM") else { throw unexpected() }
    if isWord("TYPEOF"), place + 1 < tokens.count, case .word = tokens[place + 1].kind,
      !isWord("FROM", ahead: 1)
    {
      return try typeOf()
    }
    if let path = try function(SOQLFunction.dates) { return .field(path, alias: alias()) }
    if let path = try function(SOQLFunction.aggregates) { return .aggregate(path, alias: alias()) }
    let path = try path()
    guard token.kind == .symbol("(") else { return .field(path, alias: alias()) }
    place += 1
    let function = path.text.uppercased()
    if function == "COUNT", take(symbol: ")") { return .countRows }
    switch function {
    case "FIELDS":
      let which = try self.path()
      try expect(symbol: ")")
      return .allFields(which.text.uppercased(), path)
    case _ where SOQLFunction.ofRows.contains(function):
      place -= 2
      guard let path = try self.function(SOQLFunction.ofRows) else { throw unexpected() }
      return .field(path, alias: alias())
    default:
      place -= 1
      throw unexpected()
    }
  }

  /// `TYPEOF What WHEN Account THEN Phone ELSE Name END`.
  private mutating func typeOf() throws(OrgError) -> SOQLSelection {
    try expect("TYPEOF")
    let lookup = try path()
    var branches: [(object: SOQLPath, fields: [SOQLPath])] = []
    while take("WHEN") {
      let object = try path()
      try expect("THEN")
      branches.append((object, try paths()))
    }
    guard !branches.isEmpty else { throw unexpected() }
    let rest = take("ELSE") ? try paths() : []
    try expect("END")
    return .typeOf(lookup, branches, otherwise: rest)
  }

  private mutating func paths() throws(OrgError) -> [SOQLPath] {
    var paths: [SOQLPath] = []
    repeat { paths.append(try path()) } while take(symbol: ",")
    return paths
  }

  /// A field, or a function of one.
  private mutating func operand() throws(OrgError) -> SOQLPath {
    let known = SOQLFunction.dates.union(SOQLFunction.aggregates)
    if let path = try function(known) { return path }
    return try path()
  }

  /// Parses one of these functions if one follows; `COUNT()` is not one.
  private mutating func function(_ known: Set<String>) throws(OrgError) -> SOQLPath? {
    guard case .word(let word) = token.kind, known.contains(word.uppercased()),
      place + 2 < tokens.count, tokens[place + 1].kind == .symbol("("),
      tokens[place + 2].kind != .symbol(")")
    else { return nil }
    let first = token
    place += 2
    var path: SOQLPath
    // The org's time zone is GMT, so there is nothing to convert.
    if isWord("CONVERTTIMEZONE") {
      place += 1
      try expect(symbol: "(")
      path = try self.path()
      try expect(symbol: ")")
    } else {
      path = try self.path()
    }
    try expect(symbol: ")")
    path = SOQLPath(
      parts: path.parts, line: first.line, column: first.column, statement: statement)
    path.functions = [word.uppercased()]
    return path
  }

  private mutating func alias() -> String? {
    guard case .word(let word) = token.kind, word.uppercased() != "FROM",
      !Self.clauseWords.contains(word.uppercased())
    else { return nil }
    place += 1
    return word
  }

  private mutating func order() throws(OrgError) -> SOQLOrder {
    var order = SOQLOrder(path: try operand())
    if take("DESC") { order.descending = true } else { _ = take("ASC") }
    if take("NULLS") {
      if take("LAST") { order.nullsLast = true } else { try expect("FIRST") }
    }
    return order
  }

  mutating func count() throws(OrgError) -> Int {
    guard case .number(let digits) = token.kind, let value = Int(digits), value >= 0 else {
      throw unexpected()
    }
    place += 1
    return value
  }

  // MARK: Conditions

  /// Parses a chain of AND or of OR; an org rejects a mix of both without parentheses.
  private mutating func condition(depth: Int) throws(OrgError) -> SOQLCondition {
    guard depth < 64 else { throw unexpected() }
    let first = try factor(depth: depth)
    var parts = [first]
    if take("AND") {
      repeat { parts.append(try factor(depth: depth)) } while take("AND")
      if isWord("OR") { throw unexpected() }
      return .and(parts)
    }
    if take("OR") {
      repeat { parts.append(try factor(depth: depth)) } while take("OR")
      if isWord("AND") { throw unexpected() }
      return .or(parts)
    }
    return first
  }

  private mutating func factor(depth: Int) throws(OrgError) -> SOQLCondition {
    if take("NOT") { return .not(try factor(depth: depth + 1)) }
    if take(symbol: "(") {
      let inner = try condition(depth: depth + 1)
      try expect(symbol: ")")
      return inner
    }
    return try comparison(depth: depth)
  }

  private mutating func comparison(depth: Int) throws(OrgError) -> SOQLCondition {
    let path: SOQLPath
    if !isInHaving, let label = try function(SOQLFunction.labels) {
      path = label
    } else {
      path = try operand()
    }
    if path.isAggregate, !isInHaving {
      throw OrgError(
        code: "MALFORMED_QUERY",
        message: QueryError.place(path) + "Only HAVING can compare \(path.text)")
    }
    if take("LIKE") { return .compare(path, .like, try literal()) }
    if take("IN") { return try membership(path, negated: false, depth: depth) }
    if isWord("NOT"), isWord("IN", ahead: 1) {
      place += 2
      return try membership(path, negated: true, depth: depth)
    }
    if take("INCLUDES") { return .includes(path, try texts(), negated: false) }
    if take("EXCLUDES") { return .includes(path, try texts(), negated: true) }
    guard case .symbol(let symbol) = token.kind, let comparison = SOQLComparison(rawValue: symbol)
    else { throw unexpected() }
    place += 1
    return .compare(path, comparison, try literal())
  }

  private mutating func membership(_ path: SOQLPath, negated: Bool, depth: Int)
    throws(OrgError) -> SOQLCondition
  {
    try expect(symbol: "(")
    if isWord("SELECT") {
      let inner = try query(depth: depth + 1)
      try expect(symbol: ")")
      return .inQuery(path, inner, negated: negated)
    }
    var values: [SOQLLiteral] = []
    repeat { values.append(try literal()) } while take(symbol: ",")
    try expect(symbol: ")")
    return .inList(path, values, negated: negated)
  }

  private mutating func texts() throws(OrgError) -> [String] {
    try expect(symbol: "(")
    var values: [String] = []
    repeat {
      guard case .text(let value) = token.kind else { throw unexpected() }
      values.append(value)
      place += 1
    } while take(symbol: ",")
    try expect(symbol: ")")
    return values
  }

  private mutating func literal() throws(OrgError) -> SOQLLiteral {
    let value: SOQLLiteral
    switch token.kind {
    case .text(let text):
      guard text.count <= 4000 else {
        throw OrgError(code: "MALFORMED_QUERY", message: "String literal is too long")
      }
      value = .text(text)
    case .number(let number): value = .number(number)
    case .date(let date): value = .date(date)
    case .dateTime(let moment): value = .dateTime(moment)
    case .time(let time): value = .time(time)
    case .word(let word):
      switch word.uppercased() {
      case "NULL": value = .null
      case "TRUE": value = .bool(true)
      case "FALSE": value = .bool(false)
      default: return try relative(word)
      }
    default: throw unexpected()
    }
    place += 1
    return value
  }

  private mutating func relative(_ word: String) throws(OrgError) -> SOQLLiteral {
    let name = word.uppercased()
    if SOQLDateLiteral.takesCount(name) {
      place += 1
      try expect(symbol: ":")
      return .relative(name, try count())
    }
    guard SOQLDateLiteral.isFixed(name) else { throw unexpected() }
    place += 1
    return .relative(name, nil)
  }

  // MARK: Tokens

  var token: SOQLToken { tokens[min(place, tokens.count - 1)] }

  mutating func path() throws(OrgError) -> SOQLPath {
    let first = token
    var parts = [try word()]
    while take(symbol: ".") { parts.append(try word()) }
    return SOQLPath(
      parts: parts, line: first.line, column: first.column, statement: statement)
  }

  mutating func word() throws(OrgError) -> String {
    guard case .word(let word) = token.kind else { throw unexpected() }
    place += 1
    return word
  }

  func isWord(_ keyword: String, ahead: Int = 0) -> Bool {
    guard place + ahead < tokens.count, case .word(let word) = tokens[place + ahead].kind else {
      return false
    }
    return word.uppercased() == keyword
  }

  mutating func take(_ keyword: String) -> Bool {
    guard isWord(keyword) else { return false }
    place += 1
    return true
  }

  mutating func take(symbol: String) -> Bool {
    guard token.kind == .symbol(symbol) else { return false }
    place += 1
    return true
  }

  mutating func expect(_ keyword: String) throws(OrgError) {
    guard take(keyword) else { throw unexpected() }
  }

  mutating func expect(symbol: String) throws(OrgError) {
    guard take(symbol: symbol) else { throw unexpected() }
  }

  func expectEnd() throws(OrgError) {
    guard token.kind == .end else { throw unexpected() }
  }

  func unexpected() -> OrgError {
    let shown = token.kind == .end ? "<EOF>" : token.source
    return OrgError(
      code: "MALFORMED_QUERY",
      message: QueryError.place(line: token.line, column: token.column, in: statement)
        + "unexpected token: '\(shown)'")
  }
}
