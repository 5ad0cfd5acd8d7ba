import JSON

/// The identity of a token.
package struct UserInfo: Sendable, Hashable {
  /// The user's 18-character ID.
  package let userID: String
  /// The org's 18-character ID.
  package let organizationID: String
  package let username: String
  package let name: String?
  /// The user's email address.
  package let email: String?

  var identity: Session.Identity {
    Session.Identity(organizationID: organizationID, userID: userID, username: username)
  }

  static func fetch(
    _ connection: OrgConnection, _ token: SessionToken, identity: String = ""
  ) async throws(OrgError) -> UserInfo {
    let call = OrgCall(.userInfo, "GET", "/services/oauth2/userinfo")
    let response = try await connection.perform(
      call, base: token.current.instanceURL, token: token, identity: identity)
    let value = try Session.parse(response, call)
    guard let user = value["user_id"]?.string.flatMap({ RecordID($0) }),
      let organization = value["organization_id"]?.string.flatMap({ RecordID($0) }),
      let username = value["preferred_username"]?.string
    else {
      throw Session.invalidResponse(
        "the response has no user_id, organization_id or preferred_username", call)
    }
    return UserInfo(
      userID: user.text18, organizationID: organization.text18, username: username,
      name: value["name"]?.string, email: value["email"]?.string)
  }
}

extension Session {
  /// The current identity of the session, from the org.
  package func userInfo() async throws(OrgError) -> UserInfo {
    try await UserInfo.fetch(connection, token, identity: identity.username)
  }

  /// Whether the org responds at all.
  ///
  /// If only one request gets no response, that is not an outage.
  package func isAnswered() async -> Bool { (try? await userInfo()) != nil }
}
