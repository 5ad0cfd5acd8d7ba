import SQLite

/// Numbers tables so that their names are unique within a statement.
final class AliasCounter {
  private var used = 0

  func next() -> String {
    used += 1
    return "t\(used)"
  }
}

/// The field at the end of a path, and its table.
struct ResolvedField {
  let alias: String
  let object: ObjectSchema
  let field: FieldSchema
  /// The expression of a function applied to it.
  var expression: String?

  var column: String { expression ?? alias + "." + SQL.quoted(name: field.name) }
}

/// The tables of one SELECT: the object, and a parent for each relationship followed.
struct QueryScope {
  let store: OrgStore
  let user: OrgUser
  let names: AliasCounter
  let object: ObjectSchema
  /// The objects and fields as the user sees them.
  let catalog: Catalog
  let alias: String
  private let rootNames: Set<String>
  /// The parents that the statement names, by their lower-case names.
  private let named: [String: SOQLPath]
  private(set) var joins: SQL = ""
  private var parents: [String: (alias: String, object: ObjectSchema)] = [:]

  init(
    store: OrgStore, user: OrgUser, object: ObjectSchema, of query: SOQLQuery = SOQLQuery(),
    names: AliasCounter = AliasCounter()
  ) throws {
    self.store = store
    self.user = user
    self.object = object
    self.names = names
    store.asking[user.id] = user
    catalog = store.catalog(of: user)
    alias = names.next()
    rootNames = Set([object.name, query.alias].compactMap { $0?.lowercased() })
    named = query.parents
    for path in query.parents.values {
      _ = try relationships(path.parts + ["Id"], at: path)
    }
  }

  /// Returns FROM with its joins.
  func from() throws -> SQL {
    "\(raw: try store.table(object.name).table) \(raw: alias)\(joins)"
  }

  /// Returns the field of a path, joining its parents.
  mutating func resolve(_ path: SOQLPath) throws -> ResolvedField {
    let (table, name) = try table(of: path)
    guard let field = table.object.field(name) else {
      throw QueryError.noColumn(path, name, table.object.name)
    }
    let plain = value(of: field, in: table.object, table.alias)
    guard let function = path.functions.first else { return plain }
    return try SOQLFunction.apply(function, to: plain, at: path)
  }

  /// Returns a field of a joined table with the value that the user sees.
  func value(of field: FieldSchema, in object: ObjectSchema, _ alias: String) -> ResolvedField {
    let column = alias + "." + SQL.quoted(name: field.name)
    var expression: String?
    if field.calculated {
      expression = store.formulaCall(field, of: object, alias, as: user)
    } else if let mask = field.mask, !store.setup.showsEncryptedData(to: user) {
      expression = mask.sql(column)
    }
    return ResolvedField(alias: alias, object: object, field: field, expression: expression)
  }

  /// Returns the name of a path that is the same however the statement spells it.
  func name(of path: SOQLPath) -> String {
    var whole = path
    whole.parts = trimmed(path)
    return whole.text.lowercased()
  }

  /// Returns the relationships of a path, starting at the root, without the field at its end.
  func relationships(of path: SOQLPath) throws -> [(lookup: FieldSchema, parent: ObjectSchema)] {
    try relationships(trimmed(path), at: path)
  }

  /// Returns the relationships of names that start at the root, without the last name.
  private func relationships(_ parts: [String], at path: SOQLPath) throws
    -> [(lookup: FieldSchema, parent: ObjectSchema)]
  {
    var steps: [(FieldSchema, ObjectSchema)] = []
    var current = object
    for part in parts.dropLast() {
      guard let lookup = current.lookup(relationship: part),
        let target = lookup.referenceTo.first,
        let parent = lookup.isPolymorphic
          ? PolymorphicParent.schema : catalog.object(target)
      else { throw QueryError.noRelationship(path, part) }
      steps.append((lookup, parent))
      current = parent
    }
    guard steps.count <= 5 else { throw QueryError.noRelationship(path, path.text) }
    return steps
  }

  /// Returns the alias of the parent at the end of `steps`, joining it if needed.
  mutating func join(_ steps: [(lookup: FieldSchema, parent: ObjectSchema)]) throws
    -> (alias: String, object: ObjectSchema)
  {
    var current = (alias: alias, object: object)
    var key = ""
    for (lookup, parent) in steps {
      key += "." + lookup.name.lowercased() + ":" + parent.name
      if let known = parents[key] {
        current = known
        continue
      }
      let name = names.next()
      joins += """
         LEFT JOIN \(try table(of: parent, lookup)) \(raw: name) ON \(raw: name)."Id" = \
        \(raw: current.alias).\(name: lookup.name) AND \(raw: name)."IsDeleted" = 0
        """
      if let visible = try Visibility(store: store, user: user).probe(parent, name) {
        joins += " AND \(visible)"
      }
      current = (name, parent)
      parents[key] = current
    }
    return current
  }

  private func table(of parent: ObjectSchema, _ lookup: FieldSchema) throws -> SQL {
    guard parent.name == PolymorphicParent.schema.name else {
      return "\(raw: try store.table(parent.name).table)"
    }
    return try PolymorphicParent(store: store, user: user).table(lookup)
  }

  private mutating func table(of path: SOQLPath) throws -> (
    (alias: String, object: ObjectSchema), String
  ) {
    let name = path.parts.last ?? ""
    return (try join(relationships(of: path)), name)
  }

  /// Returns a path without the object's own name at its start, and with the path of a parent
  /// instead of its name.
  private func trimmed(_ path: SOQLPath) -> [String] {
    guard path.parts.count > 1, let first = path.parts.first?.lowercased() else {
      return path.parts
    }
    if let parent = named[first] { return parent.parts + path.parts.dropFirst() }
    guard rootNames.contains(first), object.lookup(relationship: first) == nil else {
      return path.parts
    }
    return Array(path.parts.dropFirst())
  }
}
