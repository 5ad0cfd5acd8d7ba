import JSON

/// The API versions, and the resources of a version.
package enum VersionResource {
  /// All versions that are served and listed by `/services/data`.
  static let numbers = 31...66
  /// The newest version, as in a URL.
  package static var newest: String { "\(numbers.upperBound).0" }

  /// `GET /services/data`, in ascending order, as expected by clients that use the last one.
  static var versions: APIResponse {
    .json(
      .array(
        numbers.map { number in
          [
            "label": .string(label(of: number)), "url": .string("/services/data/v\(number).0"),
            "version": .string("\(number).0"),
          ]
        }))
  }

  /// `GET /services/data/vNN.0`.
  @Sendable static func resources(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let names = [
      ("sobjects", 0), ("query", 0), ("queryAll", 0), ("search", 0), ("parameterizedSearch", 36),
      ("limits", 0), ("recent", 0), ("composite", 34), ("ui-api", 41), ("jobs", 41),
      ("connect", 54),
    ]
    var object = JSONObject()
    for (name, since) in names where since <= call.versionNumber {
      object[name] = .string("\(call.root)/\(name)")
    }
    object["identity"] = .string("/id/\(call.org.organizationID)/\(call.user.id)")
    return .json(.object(object))
  }

  /// `GET /composite`: the URLs below it.
  @Sendable static func composites(_ call: APIRequest) throws(OrgError) -> APIResponse {
    var object = JSONObject()
    for (name, since) in [("batch", 34), ("sobjects", 42), ("tree", 34)]
    where since <= call.versionNumber {
      object[name] = .string("\(call.root)/composite/\(name)")
    }
    return .json(.object(object))
  }

  /// There are three releases a year; 59.0 was the winter release of 2024.
  private static func label(of number: Int) -> String {
    let seasons = ["Winter", "Spring", "Summer"]
    let distance = number - 59
    let season = ((distance % 3) + 3) % 3
    let year = 24 + (distance - season) / 3
    return "\(seasons[season]) '\(year)"
  }
}
