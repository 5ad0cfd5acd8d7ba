import System

/// Stores the refresh tokens that an org issues to replace used ones.
///
/// An org with token rotation accepts each token once. Every session renewal must use the newest
/// one, and the next process needs it too. A token is identified by the configured one, which never
/// changes.
package protocol RefreshTokenKeeper: Sendable {
  /// Returns the newest successor of `token` and locks it until `end` is called.
  func begin(_ token: Secret) async throws(OrgError) -> Secret

  /// Ends the use that `begin` started; `replacement` is the new token, nil if the org issued none.
  func end(_ token: Secret, replacement: Secret?) throws(OrgError)
}

/// Keeps the tokens in memory.
///
/// There is only one login at a time per user of an org.
final class MemoryRefreshTokens: RefreshTokenKeeper {
  private let newest = Locked<[Secret: Secret]>([:])

  func begin(_ token: Secret) -> Secret { newest.withLock { $0[token] ?? token } }

  func end(_ token: Secret, replacement: Secret?) {
    if let replacement { newest.withLock { $0[token] = replacement } }
  }
}
