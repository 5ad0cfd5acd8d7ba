import SQLite

/// The translation of a SELECT list: columns of SQL, and the structure of the JSON.
struct RowPlan {
  /// A member of a record.
  indirect enum Member {
    /// A column; the bytes are the comma, the name and the colon.
    case text([UInt8], Int32)
    case number([UInt8], Int32)
    case flag([UInt8], Int32)
    /// Eight columns, starting at this one.
    case address([UInt8], Int32)
    /// A parent.
    case parent([UInt8], Parent)
    /// A parent of several kinds: the first of these that exists.
    case choice([UInt8], [Parent])
    /// The index of a plan in `children`.
    case children([UInt8], Int)
  }

  /// A parent: the bytes before its ID, the column of its type if that differs between rows, the
  /// column of its ID, and its members.
  struct Parent {
    let head: [UInt8]
    let type: Int32?
    let id: Int32
    let members: [Member]
  }

  /// A subquery over the children of a row.
  struct Children {
    let sql: SQL
    /// The index of the parent's ID in the bindings.
    let parentBinding: Int32
    let plan: RowPlan
  }

  /// The bytes before a record's ID.
  let head: [UInt8]
  fileprivate(set) var members: [Member] = []
  fileprivate(set) var columns: [String] = []
  fileprivate(set) var children: [Children] = []
}

/// Builds a `RowPlan` while resolving paths.
struct RowPlanner {
  var scope: QueryScope
  let version: String
  let now: Int64
  let includeDeleted: Bool
  private var plan: RowPlan
  private var root = Node()
  private var seen: Set<String> = []
  /// The names of the record's members, in lower case.
  private var names: Set<String> = []

  /// A record under construction: members in the order of the statement, parents by lookup.
  private final class Node {
    enum Entry {
      case field(ResolvedField)
      case parent(FieldSchema, ObjectSchema, alias: String, Node)
      case choice(FieldSchema, [(ObjectSchema, alias: String, Node)])
      case children(String, Int)
    }
    var entries: [Entry] = []
    var parents: [String: Node] = [:]
  }

  init(scope: QueryScope, version: String, now: Int64, includeDeleted: Bool) {
    self.scope = scope
    self.version = version
    self.now = now
    self.includeDeleted = includeDeleted
    plan = RowPlan(head: Self.head(scope.object, version))
    plan.columns = [scope.alias + ".\"Id\""]
  }

  static func head(_ object: ObjectSchema, _ version: String) -> [UInt8] {
    Array(
      """
      {"attributes":{"type":"\(object.name)","url":"/services/data/v\(version)/sobjects/\
      \(object.name)/
      """.utf8)
  }

  /// Adds a field, or a function of one, by its path; a member with an alias is written to the
  /// record itself.
  mutating func add(_ path: SOQLPath, alias: String? = nil) throws {
    guard path.functions.allSatisfy(SOQLFunction.ofRows.contains) else {
      throw OrgError(
        code: "MALFORMED_QUERY",
        message: QueryError.place(path) + "\(path.text) must be grouped by")
    }
    if let alias { return try add(path, as: alias) }
    let steps = try scope.relationships(of: path)
    let field = try scope.resolve(path)
    let key = (steps.map(\.lookup.name) + [field.field.name]).joined(separator: ".").lowercased()
    guard seen.insert(key).inserted else { throw QueryError.duplicateField(path) }
    if steps.isEmpty { try claim(field.field.name, at: path) }
    var node = root
    for (index, step) in steps.enumerated() {
      let name = step.lookup.name.lowercased()
      if let known = node.parents[name] {
        node = known
        continue
      }
      if index == 0 { try claim(step.lookup.relationshipName ?? step.lookup.name, at: path) }
      let alias = try scope.join(Array(steps[...index])).alias
      let next = Node()
      node.parents[name] = next
      node.entries.append(.parent(step.lookup, step.parent, alias: alias, next))
      node = next
    }
    node.entries.append(.field(field))
  }

  private mutating func add(_ path: SOQLPath, as alias: String) throws {
    let field = try scope.resolve(path)
    try claim(alias, at: path)
    root.entries.append(
      .field(
        ResolvedField(
          alias: field.alias, object: field.object,
          field: FieldSchema(alias, field.field.label, field.field.type),
          expression: field.column)))
  }

  /// Reserves the name of a member; throws if another member has it.
  private mutating func claim(_ name: String, at path: SOQLPath) throws {
    guard names.insert(name.lowercased()).inserted else {
      throw QueryError.duplicateAlias(path, name)
    }
  }

  /// Adds every field for which `wanted` returns true.
  mutating func addAll(where wanted: (FieldSchema) -> Bool, line: Int = 1, column: Int = 1) throws {
    for field in scope.object.fields where wanted(field) {
      try add(SOQLPath(parts: [field.name], line: line, column: column))
    }
  }

  /// Adds a subquery over children.
  mutating func add(children query: SOQLQuery) throws {
    guard query.from.parts.count == 1,
      let relationship = scope.object.children(relationship: query.from.text),
      let child = scope.catalog.object(relationship.childObject)
    else { throw QueryError.noRelationship(query.from, query.from.text) }
    try claim(relationship.name ?? query.from.text, at: query.from)
    let inner = try QueryScope(
      store: scope.store, user: scope.user, object: child, of: query, names: scope.names)
    var planner = RowPlanner(
      scope: inner, version: version, now: now, includeDeleted: includeDeleted)
    try planner.add(query.selections)
    var filter = ConditionPlanner(scope: planner.scope, includeDeleted: includeDeleted, now: now)
    let condition = try filter.whole(query.condition, scope: query.scope, probing: true)
    planner.scope = filter.scope
    let order = try OrderPlanner.plan(query.orders, in: &planner.scope)
    let plan = planner.finished()
    let from: SQL = """
      SELECT \(raw: plan.columns.joined(separator: ", ")) FROM \(try planner.scope.from()) WHERE \
      \(raw: inner.alias).\(name: relationship.field) =
      """
    let parentBinding = Int32(from.bindings.count + 1)
    var sql: SQL = "\(from) \(SQLiteValue.null) AND \(condition) ORDER BY \(order)"
    if query.limit != nil || query.offset != nil { sql += " LIMIT \(query.limit ?? -1)" }
    if let offset = query.offset { sql += " OFFSET \(offset)" }
    self.plan.children.append(
      RowPlan.Children(sql: sql, parentBinding: parentBinding, plan: plan))
    root.entries.append(
      .children(relationship.name ?? query.from.text, self.plan.children.count - 1))
  }

