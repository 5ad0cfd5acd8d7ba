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
  /// A request is repeated after a pause, as attempt so many of at most so many.
  case retrying(
    request: String, reason: String, attempt: Int, of: Int, milliseconds: Int, identity: String)
  /// A session started.
  case loggedIn(username: String, userID: String)
  case renewed(username: String)
}

/// An observer of what happens between attache and every org that is opened while it is set.
///
/// It is not a bare function: the optimizer of Swift 6.3.1 names the type of a task-local function
/// in a form that cannot be instantiated at run time.
package struct OrgObserver: Sendable {
  /// The observer of the current task, which its child tasks inherit.
  @TaskLocal package static var current: OrgObserver?

  /// Receives each event, from any thread.
  package let see: @Sendable (OrgEvent) -> Void

  package init(_ see: @escaping @Sendable (OrgEvent) -> Void) { self.see = see }
}
