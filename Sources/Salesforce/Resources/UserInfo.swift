import JSON

/// Who a token is.
package struct UserInfo: Sendable, Hashable {
  /// The user's 18-character id.
  package let userID: String
  /// The org's 18-character id.
  package let organizationID: String
  /// The user's name.
  package let username: String
  /// The user's display name.
  package let name: String?
  /// The user's address.
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
        "the answer has no user_id, organization_id or preferred_username", call)
    }
    return UserInfo(
      userID: user.text18, organizationID: organization.text18, username: username,
      name: value["name"]?.string, email: value["email"]?.string)
  }
}

extension Session {
  /// Who the session is, as the org has it now.
  package func userInfo() async throws(OrgError) -> UserInfo {
    try await UserInfo.fetch(connection, token, identity: identity.username)
  }

  /// Whether the org answers anything at all: one question that is never answered is no outage.
  package func isAnswered() async -> Bool { (try? await userInfo()) != nil }
}
