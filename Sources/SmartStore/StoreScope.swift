/// The owner of a store's data.
package enum StoreScope: String, Sendable, Hashable, CaseIterable {
  /// One user: a file per user and platform.
  case user
  /// All users: a file per pipeline and platform, in every bundle.
  case global
}
