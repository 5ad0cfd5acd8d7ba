import SQLite

/// Runs SOQL for one user.
struct QueryRunner {
  let store: OrgStore
  let user: OrgUser
  let version: String
  /// The maximum number of children of one record per page; the others have a separate locator.
  var childPageSize = OrgLimits.children
  /// Whether reading the next page of parents invalidates the locators of children on earlier
  /// pages.
  var endsChildLocators = true

  /// Returns the first page of a statement.
  func run(_ soql: String, includeDeleted: Bool, batchSize: Int) throws -> QueryPage {
    let query = try SOQLParser.parse(soql)
    if query.from.text.lowercased() == RecordAccessQuery.name.lowercased() {
      return try RecordAccessQuery(store: store, user: user).run(query)
    }
    let all = includeDeleted || query.allRows
    let object = try object(of: query)
    try checkLimits(query)
    var scope = try QueryScope(store: store, user: user, object: object, of: query)
    if query.countsRows { return try count(query, &scope, all) }
    if query.isAggregate {
      return try AggregateRunner(store: store, includeDeleted: all).run(query, scope: &scope)
    }
    // The list is planned first, so that an invalid field is rejected before anything is read.
    let plan = try rowPlan(query, object, includeDeleted: all)
    let sequences = try matching(query, &scope, includeDeleted: all)
    let size = max(1, batchSize)
    let page = try encode(sequences.prefix(size), plan, nesting(size))
    if query.forView || query.forReference {
      try note(sequences.prefix(size), of: object, query)
    }
    var cursor = Cursor(
      id: "", userID: user.id, soql: soql, includeDeleted: all, total: sequences.count)
    var locator: String?
    if sequences.count > size {
      cursor.id = store.cursors.newID()
      locator = "\(cursor.id)-\(size)"
    }
    guard locator != nil || !page.nested.isEmpty else {
      return QueryPage(
        totalSize: sequences.count, locator: nil, records: page.bytes, count: page.count,
        isOfIDs: query.selectsIDs)
    }
    try store.transaction {
      if locator != nil { try store.cursors.save(cursor, sequences) }
      try save(page.nested, under: cursor)
      try store.cursors.prune(userID: user.id)
    }
    return QueryPage(
      totalSize: sequences.count, locator: locator, records: page.bytes, count: page.count,
      isOfIDs: query.selectsIDs)
  }

  private func nesting(_ size: Int) -> NestedPages {
    NestedPages(
      cursors: store.cursors, size: max(1, min(size, childPageSize)),
      root: "/services/data/v\(version)/query/")
  }

  /// Saves the remaining children of subqueries for their locators.
  private func save(_ nested: [NestedPages.Rest], under outer: Cursor) throws {
    for rest in nested {
      try store.cursors.save(
        Cursor(
          id: rest.cursorID, userID: outer.userID, soql: outer.soql,
          includeDeleted: outer.includeDeleted, total: rest.sequences.count,
          path: outer.path.isEmpty ? rest.path : outer.path + "." + rest.path, outer: outer.id),
        rest.sequences)
    }
  }

  /// Returns a further page of an earlier statement.
  func more(_ locator: String, batchSize: Int) throws -> QueryPage {
    let invalid = OrgError(code: "INVALID_QUERY_LOCATOR", message: "invalid query locator")
    let parts = locator.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let offset = Int(parts[1]), offset >= 0,
      let cursor = try store.cursors.find(String(parts[0])), cursor.userID == user.id,
      offset < cursor.total
    else { throw invalid }
    let statement = try SOQLParser.parse(cursor.soql)
    let (query, object) = try subquery(cursor.path, of: statement, object(of: statement))
    let plan = try rowPlan(query, object, includeDeleted: cursor.includeDeleted)
    let size = cursor.path.isEmpty ? batchSize : min(batchSize, childPageSize)
    let end = min(cursor.total, offset + max(1, size))
    let sequences = try store.cursors.sequences(cursor, offset..<end)
    let page = try encode(sequences[...], plan, nesting(batchSize))
    if query.hasChildren {
      try store.transaction {
        if endsChildLocators { try store.cursors.endNested(of: cursor) }
        try save(page.nested, under: cursor)
        try store.cursors.prune(userID: user.id)
      }
    }
    if end == cursor.total { try store.cursors.finish(cursor) }
    return QueryPage(
      totalSize: cursor.total, locator: end < cursor.total ? "\(cursor.id)-\(end)" : nil,
      records: page.bytes, count: page.count, isOfIDs: query.selectsIDs)
  }

  /// Returns the subquery at a path of indexes, and the object that it reads.
  private func subquery(_ path: String, of query: SOQLQuery, _ object: ObjectSchema) throws -> (
    SOQLQuery, ObjectSchema
  ) {
    var current = (query, object)
    for place in path.split(separator: ".").compactMap({ Int($0) }) {
      let inner = current.0.selections.compactMap { selection -> SOQLQuery? in
        if case .children(let inner) = selection { inner } else { nil }
      }
      guard place < inner.count,
        let relationship = current.1.children(relationship: inner[place].from.text),
        let child = store.catalog(of: user).object(relationship.childObject)
      else { throw OrgError(code: "INVALID_QUERY_LOCATOR", message: "invalid query locator") }
      current = (inner[place], child)
    }
    return current
  }

