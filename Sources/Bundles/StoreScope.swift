/// Whose a store is.
package enum StoreScope: String, Sendable, Hashable, CaseIterable {
  /// One user's.
  case user
  /// The pipeline's, the same for all its users.
  case global
}
