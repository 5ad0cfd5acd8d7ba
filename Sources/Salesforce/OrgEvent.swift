/// An event between attache and an org, for progress and logs.
///
/// It never contains values.
package enum OrgEvent: Sendable, Hashable {
  /// A response was received.
  case answered(
    kind: RequestKind, request: String, status: Int, milliseconds: Int, bytes: Int,
    identity: String)
  /// A request will be repeated after a pause.
  case retrying(request: String, reason: String, milliseconds: Int, identity: String)
  /// A session started.
  case loggedIn(username: String, userID: String)
  case renewed(username: String)
}
