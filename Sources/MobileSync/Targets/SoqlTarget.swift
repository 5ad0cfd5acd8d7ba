import JSON
import Salesforce

/// A sync down of the records found by a SOQL query.
public struct SoqlTarget: FieldNaming, ConfiguredDownKind {
  /// The largest page, and the SDK's default.
  public static let defaultBatchSize = RequestLimits.queryPage.upperBound
  /// The smallest page that an org accepts.
  public static let smallestBatchSize = RequestLimits.queryPage.lowerBound

  /// The query as written in the file.
  public var query: String
  /// The number of records per page, requested if it is not the default; sent as 200 to 2,000.
  public var maxBatchSize: Int
  /// The field names and classes common to all targets.
  public var fields: TargetFields

  /// Creates a target.
  public init(
    query: String, maxBatchSize: Int = defaultBatchSize, fields: TargetFields = TargetFields()
  ) {
    self.query = query
    self.maxBatchSize = maxBatchSize
    self.fields = fields
  }

  static let type = "soql"
  static let keys = ["query", "maxBatchSize"]

  init?(_ object: ConfigurationObject) {
    guard let query = object.requiredText("query", "\"SELECT Id, Name FROM Account\"") else {
      return nil
    }
    let words = query.split(maxSplits: 1) { $0.isWhitespace }
    if let node = object["query"], words.first?.lowercased() != "select" {
      object.reader.report(
        node, SOQLText.needsSelect,
        words.first?.lowercased() == "find"
          ? "this is SOSL: write \"type\": \"sosl\"" : "write SELECT … FROM …")
    }
    if let node = object["query"], !object.reader.isLenient {
      if words.first?.lowercased() == "select" { Self.checkFrom(query, node, object.reader) }
      Self.checkLimit(query, node, object.reader)
      Self.checkAliases(query, node, object.reader)
    }
    self.init(
      query: query,
      maxBatchSize: object.int("maxBatchSize", default: Self.defaultBatchSize, in: 1...Int.max),
      fields: TargetFields(object))
  }

  /// Rejects a query whose FROM clause is missing, or names no possible object.
  private static func checkFrom(_ query: String, _ node: JSONNode, _ reader: ConfigurationReader) {
    do throws(SOQLError) {
      guard let wrong = try SOQLText(SOQLText.spacesOnly(query)).wrongFrom else { return }
      reader.report(
        node, "this is not the name of an object in FROM: \(JSONText.quoted(wrong))",
        "write an object's API name, and at most an alias after it")
    } catch {
      reader.report(node, error.message, "write SELECT … FROM …")
    }
  }

  /// Rejects a field with an alias, which an org accepts only in grouped queries; usually a comma
  /// is missing.
  private static func checkAliases(
    _ query: String, _ node: JSONNode, _ reader: ConfigurationReader
  ) {
    guard let soql = try? SOQLText(SOQLText.spacesOnly(query)), soql[.groupBy] == nil,
      let aliased = soql.aliasedFields.first
    else { return }
    let words = aliased.split(separator: " ").joined(separator: " ")
    reader.report(
      node, "the query has a field alias, which an org refuses: \(JSONText.quoted(words))",
      "write a comma between the fields: \(words.replacing(" ", with: ", "))")
  }

  /// Reports a LIMIT or OFFSET that Android's SDK would drop.
  private static func checkLimit(_ query: String, _ node: JSONNode, _ reader: ConfigurationReader) {
    guard let soql = try? SOQLText(query), soql.isBounded,
      let last = [SOQLText.Clause.for, .allRows].first(where: { soql[$0] != nil })
    else { return }
    let clause = soql[.offset] == nil ? "LIMIT" : "OFFSET"
    let word = "\(last.keyword) \(soql[last] ?? "")".uppercased().trimmed
    reader.report(
      node,
      "Android's SDK finds no number in the \(clause) before \(word), and fetches without it",
      "remove \(word), or the \(clause)")
  }

  package var json: JSONValue {
    fields.json(
      type: Self.type, [("query", .string(query)), ("maxBatchSize", JSONValue(maxBatchSize))])
  }

  var queries: [String] { [query] }

  func stored(variables: [String: String]) throws(SyncError) -> JSONValue {
    var target = self
    target.query = try syncQuery(variables: variables).stored
    return target.json
  }

  func objects(in soup: String, soupName: String) -> [String] {
    guard soup == soupName, let query = try? SOQLText(query) else { return [] }
    return [query.objectName]
  }

  func fieldNames(of soup: String, _ sync: SyncDefinition) -> [String] {
    // An unreadable query is refused before anything is primed.
    guard soup == sync.soupName, let query = try? SOQLText(query) else { return [] }
    return query.readPaths
  }

  func needs(
    _ sync: SyncDefinition, objects: (_ soupName: String) -> Set<String>
  ) -> [OrgNeed] {
    let keys = ["target", "query"]
    guard let query = try? SOQLText(query) else { return [] }
    let object = query.objectName
    func each(_ paths: [String], _ use: OrgNeed.Use) -> [OrgNeed] {
      paths.map { OrgNeed(sobject: object, field: $0, use: use, keys: keys) }
    }
    return OrgNeed.fetching(object, keys, reads: query.readPaths, keys, fields)
      + each(query.filteredPaths, .filter) + each(query.orderedPaths, .read)
  }
}
