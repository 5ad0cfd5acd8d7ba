import SQLite
import System

/// Serves the briefcases of one user for one connected app.
///
/// Rules are served in turn. A date filters what top-level rules serve, but neither the records
/// from which their related rules start nor what these serve. A record of two rules is served by
/// both, but only once per page.
struct PrimingRunner {
  let store: OrgStore
  let user: OrgUser
  let clientID: String?

  func ruleList() throws -> [(id: String, object: String)] {
    try store.rules(of: user, clientID: clientID).map { ($0.id, $0.object) }
  }

  func page(changedAfter: Int64?, relayToken: String?, pageSize: Int) throws -> PrimingPage {
    let tokens = RelayTokens(store: store)
    let size = max(1, pageSize)
    // The documentation says that a token and a date exclude each other; here the token wins.
    if let relayToken {
      let (list, offset) = try tokens.find(relayToken, user: user)
      return list.page(offset, size)
    }
    return try store.transaction {
      var list = try listing(changedAfter: changedAfter)
      if list.items.count > size { list.token = try tokens.save(list, user: user) }
      return list.page(0, size)
    }
  }

  // MARK: Complete list

  private func listing(changedAfter: Int64?) throws -> PrimingList {
    try store.connection.execute(
      """
      CREATE TEMP TABLE IF NOT EXISTS rule_set (rule TEXT, id TEXT, PRIMARY KEY (rule, id))
      WITHOUT ROWID;
      DELETE FROM temp.rule_set;
      """)
    let rules = try store.rules(of: user, clientID: clientID)
    let byID = Dictionary(rules.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let parents = Set(rules.compactMap(\.parentID))
    var list = PrimingList(ruleCount: rules.count)
    for (index, rule) in rules.enumerated() {
      do {
        let parent = rule.parentID.flatMap { byID[$0] }
        let since = rule.parentID == nil ? changedAfter : nil
        try serve(
          rule, parent, index: index, keeping: parents.contains(rule.id), since: since, into: &list)
      } catch is OrgError {
        list.errors.append((list.items.count, rule.id))
      }
    }
    return list
  }

  private func serve(
    _ rule: StoredRule, _ parent: StoredRule?, index: Int, keeping: Bool, since: Int64?,
    into list: inout PrimingList
  ) throws {
    guard !rule.isBroken, let object = store.catalog(of: user).object(rule.object) else {
      throw OrgError(code: "RULE_ERROR", message: "the rule \(rule.id) cannot be served")
    }
    let statement = try statement(rule, parent, object)
    let oldest = since.map { Dates.salesforce($0) }
    let keeper = try store.prepared("INSERT OR IGNORE INTO temp.rule_set (rule, id) VALUES (?, ?)")
    for row in try store.connection.all(statement) {
      guard let id = row[0].text, let stamp = row[2].text else { continue }
      if keeping {
        try keeper.bind(1, rule.id)
        try keeper.bind(2, id)
        try keeper.execute()
      }
      if let oldest, stamp <= oldest { continue }
      list.items.append(
        PrimingList.Item(
          rule: index, object: object.name, recordType: row[1].text ?? "012000000000000AAA",
          id: id, stamp: stamp))
    }
  }

  private func statement(_ rule: StoredRule, _ parent: StoredRule?, _ object: ObjectSchema) throws
    -> SQL
  {
    var planner = try ConditionPlanner(
      scope: QueryScope(store: store, user: user, object: object), includeDeleted: false,
      now: store.clock.now())
    let filter = try rule.filter.map { try SOQLParser.condition($0) }
    var condition = try planner.whole(filter, scope: rule.scope, probing: parent != nil)
    let alias = planner.scope.alias
    if let parent { condition += " AND \(try relation(rule, parent, object, alias))" }
    var orders: [SOQLOrder] = []
    if let field = rule.orderBy {
      orders = [
        SOQLOrder(
          path: SOQLPath(parts: [field], line: 1, column: 1), descending: !rule.ascending)
      ]
    }
    let order = try OrderPlanner.plan(orders, in: &planner.scope)
    let recordType = object.field("RecordTypeId") == nil ? "NULL" : "\(alias).\"RecordTypeId\""
    return """
      SELECT \(raw: alias)."Id", \(raw: recordType), \(raw: alias)."SystemModstamp" \
      FROM \(try planner.scope.from()) WHERE \(condition) ORDER BY \(order) \
      LIMIT \(min(rule.limit, 50_000))
      """
  }

  /// Returns the link between the objects: this object refers to the parent's, or the parent's to
  /// this one.
  private func relation(
    _ rule: StoredRule, _ parent: StoredRule, _ object: ObjectSchema, _ alias: String
  ) throws -> SQL {
    guard let name = rule.relationship, let above = store.catalog(of: user).object(parent.object)
    else {
      throw OrgError(code: "RULE_ERROR", message: "the rule \(rule.id) has no relationship")
    }
    let set: SQL = "SELECT id FROM temp.rule_set WHERE rule = \(parent.id)"
    if let field = object.field(name), field.referenceTo.contains(above.name) {
      return "\(raw: alias).\(name: field.name) IN (\(set))"
    }
    guard let field = above.field(name), field.referenceTo.contains(object.name) else {
      throw OrgError(
        code: "RULE_ERROR", message: "\(name) does not connect \(object.name) and \(above.name)")
    }
    let table = try store.table(above.name).table
    return """
      \(raw: alias)."Id" IN (SELECT p.\(name: field.name) FROM \(raw: table) p \
      WHERE p."Id" IN (\(set)))
      """
  }
}
