/// Something that happened between us and an org, for progress and logs; never holds values.
package enum OrgEvent: Sendable, Hashable {
  /// A request was answered.
  case answered(
    kind: RequestKind, request: String, status: Int, milliseconds: Int, bytes: Int,
    identity: String)
  /// A request is repeated after a pause.
  case retrying(request: String, reason: String, milliseconds: Int, identity: String)
  /// A session began.
  case loggedIn(username: String, userID: String)
  /// An expired session was renewed.
  case renewed(username: String)
}
