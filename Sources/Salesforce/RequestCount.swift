/// The number of requests of one kind in the name of one user.
package struct RequestCount: Sendable, Hashable {
  package let kind: RequestKind
  /// The username; empty if no user is involved.
  package let identity: String
  /// The number, including repeats.
  package let count: Int
}
