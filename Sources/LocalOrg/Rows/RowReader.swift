import Crypto
import JSON
import SQLite
import System

/// Reads single records for one user.
struct RowReader {
  let store: OrgStore
  let user: OrgUser
  let version: String

  /// Returns one record, or throws.
  func read(_ object: String, id: String, fields: [String]?) throws -> JSONObject {
    let schema = try schema(object)
    let id = try existing(schema, id)
    var query = SOQLQuery()
    query.selections =
      fields.map(Self.selections)
      ?? schema.fields.map { .field(SOQLPath(parts: [$0.name], line: 1, column: 1), alias: nil) }
    var encoder = RecordEncoder(store: store)
    let found = try encodeEach([id], schema, query) { statement, plan in
      if let statement { try encoder.append(statement, plan) }
    }
    guard found == 1 else { throw OrgError.notFound }
    return try JSONValue(parsing: encoder.bytes).object ?? JSONObject()
  }

  /// Returns the ID of the record with a value in an ID lookup field; throws if several have it.
  func find(_ object: String, externalField: String, value: String) throws -> String? {
    let ids = try findAll(object, externalField: externalField, value: value)
    guard ids.count > 1 else { return ids.first }
    throw OrgError(
      code: "DUPLICATE_EXTERNAL_ID",
      message: "\(externalField): more than one record found for external id field: "
        + "[\(ids.joined(separator: ", "))]",
      fields: [externalField])
  }

  /// Returns the IDs of all records with a value in an ID lookup field.
  func findAll(_ object: String, externalField: String, value: String) throws -> [String] {
    let schema = try schema(object)
    let table = try store.table(schema.name)
    guard let field = schema.field(externalField), field.idLookup else {
      throw OrgError(
        status: 404, code: "NOT_FOUND",
        message: "Provided external ID field does not exist or is not accessible: \(externalField)")
    }
    if field.type == .id {
      guard let id = OrgID.normalize(value) else { throw OrgError.malformedID(value) }
      return (try? existing(schema, id)).map { [$0] } ?? []
    }
    let collation = FilterValue.collation(field)
    var sql: SQL = """
      SELECT t."Id" FROM \(raw: table.table) t WHERE t.\(name: field.name) = \(value)\
      \(raw: collation) AND t."IsDeleted" = 0
      """
    if let visible = try Visibility(store: store, user: user).probe(schema, "t") {
      sql += " AND \(visible)"
    }
    sql += " ORDER BY t.\"seq\" LIMIT 200"
    return try store.connection.all(sql).compactMap { $0[0].text }
  }

  /// Returns the bytes of a file in a field of a record.
  func readFile(_ object: String, id: String, field: String) throws -> [UInt8] {
    let schema = try schema(object)
    let table = try store.table(schema.name)
    guard let place = table.place(field), schema.field(field) != nil,
      let text = try store.row(table, id: existing(schema, id))?[place].text,
      let bytes = Base64.decode(text)
    else { throw OrgError.notFound }
    return bytes
  }

  /// Returns records in the order of `ids`, with null for missing ones.
  func retrieve(_ object: String, ids: [String], fields: [String]) throws -> [UInt8] {
    let schema = try schema(object)
    guard ids.count <= 2000 else {
      throw OrgError(
        code: "EXCEEDED_MAX_SIZE_REQUEST",
        message: "record limit reached. cannot submit more than 2000 records into this call")
    }
    var query = SOQLQuery()
    query.selections = Self.selections(fields)
    var encoder = RecordEncoder(store: store, reserving: ids.count * 256)
    encoder.append("[")
    var isFirst = true
    try encodeEach(ids, schema, query) { statement, plan in
      if !isFirst { encoder.append(",") }
      isFirst = false
      if let statement { try encoder.append(statement, plan) } else { encoder.append("null") }
    }
    encoder.append("]")
    return encoder.bytes
  }

  /// Returns the IDs of records modified or deleted in a period of time.
  func changes(_ object: String, deleted: Bool, from start: Int64, to end: Int64) throws -> [(
    id: String, date: String
  )] {
    let schema = try schema(object)
    let table = try store.table(schema.name)
    var sql: SQL = """
      SELECT t."Id", t."SystemModstamp" FROM \(raw: table.table) t WHERE \
      t."IsDeleted" = \(deleted) AND t."SystemModstamp" >= \(Dates.salesforce(start)) AND \
      t."SystemModstamp" < \(Dates.salesforce(end))
      """
    if let visible = try Visibility(store: store, user: user).scan(schema, "t") {
      sql += " AND \(visible)"
    }
    sql += " ORDER BY t.\"SystemModstamp\", t.\"seq\" LIMIT 600000"
    return try store.connection.all(sql).map { ($0[0].text ?? "", $0[1].text ?? "") }
  }

  // MARK: Helpers

  private func schema(_ object: String) throws -> ObjectSchema {
    guard let schema = store.catalog(of: user).object(object) else {
      throw OrgError(
        status: 404, code: "NOT_FOUND", message: "The requested resource does not exist")
    }
    return schema
  }

  /// Returns the 18-character ID of a record that the user may read.
  private func existing(_ schema: ObjectSchema, _ id: String) throws -> String {
    guard let normal = OrgID.normalize(id) else {
      throw OrgError(
        status: 404, code: "NOT_FOUND",
        message: "Provided external ID field does not exist or is not accessible: \(id)")
    }
    switch try Access(store: store, user: user).level(schema, id: normal) {
    case .none: throw OrgError.notFound
    case .deleted: throw OrgError.deleted
    case .read, .edit, .full: return normal
    }
  }

  private static func selections(_ fields: [String]) -> [SOQLSelection] {
    var seen: Set<String> = []
    return fields.filter { seen.insert($0.lowercased()).inserted }.map { field in
      let parts = field.split(separator: ".").map(String.init)
      return .field(
        SOQLPath(parts: parts.isEmpty ? [field] : parts, line: 1, column: 1), alias: nil)
    }
  }

  /// Looks up each ID; `body` gets nil for a record that is not visible.
  @discardableResult
  private func encodeEach(
    _ ids: [String], _ schema: ObjectSchema, _ query: SOQLQuery,
    _ body: (Statement?, RowPlan) throws -> Void
  ) throws -> Int {
    let runner = QueryRunner(store: store, user: user, version: version)
    let rows = try runner.rowPlan(query, schema, includeDeleted: false)
    let statement = try store.prepared(rows.sql.text)
    try statement.bind(rows.sql.bindings)
    defer { statement.reset() }
    var found = 0
    for id in ids {
      guard let normal = OrgID.normalize(id) else {
        try body(nil, rows.plan)
        continue
      }
      try statement.bind(rows.sequenceBinding, OrgID.sequence(normal))
      let isThere =
        try statement.step() && statement.columnBytes(0).elementsEqual(normal.utf8)
      try body(isThere ? statement : nil, rows.plan)
      if isThere { found += 1 }
      statement.reset()
    }
    return found
  }
}
