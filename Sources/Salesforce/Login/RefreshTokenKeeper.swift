import System

/// Keeps the refresh tokens that an org gives in place of those that were used.
///
/// An org that rotates them takes each once: whoever renews a session has to use the newest, and the next
/// process has to know it. A token is named by the one that was configured, which never changes.
package protocol RefreshTokenKeeper: Sendable {
  /// The newest token in the line of `token`; nobody else gets it before `end` is called.
  func begin(_ token: Secret) async throws(OrgError) -> Secret

  /// Ends what `begin` began; `replacement` is what the org gave instead, nil if nothing.
  func end(_ token: Secret, replacement: Secret?) throws(OrgError)
}

/// Keeps them as long as the process lives; logins of one org are one at a time for each user.
final class MemoryRefreshTokens: RefreshTokenKeeper {
  private let newest = Locked<[Secret: Secret]>([:])

  func begin(_ token: Secret) -> Secret { newest.withLock { $0[token] ?? token } }

  func end(_ token: Secret, replacement: Secret?) {
    if let replacement { newest.withLock { $0[token] = replacement } }
  }
}
