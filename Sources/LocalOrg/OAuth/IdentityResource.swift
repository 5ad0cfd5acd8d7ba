import HTTP
import JSON
import System

/// The identity of a token: `userinfo`, the identity URL, and `revoke`.
struct IdentityResource: Sendable {
  let org: Org
  let sessions: Sessions

  /// `GET /services/oauth2/userinfo`.
  func userinfo(_ session: Session?, origin: String) -> ServerResponse {
    guard let session else { return Self.badToken }
    let user = session.user
    let info: JSONValue = [
      "sub": .string("\(origin)/id/\(org.organizationID)/\(user.id)"), "user_id": .string(user.id),
      "organization_id": .string(org.organizationID),
      "preferred_username": .string(user.username), "nickname": .string(user.username),
      "name": .string(user.name), "email": .string(user.email), "email_verified": true,
      "given_name": user.firstName.map(JSONValue.string) ?? .null,
      "family_name": .string(user.lastName), "zoneinfo": "GMT", "photos": [:],
      "profile": .string("\(origin)/\(user.id)"), "urls": .object(urls(origin)),
      "active": .bool(user.isActive), "user_type": "STANDARD", "language": "en_US",
      "locale": "en_US", "utcOffset": 0, "updated_at": .string(Dates.utc(org.now())),
    ]
    return ServerResponse(status: 200, headers: Wire.json, body: info.bytes)
  }

  /// `GET /id/ORG/USER`, with the token in a header or in `oauth_token`.
  func identity(_ session: Session?, _ target: Target, origin: String) -> ServerResponse {
    guard let session, target.segments.count == 3 else { return Self.badToken }
    let ids = target.segments.dropFirst().map { OrgID.normalize($0) }
    guard ids == [org.organizationID, session.user.id] else {
      return ServerResponse(
        status: 404, headers: ["Content-Type": "text/html"], body: Array("Bad_Id".utf8))
    }
    let user = session.user
    let identity: JSONValue = [
      "id": .string("\(origin)/id/\(org.organizationID)/\(user.id)"), "asserted_user": true,
      "user_id": .string(user.id), "organization_id": .string(org.organizationID),
      "username": .string(user.username), "nick_name": .string(user.username),
      "display_name": .string(user.name), "email": .string(user.email),
      "email_verified": true, "active": .bool(user.isActive), "user_type": "STANDARD",
      "language": "en_US", "locale": "en_US", "utcOffset": 0, "urls": .object(urls(origin)),
      "last_modified_date": .string(Dates.utc(org.now())), "is_app_installed": true,
    ]
    return ServerResponse(status: 200, headers: Wire.json, body: identity.bytes)
  }

  /// `POST /services/oauth2/revoke`; its errors are form-encoded.
  func revoke(_ request: ServerRequest) -> ServerResponse {
    let form = HTTPQuery.decode(form: String(decoding: request.body, as: UTF8.self))
    let token = (form + request.query).first { $0.0 == "token" }?.1
    guard let token, sessions.revoke(token) else {
      let text = "error=invalid_token&error_description=invalid%20token"
      return ServerResponse(
        status: 400, headers: ["Content-Type": "application/x-www-form-urlencoded"],
        body: Array(text.utf8))
    }
    return ServerResponse(status: 200)
  }

  /// Here an invalid token gets a 403 with exactly this message, not a 401.
  private static let badToken = ServerResponse(
    status: 403, headers: ["Content-Type": "text/html;charset=UTF-8"],
    body: Array("Bad_OAuth_Token".utf8))

  private func urls(_ origin: String) -> JSONObject {
    let rest = "\(origin)/services/data/v{version}/"
    return [
      "rest": .string(rest), "sobjects": .string(rest + "sobjects/"),
      "query": .string(rest + "query/"), "recent": .string(rest + "recent/"),
    ]
  }
}
