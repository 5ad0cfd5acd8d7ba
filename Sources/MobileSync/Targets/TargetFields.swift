import JSON
import Salesforce

/// What every target's configuration has in common: the two field names and an app's own classes.
public struct TargetFields: Sendable, Hashable {
  /// The field that identifies a record.
  public var idFieldName: String
  /// The field that says when a record was last modified.
  public var modificationDateFieldName: String
  /// The class that runs the target on iOS, where the file names one.
  public var iOSImpl: String?
  /// The class that runs the target on Android, where the file names one.
  public var androidImpl: String?

  /// The SDK's defaults.
  public init(
    idFieldName: String = "Id", modificationDateFieldName: String = "LastModifiedDate",
    iOSImpl: String? = nil, androidImpl: String? = nil
  ) {
    self.idFieldName = idFieldName
    self.modificationDateFieldName = modificationDateFieldName
    self.iOSImpl = iOSImpl
    self.androidImpl = androidImpl
  }

  /// Reads the members of a target; an empty field name is the default, as on iOS.
  init(_ object: ConfigurationObject) {
    self.init(reading: object.string)
    iOSImpl = object.string("iOSImpl")
    androidImpl = object.string("androidImpl")
  }

  /// Reads the field names alone.
  init(reading member: (String) -> String?) {
    self.init()
    if let name = member("idFieldName"), !name.isEmpty { idFieldName = name }
    if let name = member("modificationDateFieldName"), !name.isEmpty {
      modificationDateFieldName = name
    }
  }

  /// Whether a record's modification date is the one that an org compares conditional requests with.
  var hasOrgDate: Bool { modificationDateFieldName == TargetFields().modificationDateFieldName }

  /// The members of a stored target; the SDK's classes only where they were configured.
  func json(type: String?, _ members: [(String, JSONValue?)]) -> JSONValue {
    var object = JSONObject()
    if let type { object["type"] = .string(type) }
    object["iOSImpl"] = iOSImpl.map(JSONValue.string)
    object["androidImpl"] = androidImpl.map(JSONValue.string)
    object["idFieldName"] = .string(idFieldName)
    object["modificationDateFieldName"] = .string(modificationDateFieldName)
    for (name, value) in members { object[name] = value }
    return .object(object)
  }
}

/// A target with the field names that all targets have.
public protocol FieldNaming {
  /// The field names and classes that all targets have.
  var fields: TargetFields { get }
}

extension FieldNaming {
  /// The field that identifies a record.
  public var idFieldName: String { fields.idFieldName }
  /// The field that says when a record was last modified.
  public var modificationDateFieldName: String { fields.modificationDateFieldName }
}

extension ConfigurationObject {
  /// The API name of an object that must be there.
  func objectName(_ name: String) -> String? {
    guard let text = requiredText(name, "\"Account\"") else { return nil }
    if let node = self[name], !APIName.isValid(text) {
      reader.report(
        node, "\(JSONText.quoted(text)) is not the API name of an object",
        "write letters, digits and underscores, as in \"Site_Visit__c\"")
    }
    return text
  }

  /// A field list that must be there and name at least one field.
  func fields(_ name: String) -> [String]? {
    guard let node = required(name, "[\"Id\", \"Name\"]"), let fields = reader.strings(node) else {
      return nil
    }
    if fields.isEmpty {
      reader.report(node, "the field list is empty", "name at least one field")
    }
    for (index, field) in fields.enumerated() where field.isEmpty {
      reader.report(node.array?[index] ?? node, "this is empty", "write a field's name")
    }
    return fields
  }

  /// A count that the SDK caps without a word.
  func count(_ name: String, most: Int) -> Int {
    min(int(name, default: most, in: 1...Int.max), most)
  }
}
