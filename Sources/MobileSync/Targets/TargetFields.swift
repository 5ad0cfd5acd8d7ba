import JSON
import Salesforce

/// The members common to all targets: the two field names and the app's own classes.
public struct TargetFields: Sendable, Hashable {
  /// The field that identifies a record.
  public var idFieldName: String
  /// The field that has a record's modification date.
  public var modificationDateFieldName: String
  /// The class that implements the target on iOS, if the file names one.
  public var iOSImpl: String?
  /// The class that implements the target on Android, if the file names one.
  public var androidImpl: String?

  /// Creates the fields; the defaults are the SDK's.
  public init(
    idFieldName: String = "Id", modificationDateFieldName: String = "LastModifiedDate",
    iOSImpl: String? = nil, androidImpl: String? = nil
  ) {
    self.idFieldName = idFieldName
    self.modificationDateFieldName = modificationDateFieldName
    self.iOSImpl = iOSImpl
    self.androidImpl = androidImpl
  }

  /// Reads the members of a target; an empty field name means the default, as on iOS.
  init(_ object: ConfigurationObject) {
    self.init(reading: object.string)
    iOSImpl = object.string("iOSImpl")
    androidImpl = object.string("androidImpl")
  }

  /// Reads only the field names.
  init(reading member: (String) -> String?) {
    self.init()
    if let name = member("idFieldName"), !name.isEmpty { idFieldName = name }
    if let name = member("modificationDateFieldName"), !name.isEmpty {
      modificationDateFieldName = name
    }
  }

  /// Whether the modification date is the one that an org uses for conditional requests.
  var hasOrgDate: Bool { modificationDateFieldName == TargetFields().modificationDateFieldName }

  /// Returns the members of a stored target, with the SDK's classes only if they were configured.
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

/// A target with the field names common to all targets.
public protocol FieldNaming {
  /// The field names and classes common to all targets.
  var fields: TargetFields { get }
}

extension FieldNaming {
  /// The field that identifies a record.
  public var idFieldName: String { fields.idFieldName }
  /// The field that has a record's modification date.
  public var modificationDateFieldName: String { fields.modificationDateFieldName }
}

extension ConfigurationObject {
  /// Reads the API name of an object, which is required.
  func objectName(_ name: String) -> String? {
    guard let text = requiredText(name, "\"Account\"") else { return nil }
    if let node = self[name], !APIName.isValid(text) {
      reader.report(
        node, "\(JSONText.quoted(text)) is not the API name of an object",
        "write letters, digits and underscores, as in \"Site_Visit__c\"")
    }
    return text
  }

  /// Reads a field list, which is required and must not be empty.
  func fields(_ name: String) -> [String]? {
    guard let node = required(name, "[\"Id\", \"Name\"]"), let fields = reader.strings(node) else {
      return nil
    }
    if fields.isEmpty {
      reader.report(node, "the field list is empty", "name at least one field")
    }
    for (index, field) in fields.enumerated() where field.isEmpty {
      reader.report(node.array?[index] ?? node, "this field name is empty", "write a field's name")
    }
    return fields
  }

  /// Reads a count, which the SDK limits silently.
  func count(_ name: String, most: Int) -> Int {
    min(int(name, default: most, in: 1...Int.max), most)
  }
}
