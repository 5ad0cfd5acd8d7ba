import SQLite

/// Answers `COUNT(Id)`, `MAX(…)` and the like, with or without GROUP BY.
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
    let groups = try query.groups.map { try planner.scope.resolve($0).column }
    var sql: SQL = """
      SELECT \(raw: columns.map(\.sql).joined(separator: ", ")) FROM \(try planner.scope.from()) \
      WHERE \(condition)
      """
    if !groups.isEmpty {
      let list = groups.joined(separator: ", ")
      sql += " GROUP BY \(raw: list) ORDER BY \(raw: list)"
    }
    sql += " LIMIT \(query.limit ?? 2000)"
    return try encode(sql, columns)
  }

  private func columns(_ query: SOQLQuery, in scope: inout QueryScope) throws -> [Column] {
    var unnamed = 0
    func name(_ alias: String?) -> String {
      if let alias { return alias }
      defer { unnamed += 1 }
      return "expr\(unnamed)"
    }
    let grouped = query.groups.map { $0.text.lowercased() }
    var columns: [Column] = []
    for selection in query.selections {
      switch selection {
      case .countRows:
        columns.append(Column(name: name(nil), sql: "count(*)", type: .int))
      case .field(let path, let alias):
        guard grouped.contains(path.text.lowercased()) else {
          throw OrgError(
            code: "MALFORMED_QUERY",
            message: QueryError.place(path)
              + "Field must be grouped or aggregated: \(path.text)")
        }
        let target = try scope.resolve(path)
        columns.append(
          Column(name: alias ?? target.field.name, sql: target.column, type: target.field.type))
      case .aggregate(let function, let path, let alias):
        columns.append(try aggregate(function, try scope.resolve(path), name(alias)))
      case .children, .allFields:
        throw OrgError(
          code: "MALFORMED_QUERY", message: "a grouped query selects fields and aggregates only")
      }
    }
    return columns
  }

  private func aggregate(_ function: String, _ target: ResolvedField, _ name: String) throws
    -> Column
  {
    switch function {
    case "COUNT": return Column(name: name, sql: "count(\(target.column))", type: .int)
    case "COUNT_DISTINCT":
      return Column(name: name, sql: "count(DISTINCT \(target.column))", type: .int)
    case "SUM", "AVG":
      guard target.field.type.isNumber else {
        throw OrgError(
          code: "INVALID_FIELD",
          message: "field \(target.field.name) does not support aggregate operator \(function)")
      }
      return Column(name: name, sql: "\(function)(\(target.column))", type: target.field.type)
    default:
      return Column(name: name, sql: "\(function)(\(target.column))", type: target.field.type)
    }
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
  /// A member by its name and the type of its value.
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
