import JSON

/// A sync down of the records that the user opened last.
public struct MruTarget: ListedFields, ConfiguredDownKind {
  /// The object type.
  public var sobjectType: String
  /// The fields to fetch.
  public var fieldlist: [String]
  /// The field names and classes common to all targets.
  public var fields: TargetFields

  /// Creates a target.
  public init(sobjectType: String, fieldlist: [String], fields: TargetFields = TargetFields()) {
    self.sobjectType = sobjectType
    self.fieldlist = fieldlist
    self.fields = fields
  }

  static let type = "mru"
  static let keys = ["sobjectType", "fieldlist"]

  init?(_ object: ConfigurationObject) {
    let type = object.objectName("sobjectType")
    let list = object.fields("fieldlist")
    guard let type, let list else { return nil }
    self.init(sobjectType: type, fieldlist: list, fields: TargetFields(object))
  }

  package var json: JSONValue {
    fields.json(
      type: Self.type,
      [("sobjectType", .string(sobjectType)), ("fieldlist", JSONValue(fieldlist))])
  }
}
