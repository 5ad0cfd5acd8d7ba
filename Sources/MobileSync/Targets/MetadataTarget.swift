import JSON

/// A sync down of the description of an object type.
public struct MetadataTarget: ConfiguredDownKind {
  /// The object type.
  public var sobjectType: String
  /// The field names and classes common to all targets.
  public var fields: TargetFields

  /// Creates a target.
  public init(sobjectType: String, fields: TargetFields = TargetFields()) {
    self.sobjectType = sobjectType
    self.fields = fields
  }

  static let type = "metadata"
  static let keys = ["sobjectType"]

  init?(_ object: ConfigurationObject) {
    guard let type = object.objectName("sobjectType") else { return nil }
    self.init(sobjectType: type, fields: TargetFields(object))
  }

  package var json: JSONValue {
    fields.json(type: Self.type, [("sobjectType", .string(sobjectType))])
  }
}
