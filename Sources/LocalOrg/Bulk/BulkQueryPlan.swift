import CSV
import SQLite

/// The selection of a bulk query, as CSV columns.
struct BulkQueryPlan {
  /// The header.
  let columns: [String]
  private let types: [FieldType]
  private let sql: SQL
  private let sequenceBinding: Int32

  init(_ query: SOQLQuery, of object: ObjectSchema, _ runner: QueryRunner, includeDeleted: Bool)
    throws
  {
    var scope = try QueryScope(
      store: runner.store, user: runner.user, object: object, of: query)
    let paths = try Self.paths(query, object)
    var fields: [ResolvedField] = []
    var columns: [String] = []
    for path in paths {
      let field = try scope.resolve(path)
      guard !field.field.isCompound else {
        throw OrgError(
          code: "API_ERROR", message: "Selecting compound data not supported in Bulk Query")
      }
      guard field.field.type != .base64 else {
        throw OrgError(code: "FEATURENOTENABLED", message: "Binary field not supported")
      }
      let parents = try scope.relationships(of: path).map {
        $0.lookup.relationshipName ?? $0.lookup.name
      }
      let name = (parents + [field.field.name]).joined(separator: ".")
      guard !columns.contains(name) else { throw QueryError.duplicateField(path) }
      columns.append(name)
      fields.append(field)
    }
    self.columns = columns
    types = fields.map(\.field.type)
    let alias = scope.alias
    let head: SQL = """
      SELECT \(raw: fields.map(\.column).joined(separator: ", ")) FROM \(try scope.from()) WHERE \
      \(raw: alias)."seq" =
      """
    sequenceBinding = Int32(head.bindings.count + 1)
    var sql: SQL = "\(head) \(SQLiteValue.null)"
    if !includeDeleted { sql += " AND \(raw: alias).\"IsDeleted\" = 0" }
    if let visible = try Visibility(store: runner.store, user: runner.user).probe(object, alias) {
      sql += " AND \(visible)"
    }
    self.sql = sql
  }

  /// Returns the fields of the SELECT list; throws for what a bulk query does not support.
  private static func paths(_ query: SOQLQuery, _ object: ObjectSchema) throws -> [SOQLPath] {
    func refusal(_ what: String) -> OrgError {
      OrgError(code: "API_ERROR", message: "\(what) is not supported in Bulk Query")
    }
    if query.isAggregate || query.countsRows { throw refusal("Aggregate Relationships") }
    if query.offset != nil { throw refusal("OFFSET") }
    return try query.selections.flatMap { selection throws -> [SOQLPath] in
      switch selection {
      case .field(let path, _): return [path]
      case .allFields(let which, _):
        return object.fields.filter {
          !$0.isCompound && $0.type != .base64
            && (which == "ALL" || $0.custom == (which == "CUSTOM"))
        }
        .map { SOQLPath(parts: [$0.name], line: 1, column: 1) }
      case .children: throw refusal("A parent-to-child subquery")
      case .typeOf: throw refusal("TYPEOF")
      case .countRows, .aggregate: throw refusal("An aggregate")
      }
    }
  }

  /// Writes the records with these sequence numbers that still exist; returns their number.
  func write(_ sequences: [Int64], _ store: OrgStore, to writer: inout CSVWriter) throws -> Int {
    let statement = try store.prepared(sql.text)
    try statement.bind(sql.bindings)
    defer { statement.reset() }
    var count = 0
    for sequence in sequences {
      try statement.bind(sequenceBinding, sequence)
      if try statement.step() {
        for (place, type) in types.enumerated() {
          Self.cell(statement, Int32(place), type, &writer)
        }
        writer.endRow()
        count += 1
      }
      statement.reset()
    }
    return count
  }

  private static func cell(
    _ statement: Statement, _ place: Int32, _ type: FieldType, _ writer: inout CSVWriter
  ) {
    switch type {
    case .boolean where !statement.isNull(place):
      var text = statement.columnInteger(place) != 0 ? "true" : "false"
      text.withUTF8 { writer.field(UnsafeRawBufferPointer($0)) }
    case .datetime where !statement.isNull(place):
      // CSV writes the time zone as Z, JSON as +0000.
      let zoned = statement.columnBytes(place)
      var text = String(decoding: zoned.prefix(max(0, zoned.count - 5)), as: UTF8.self) + "Z"
      text.withUTF8 { writer.field(UnsafeRawBufferPointer($0)) }
    default: writer.field(statement.columnBytes(place))
    }
  }
}
