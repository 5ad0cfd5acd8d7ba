import JSON

/// The org's description of an object type.
public struct Metadata: Sendable, Hashable {
  /// The object type's API name.
  public let name: String
  /// The label of one record.
  public let label: String?
  /// The label of several records.
  public let labelPlural: String?
  /// The first three characters of its records' IDs.
  public let keyPrefix: String?
  /// The API names of its fields.
  public let fieldNames: [String]
  /// The whole description as JSON: fields, relationships, addresses.
  public let json: String

  init(_ element: JSONValue) {
    name = element["name"]?.string ?? element[AnswerElement.idPath]?.string ?? ""
    label = element["label"]?.string
    labelPlural = element["labelPlural"]?.string
    keyPrefix = element["keyPrefix"]?.string
    fieldNames = (element["fields"]?.array ?? []).compactMap { $0["name"]?.string }
    json = element.text
  }
}
