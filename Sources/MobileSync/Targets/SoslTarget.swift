import JSON
import Salesforce

/// A sync down of the records found by a SOSL search.
public struct SoslTarget: FieldNaming, ConfiguredDownKind {
  /// The search as written in the file.
  public var query: String
  /// The field names and classes common to all targets.
  public var fields: TargetFields

  /// Creates a target.
  public init(query: String, fields: TargetFields = TargetFields()) {
    self.query = query
    self.fields = fields
  }

  static let type = "sosl"
  static let keys = ["query"]

  init?(_ object: ConfigurationObject) {
    let example = "\"FIND {Acme} IN ALL FIELDS RETURNING Account(Id, Name)\""
    guard let query = object.requiredText("query", example) else { return nil }
    let words = query.split(maxSplits: 1) { $0.isWhitespace || $0 == "{" }
    if let node = object["query"], words.first?.lowercased() != "find" {
      object.reader.report(
        node, "a SOSL search starts with FIND",
        words.first?.lowercased() == "select"
          ? "this is SOQL: write \"type\": \"soql\"" : "write FIND {…} RETURNING …")
    }
    self.init(query: query, fields: TargetFields(object))
  }

  package var json: JSONValue { fields.json(type: Self.type, [("query", .string(query))]) }

  var queries: [String] { [query] }

  func stored(variables: [String: String]) throws(SyncError) -> JSONValue {
    var target = self
    target.query = try search(variables: variables)
    return target.json
  }

  func objectTypes(of soup: String, soupName: String) -> [String] {
    soup == soupName ? SOSLFields.objects(in: query) : []
  }

  func fieldNames(of soup: String, _ sync: SyncDefinition) -> [String] {
    soup == sync.soupName ? Array(SOSLFields.names(in: query)) : []
  }
}
