import JSON

/// A sync down of the records that a SOSL search finds.
public struct SoslTarget: FieldNaming, Sendable, Hashable {
  /// The search as the file has it.
  public var query: String
  /// The field names and classes that all targets have.
  public var fields: TargetFields

  /// A target made in code.
  public init(query: String, fields: TargetFields = TargetFields()) {
    self.query = query
    self.fields = fields
  }

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
  package var json: JSONValue { fields.json(type: "sosl", [("query", .string(query))]) }
}
