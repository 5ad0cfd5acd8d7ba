/// An event between attache and an org, for progress and logs.
///
/// It never contains values.
package enum OrgEvent: Sendable, Hashable {
  /// A response was received.
  case answered(
    kind: RequestKind, request: String, status: Int, milliseconds: Int, bytes: Int,
    identity: String)
  /// A request got no answer.
  case failed(
    kind: RequestKind, request: String, reason: String, milliseconds: Int, identity: String)
  /// A request is repeated after a pause: attempt number `attempt` of at most `of`.
  case retrying(
    request: String, reason: String, attempt: Int, of: Int, milliseconds: Int, identity: String)
  /// A session started.
  case loggedIn(username: String, userID: String)
  case renewed(username: String)
}