  /// Adds the entries of a SELECT list.
  mutating func add(_ selections: [SOQLSelection]) throws {
    for selection in selections {
      switch selection {
      case .field(let path, let alias): try add(path, alias: alias)
      case .typeOf(let lookup, let branches, let rest):
        try add(typeOf: lookup, branches, otherwise: rest)
      case .children(let query): try add(children: query)
      case .allFields(let which, let path):
        guard ["ALL", "STANDARD", "CUSTOM"].contains(which) else {
          throw OrgError(code: "MALFORMED_QUERY", message: "unexpected token: '\(which)'")
        }
        try addAll(
          where: { which == "ALL" || $0.custom == (which == "CUSTOM") }, line: path.line,
          column: path.column)
      case .countRows, .aggregate:
        throw OrgError(
          code: "MALFORMED_QUERY", message: "Grouped query cannot be used together with fields")
      }
    }
  }

  /// Adds what is selected from a parent, depending on its kind.
  private mutating func add(
    typeOf path: SOQLPath, _ branches: [(object: SOQLPath, fields: [SOQLPath])],
    otherwise rest: [SOQLPath]
  ) throws {
    guard path.parts.count == 1, let lookup = scope.object.lookup(relationship: path.text),
      lookup.isPolymorphic
    else { throw QueryError.noRelationship(path, path.text) }
    try claim(lookup.relationshipName ?? lookup.name, at: path)
    var choices: [(ObjectSchema, alias: String, Node)] = []
    func choose(_ object: ObjectSchema, _ fields: [SOQLPath]) throws {
      let alias = try scope.join([(lookup, object)]).alias
      let node = Node()
      var chosen: Set<String> = []
      for path in fields {
        guard chosen.insert(path.text.lowercased()).inserted else {
          throw QueryError.duplicateField(path)
        }
        guard let field = object.field(path.text) else {
          throw QueryError.noColumn(path, path.text, object.name)
        }
        node.entries.append(.field(scope.value(of: field, in: object, alias)))
      }
      choices.append((object, alias, node))
    }
    for branch in branches {
      guard let object = scope.catalog.object(branch.object.text),
        lookup.referenceTo.contains(object.name)
      else { throw QueryError.noRelationship(branch.object, branch.object.text) }
      try choose(object, branch.fields)
    }
    if !rest.isEmpty { try choose(PolymorphicParent.schema, rest) }
    root.entries.append(.choice(lookup, choices))
  }

  /// Returns the plan.
  func finished() -> RowPlan {
    var result = plan
    result.members = members(of: root, into: &result.columns)
    return result
  }

  private func members(of node: Node, into columns: inout [String]) -> [RowPlan.Member] {
    node.entries.map { entry in
      switch entry {
      case .field(let field): return member(field, into: &columns)
      case .children(let name, let index): return .children(Self.label(name), index)
      case .parent(let lookup, let object, let alias, let inner):
        return .parent(label(lookup), parent(object, alias, inner, into: &columns))
      case .choice(let lookup, let choices):
        return .choice(
          label(lookup), choices.map { parent($0.0, $0.alias, $0.2, into: &columns) })
      }
    }
  }

  private func label(_ lookup: FieldSchema) -> [UInt8] {
    Self.label(lookup.relationshipName ?? lookup.name)
  }

  private func parent(
    _ object: ObjectSchema, _ alias: String, _ inner: Node, into columns: inout [String]
  ) -> RowPlan.Parent {
    let isMixed = object.name == PolymorphicParent.schema.name
    let id = Int32(columns.count)
    columns.append(alias + ".\"Id\"")
    var type: Int32?
    if isMixed {
      type = Int32(columns.count)
      columns.append(alias + ".\"Type\"")
    }
    return RowPlan.Parent(
      head: isMixed ? PolymorphicParent.head(version) : Self.head(object, version), type: type,
      id: id, members: members(of: inner, into: &columns))
  }

  private func member(_ target: ResolvedField, into columns: inout [String]) -> RowPlan.Member {
    let label = Self.label(target.field.name)
    let index = Int32(columns.count)
    guard !target.field.isCompound else {
      let prefix = String(target.field.name.dropLast("Address".count))
      columns += AddressPart.allCases.map {
        target.alias + "." + SQL.quoted(name: prefix + $0.suffix)
      }
      return .address(label, index)
    }
    if target.field.type == .base64 {
      // A file is read by its own address.
      let address = "/services/data/v\(version)/sobjects/\(target.object.name)/"
      let id = target.alias + ".\"Id\""
      columns.append(
        "CASE WHEN \(target.column) IS NOT NULL THEN "
          + "'\(address)' || \(id) || '/\(target.field.name)' END")
      return .text(label, index)
    }
    columns.append(target.column)
    if target.field.type == .boolean { return .flag(label, index) }
    return target.field.type.isNumber ? .number(label, index) : .text(label, index)
  }

  private static func label(_ name: String) -> [UInt8] { Array(",\"\(name)\":".utf8) }
}
