/// Whose data a store holds.
package enum StoreScope: String, Sendable, Hashable, CaseIterable {
  /// A user's: one file a user and platform.
  case user
  /// Everybody's: one file a pipeline and platform, in every bundle.
  case global
}
