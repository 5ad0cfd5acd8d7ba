import JSON

/// The API versions of an org.
enum Versions {
  private static let path = "/services/data"
  static let request = "GET " + path

  static func fetch(
    _ connection: OrgConnection, base: String, identity: String = ""
  ) async throws(OrgError) -> [String] {
    let call = OrgCall(.versions, "GET", path)
    let response = try await connection.perform(
      call, base: base, token: nil, identity: identity)
    let versions = try Session.parse(response, call).array?.compactMap { $0["version"]?.string }
    guard let versions, !versions.isEmpty else {
      throw Session.invalidResponse("the response lists no version", call)
    }
    return versions
  }
}

extension Session {
  /// The API versions of the org, ascending; needs no login and counts against no limit.
  package func versions() async throws(OrgError) -> [String] {
    try await Versions.fetch(connection, base: instanceURL, identity: identity.username)
  }
}
