import JSON

/// The result of a login.
package struct Grant: Sendable {
  package let token: String
  /// The base address of the org's resources, without a trailing slash.
  package let instanceURL: String
  let organizationID: String?
  let userID: String?
  /// The refresh token that replaces the used one.
  let refreshToken: String?

  init(token: String, instanceURL: String) {
    self.token = token
    self.instanceURL = Self.withoutSlash(instanceURL)
    organizationID = nil
    userID = nil
    refreshToken = nil
  }

  /// Parses the response of a token endpoint; nil if a member is missing.
  init?(_ answer: JSONValue) {
    guard let token = answer["access_token"]?.string, !token.isEmpty,
      let instanceURL = answer["instance_url"]?.string
    else { return nil }
    self.token = token
    self.instanceURL = Self.withoutSlash(instanceURL)
    // "https://login.example.com/id/<organization>/<user>"
    let parts = answer["id"]?.string?.split(separator: "/").map(String.init) ?? []
    let ids = parts.suffix(2).compactMap { $0.recordID18 }
    organizationID = ids.count == 2 ? ids[0] : nil
    userID = ids.count == 2 ? ids[1] : nil
    refreshToken = answer["refresh_token"]?.string
  }

  static func withoutSlash(_ url: String) -> String {
    var result = url[...]
    while result.last == "/" { result.removeLast() }
    return String(result)
  }
}
