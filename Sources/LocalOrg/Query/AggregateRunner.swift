import SQLite

/// Runs queries with `COUNT(Id)`, `MAX(…)` and the like, with or without GROUP BY.
struct AggregateRunner {
  let store: OrgStore
  let includeDeleted: Bool

  private struct Column {
    let name: String
    let sql: String
    let type: FieldType
  }

  func run(_ query: SOQLQuery, scope: inout QueryScope) throws -> QueryPage {
    var planner = ConditionPlanner(
      scope: scope, includeDeleted: includeDeleted, now: store.clock.now())
    let condition = try planner.whole(query.condition, scope: query.scope)
    let columns = try columns(query, in: &planner.scope)
    let groups = try query.groups.map { try group($0, in: &planner.scope) }
    let order = try order(query, columns, groups, in: &planner.scope)
    let having = try query.having.map { try planner.plan($0) }
    var sql: SQL = """
      SELECT \(raw: columns.map(\.sql).joined(separator: ", ")) FROM \(try planner.scope.from()) \
      WHERE \(condition)
      """
    if !groups.isEmpty {
      sql += " GROUP BY \(raw: groups.joined(separator: ", "))"
    }
    if let having { sql += " HAVING \(having)" }
    if !order.isEmpty { sql += " ORDER BY \(raw: order.joined(separator: ", "))" }
    sql += " LIMIT \(query.limit ?? 2000)"
    if let offset = query.offset { sql += " OFFSET \(offset)" }
    return try encode(sql, columns)
  }

  /// Returns the expression to group by; throws if an org does not support it.
  private func group(_ path: SOQLPath, in scope: inout QueryScope) throws -> String {
    let target = try scope.resolve(path)
    guard !path.functions.isEmpty || target.field.isGroupable, !path.isAggregate else {
      throw OrgError(
        code: "MALFORMED_QUERY",
        message: QueryError.place(path)
          + "field '\(path.text)' can not be grouped in a query call")
    }
    return target.column
  }

  /// The order of the groups; by their values if the statement has none.
  private func order(
    _ query: SOQLQuery, _ columns: [Column], _ groups: [String], in scope: inout QueryScope
  ) throws -> [String] {
    guard !query.orders.isEmpty else { return groups }
    return try query.orders.map { order in
      let named = columns.first { $0.name.lowercased() == order.path.text.lowercased() }
      let sql = try named?.sql ?? scope.resolve(order.path).column
      return sql + (order.descending ? " DESC" : "")
        + (order.nullsLast ? " NULLS LAST" : " NULLS FIRST")
    }
  }

  private func columns(_ query: SOQLQuery, in scope: inout QueryScope) throws -> [Column] {
    var unnamed = 0
    func name(_ alias: String?) -> String {
      if let alias { return alias }
      defer { unnamed += 1 }
      return "expr\(unnamed)"
    }
    let grouped = query.groups.map { scope.name(of: $0) }
    var columns: [Column] = []
    var names: Set<String> = []
    func add(_ column: Column, at path: SOQLPath) throws {
      guard names.insert(column.name.lowercased()).inserted else {
        throw QueryError.duplicateAlias(path, column.name)
      }
      columns.append(column)
    }
    for selection in query.selections {
      switch selection {
      case .countRows:
        try add(Column(name: name(nil), sql: "count(*)", type: .int), at: query.from)
      case .field(let path, let alias):
        // A label function applies to a grouped value.
        let isOfRow = path.functions.allSatisfy(SOQLFunction.ofRows.contains)
        let group = isOfRow ? path.withoutFunctions : path
        guard grouped.contains(scope.name(of: group)) else {
          throw OrgError(
            code: "MALFORMED_QUERY",
            message: QueryError.place(path)
              + "Field must be grouped or aggregated: \(path.text)")
        }
        let target = try scope.resolve(path)
        let label = alias ?? (isOfRow ? target.field.name : name(nil))
        try add(Column(name: label, sql: target.column, type: target.field.type), at: path)
      case .aggregate(let path, let alias):
        let target = try scope.resolve(path)
        try add(
          Column(name: name(alias), sql: target.column, type: target.field.type), at: path)
      case .children, .allFields, .typeOf:
        throw OrgError(
          code: "MALFORMED_QUERY", message: "a grouped query selects fields and aggregates only")
      }
    }
    return columns
  }

  private func encode(_ sql: SQL, _ columns: [Column]) throws -> QueryPage {
    let statement = try store.prepared(sql.text)
    try statement.bind(sql.bindings)
    defer { statement.reset() }
    var encoder = RecordEncoder(store: store)
    var count = 0
    encoder.append("[")
    while try statement.step() {
      if count > 0 { encoder.append(",") }
      encoder.append("{\"attributes\":{\"type\":\"AggregateResult\"}")
      for (index, column) in columns.enumerated() {
        encoder.appendMember(statement, Int32(index), column.name, column.type)
      }
      encoder.append("}")
      count += 1
    }
    encoder.append("]")
    return QueryPage(totalSize: count, locator: nil, records: encoder.bytes, count: count)
  }
}

extension RecordEncoder {
  /// Appends a member with the given name and a value of its type.
  fileprivate mutating func appendMember(
    _ statement: Statement, _ index: Int32, _ name: String, _ type: FieldType
  ) {
    append(bytes: Array(",\"\(name)\":".utf8))
    if type.isNumber {
      appendRaw(statement, index)
    } else if type == .boolean {
      append(bytes: Array((statement.columnInteger(index) != 0 ? "true" : "false").utf8))
    } else {
      appendText(statement, index)
    }
  }
}
