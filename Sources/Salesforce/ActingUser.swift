/// As whom the org is asked: who may see and change what is decided by the org.
package enum ActingUser: String, Sendable, Hashable, CaseIterable {
  /// The snapshot's own user.
  case user
  /// The pipeline's integration user.
  case integration
}
