/// The user whose permissions apply to requests: the org decides what that user may see and change.
package enum ActingUser: String, Sendable, Hashable, CaseIterable {
  /// The user of the snapshot.
  case user
  /// The integration user of the pipeline.
  case integration
}
