import JSON

/// A target whose code is in the app: its class names and whatever else it has are carried
/// unchanged.
public struct CustomTarget: ConfiguredDownKind {
  /// The class that runs it on iOS.
  public var iOSImpl: String?
  /// The class that runs it on Android.
  public var androidImpl: String?
  /// The target as the file has it.
  package var json: JSONValue

  /// A target made in code.
  ///
  /// - Parameters:
  ///   - iOSImpl: The class by which the target is found, on iOS.
  ///   - androidImpl: The class by which the target is found, on Android.
  ///   - json: The JSON text of an object with whatever else the target needs.
  public init(iOSImpl: String? = nil, androidImpl: String? = nil, json: String = "{}") throws {
    let value = try JSONValue(parsing: json)
    guard var object = value.object, iOSImpl != nil || androidImpl != nil else {
      throw SyncError(
        .definition, "a custom target is a JSON object with the class that runs it",
        fix: "give iOSImpl or androidImpl, and an object")
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
        node, "a custom target needs the class that runs it",
        "add \"iOSImpl\": \"…\" and \"androidImpl\": \"…\"")
      return nil
    }
    iOSImpl = ios
    androidImpl = android
    json = node.value
  }
}
