import SQLite

/// Translates an ORDER BY to SQL; ties are ordered by ID.
enum OrderPlanner {
  static func plan(_ orders: [SOQLOrder], in scope: inout QueryScope) throws -> SQL {
    var terms: [String] = []
    for order in orders {
      guard order.path.functions.isEmpty else {
        throw OrgError(
          code: "MALFORMED_QUERY",
          message: QueryError.place(order.path) + "\(order.path.text) can not be sorted in a query "
            + "that is not grouped")
      }
      let target = try scope.resolve(order.path)
      guard target.field.sortable, !target.field.isCompound else {
        throw OrgError(
          code: "MALFORMED_QUERY",
          message: QueryError.place(order.path)
            + "field '\(target.field.name)' can not be sorted in a query call")
      }
      let direction = order.descending ? " DESC" : ""
      if target.field.type == .id, target.alias == scope.alias {
        terms.append("\(scope.alias).\"seq\"\(direction)")
        continue
      }
      let nulls = order.nullsLast ? " NULLS LAST" : " NULLS FIRST"
      terms.append(target.column + FilterValue.collation(target.field) + direction + nulls)
    }
    terms.append("\(scope.alias).\"seq\"")
    return SQL(terms.joined(separator: ", "))
  }
}
