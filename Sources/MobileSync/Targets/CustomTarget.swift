import JSON

/// A target whose code is in the app; its class names and all other members are preserved
/// unchanged.
public struct CustomTarget: ConfiguredDownKind {
  /// The class that implements it on iOS.
  public var iOSImpl: String?
  /// The class that implements it on Android.
  public var androidImpl: String?
  /// The target as written in the file.
  package var json: JSONValue

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - iOSImpl: The class name of the target on iOS.
  ///   - androidImpl: The class name of the target on Android.
  ///   - json: The JSON text of an object with further members of the target.
  public init(iOSImpl: String? = nil, androidImpl: String? = nil, json: String = "{}") throws {
    let value = try JSONValue(parsing: json)
    guard var object = value.object, iOSImpl != nil || androidImpl != nil else {
      throw SyncError(
        .definition, "a custom target is a JSON object with the class that implements it",
        fix: "set iOSImpl or androidImpl, and an object")
    }
    object["type"] = .string(Self.type)
    object["iOSImpl"] = iOSImpl.map(JSONValue.string)
    object["androidImpl"] = androidImpl.map(JSONValue.string)
    self.iOSImpl = iOSImpl
    self.androidImpl = androidImpl
    self.json = .object(object)
  }

  static let type = "custom"
  static let keys: [String] = []

  init?(_ object: ConfigurationObject) { self.init(object.node, object.reader) }

  init?(_ node: JSONNode, _ reader: ConfigurationReader) {
    let ios = node["iOSImpl"].flatMap(reader.string)
    let android = node["androidImpl"].flatMap(reader.string)
    if ios == nil, android == nil {
      reader.report(
        node, "a custom target requires the class that implements it",
        "add \"iOSImpl\": \"…\" and \"androidImpl\": \"…\"")
      return nil
    }
    iOSImpl = ios
    androidImpl = android
    json = node.value
  }
}