  /// Returns the plan and the statement for rows of one object by sequence number.
  func rowPlan(_ query: SOQLQuery, _ object: ObjectSchema, includeDeleted: Bool) throws -> (
    plan: RowPlan, sql: SQL, sequenceBinding: Int32
  ) {
    let scope = try QueryScope(store: store, user: user, object: object, of: query)
    var planner = RowPlanner(
      scope: scope, version: version, now: store.clock.now(), includeDeleted: includeDeleted)
    try planner.add(query.selections)
    let plan = planner.finished()
    let alias = scope.alias
    let head: SQL = """
      SELECT \(raw: plan.columns.joined(separator: ", ")) FROM \(try planner.scope.from()) WHERE \
      \(raw: alias)."seq" =
      """
    var sql: SQL = "\(head) \(SQLiteValue.null)"
    if !includeDeleted { sql += " AND \(raw: alias).\"IsDeleted\" = 0" }
    if let visible = try Visibility(store: store, user: user).probe(object, alias) {
      sql += " AND \(visible)"
    }
    return (plan, sql, Int32(head.bindings.count + 1))
  }

  /// Returns the records with these sequence numbers as a JSON array, without those that no longer
  /// exist.
  func encode(
    _ sequences: ArraySlice<Int64>, _ rows: (plan: RowPlan, sql: SQL, sequenceBinding: Int32),
    _ nesting: NestedPages? = nil
  ) throws -> (bytes: [UInt8], count: Int, nested: [NestedPages.Rest]) {
    let statement = try store.prepared(rows.sql.text)
    try statement.bind(rows.sql.bindings)
    var encoder = RecordEncoder(store: store, reserving: sequences.count * 256)
    encoder.nesting = nesting
    encoder.append("[")
    var count = 0
    for sequence in sequences {
      try statement.bind(rows.sequenceBinding, sequence)
      if try statement.step() {
        if count > 0 { encoder.append(",") }
        try encoder.append(statement, rows.plan)
        count += 1
      }
      statement.reset()
    }
    encoder.append("]")
    return (encoder.bytes, count, encoder.nesting?.rests ?? [])
  }

  /// FOR VIEW and FOR REFERENCE: the first record of the page becomes the newest recent item.
  private func note(_ sequences: ArraySlice<Int64>, of object: ObjectSchema, _ query: SOQLQuery)
    throws
  {
    let recent = RecentItems(store: store, user: user)
    try store.transaction {
      for sequence in sequences.prefix(RecentItems.most).reversed() {
        let id = OrgID.make(prefix: object.keyPrefix, sequence: sequence)
        if query.forReference { try recent.note(id, of: object, .referenced) }
        if query.forView { try recent.note(id, of: object, .viewed) }
      }
    }
  }

  // MARK: Matches

  func object(of query: SOQLQuery) throws -> ObjectSchema {
    guard query.from.parts.count == 1, let object = store.catalog(of: user).object(query.from.text)
    else {
      throw OrgError(
        code: "INVALID_TYPE",
        message: QueryError.place(query.from) + OrgError.unknownObject(query.from.text).message)
    }
    return object
  }

  func checkLimits(_ query: SOQLQuery) throws {
    if let offset = query.offset, offset > 2000 {
      throw OrgError(
        code: "NUMBER_OUTSIDE_VALID_RANGE",
        message: "Maximum SOQL offset allowed is 2000, but \(offset) was given")
    }
    let listsFields = query.selections.contains {
      if case .allFields(let which, _) = $0 { return which != "STANDARD" }
      return false
    }
    if listsFields, query.limit.map({ $0 > 200 }) ?? true {
      throw OrgError(
        code: "MALFORMED_QUERY",
        message: "The SOQL FIELDS function must have a LIMIT of at most 200")
    }
  }

  func matching(_ query: SOQLQuery, _ scope: inout QueryScope, includeDeleted: Bool) throws
    -> [Int64]
  {
    var planner = ConditionPlanner(
      scope: scope, includeDeleted: includeDeleted, now: store.clock.now())
    let condition = try planner.whole(query.condition, scope: query.scope)
    let order = try OrderPlanner.plan(query.orders, in: &planner.scope)
    var sql: SQL = """
      SELECT \(raw: scope.alias)."seq" FROM \(try planner.scope.from()) WHERE \(condition) \
      ORDER BY \(order)
      """
    if query.limit != nil || query.offset != nil { sql += " LIMIT \(query.limit ?? -1)" }
    if let offset = query.offset { sql += " OFFSET \(offset)" }
    return try store.integers(sql)
  }

  private func count(_ query: SOQLQuery, _ scope: inout QueryScope, _ includeDeleted: Bool) throws
    -> QueryPage
  {
    var planner = ConditionPlanner(
      scope: scope, includeDeleted: includeDeleted, now: store.clock.now())
    let condition = try planner.whole(query.condition, scope: query.scope)
    let sql: SQL = "SELECT count(*) FROM \(try planner.scope.from()) WHERE \(condition)"
    let total = try Int(store.integers(sql).first ?? 0)
    return QueryPage(
      totalSize: min(total, query.limit ?? total), locator: nil, records: Array("[]".utf8),
      count: 0)
  }
}

extension OrgStore {
  /// The integers in the first column of a statement's rows.
  func integers(_ sql: SQL) throws -> [Int64] {
    let statement = try prepared(sql.text)
    try statement.bind(sql.bindings)
    defer { statement.reset() }
    var values: [Int64] = []
    while try statement.step() { values.append(statement.columnInteger(0)) }
    return values
  }
}
