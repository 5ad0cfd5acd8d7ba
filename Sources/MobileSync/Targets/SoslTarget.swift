import JSON
import Salesforce

/// A sync down of the records that a SOSL search finds.
public struct SoslTarget: FieldNaming, ConfiguredDownKind {
  /// The search as the file has it.
  public var query: String
  /// The field names and classes that all targets have.
  public var fields: TargetFields

  /// A target made in code.
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
        node, "a SOSL search begins with FIND",
        words.first?.lowercased() == "select"
          ? "this is SOQL: write \"type\": \"soql\"" : "write FIND {…} RETURNING …")
    }
    self.init(query: query, fields: TargetFields(object))
  }

  /// The target as a device stores it.
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
