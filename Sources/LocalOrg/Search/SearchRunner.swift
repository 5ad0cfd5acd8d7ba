import SQLite

/// Runs searches for one user, by scanning all visible records.
struct SearchRunner {
  let store: OrgStore
  let user: OrgUser
  let version: String
  /// The maximum number of records in a result.
  static let most = 2000

  func run(_ search: SOSLQuery) throws -> SearchPage {
    let queries = search.returning ?? everything()
    var plans: [(object: ObjectSchema, query: SOQLQuery)] = []
    for var query in queries {
      let object = try object(of: query)
      if query.selections.isEmpty { query.selections = [Self.id] }
      plans.append((object, query))
    }
    let runner = QueryRunner(store: store, user: user, version: version)
    // The lists are planned first, so that an invalid field is rejected before anything is read.
    let rows = try plans.map {
      try runner.rowPlan($0.query, $0.object, includeDeleted: false)
    }
    let found = try plans.map { try matches($0.query, $0.object, search) }
    let shares = Self.shares(found.map(\.count), limit: min(search.limit ?? Self.most, Self.most))
    var records: [UInt8] = [UInt8(ascii: "[")]
    var count = 0
    for (index, share) in shares.enumerated() where share > 0 {
      let page = try runner.encode(found[index].prefix(share), rows[index])
      guard page.count > 0 else { continue }
      if count > 0 { records.append(UInt8(ascii: ",")) }
      records += page.bytes.dropFirst().dropLast()
      count += page.count
    }
    records.append(UInt8(ascii: "]"))
    return SearchPage(records: records, count: count)
  }

  private static var id: SOQLSelection {
    .field(SOQLPath(parts: ["Id"], line: 1, column: 1), alias: nil)
  }

  private func everything() -> [SOQLQuery] {
    store.catalog(of: user).objects.filter(\.isSearchable).map { object in
      var query = SOQLQuery()
      query.from = SOQLPath(parts: [object.name], line: 1, column: 1)
      return query
    }
  }

  private func object(of query: SOQLQuery) throws -> ObjectSchema {
    guard query.from.parts.count == 1,
      let object = store.catalog(of: user).object(query.from.text)
    else {
      throw OrgError(
        code: "INVALID_TYPE",
        message: QueryError.place(query.from) + OrgError.unknownObject(query.from.text).message)
    }
    guard object.isSearchable else {
      throw OrgError(
        code: "INVALID_TYPE",
        message: QueryError.place(query.from)
          + "sObject type '\(object.name)' cannot be searched")
    }
    return object
  }

  /// Distributes an overall limit evenly; what one object does not need is available to the others.
  static func shares(_ counts: [Int], limit: Int) -> [Int] {
    var shares = counts.map { _ in 0 }
    var left = limit
    while left > 0 {
      let hungry = counts.indices.filter { shares[$0] < counts[$0] }
      guard !hungry.isEmpty else { break }
      let each = max(1, left / hungry.count)
      for index in hungry where left > 0 {
        let taken = min(each, counts[index] - shares[index], left)
        shares[index] += taken
        left -= taken
      }
    }
    return shares
  }

  // MARK: Matching

  /// The sequence numbers of the matches in one object, in order.
  private func matches(_ query: SOQLQuery, _ object: ObjectSchema, _ search: SOSLQuery) throws
    -> [Int64]
  {
    let fields = search.group.fields(of: object)
    guard !fields.isEmpty else { return [] }
    let scope = try QueryScope(store: store, user: user, object: object)
    var planner = ConditionPlanner(scope: scope, includeDeleted: false, now: store.clock.now())
    let condition = try planner.whole(query.condition, scope: query.scope)
    let order = try OrderPlanner.plan(query.orders, in: &planner.scope)
    let columns = fields.map { scope.alias + "." + SQL.quoted(name: $0.name) }
    let sql: SQL = """
      SELECT \(raw: scope.alias)."seq", \(raw: columns.joined(separator: ", ")) \
      FROM \(try planner.scope.from()) WHERE \(condition) \
      AND \(Self.sieve(search.expression, columns)) ORDER BY \(order)
      """
    let offset = query.offset ?? 0
    guard offset <= Self.most else {
      throw OrgError(
        code: "NUMBER_OUTSIDE_VALID_RANGE",
        message: "Maximum SOSL offset allowed is \(Self.most), but \(offset) was given")
    }
    let wanted = min(query.limit ?? Self.most, Self.most) + offset
    let statement = try store.prepared(sql.text)
    try statement.bind(sql.bindings)
    defer { statement.reset() }
    var found: [Int64] = []
    while found.count < wanted, try statement.step() {
      let words = fields.indices.map { place in
        SearchExpression.words(of: statement.columnText(Int32(place + 1)) ?? "")
      }
      if search.expression.matches(words) { found.append(statement.columnInteger(0)) }
    }
    return Array(found.dropFirst(offset))
  }

  /// Returns a condition that every match fulfills, so that SQLite can exclude rows.
  ///
  /// Part of a long search is enough, since SQLite limits the depth of conditions.
  private static func sieve(_ expression: SearchExpression, _ columns: [String]) -> SQL {
    switch expression {
    case .phrase(let patterns):
      let tests = patterns.compactMap(\.literal).prefix(8).map { literal -> SQL in
        "(" + columns.map { "\(raw: $0) LIKE \("%" + literal + "%")" }.joined(separator: " OR ")
          + ")"
      }
      return tests.isEmpty ? "1" : "(" + tests.joined(separator: " AND ") + ")"
    case .all(let parts):
      return "(" + parts.prefix(8).map { sieve($0, columns) }.joined(separator: " AND ") + ")"
    case .any(let parts):
      guard parts.count <= 8 else { return "1" }
      return "(" + parts.map { sieve($0, columns) }.joined(separator: " OR ") + ")"
    case .except(let wanted, _): return sieve(wanted, columns)
    }
  }
}

extension ObjectSchema {
  /// Whether the object can be searched.
  var isSearchable: Bool { !isSetup || name == "User" }
}
