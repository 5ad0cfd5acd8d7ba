/// How many requests of one kind were made in one user's name.
package struct RequestCount: Sendable, Hashable {
  /// The kind.
  package let kind: RequestKind
  /// The username, or empty where no user is involved.
  package let identity: String
  /// The number, repeats included.
  package let count: Int
}
