import JSON

/// A target whose code is in the app: its class names and whatever else it has are carried
/// unchanged.
public struct CustomTarget: Sendable, Hashable {
  /// The class that runs it on iOS.
  public var iOSImpl: String?
  /// The class that runs it on Android.
  public var androidImpl: String?
  /// The target as the file has it.
  package var json: JSONValue

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
