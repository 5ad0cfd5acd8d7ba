import Crypto
import System

/// The refresh tokens that are valid now.
final class RefreshTokens: Sendable {
  /// Whom a token renews the sessions of.
  struct Grant: Sendable {
    let username: String
    let clientID: String
  }

  private let grants = Locked<[String: Grant]>([:])
  /// Whether each token is good once, and its use gives the next.
  let isRotating: Bool

  init(isRotating: Bool) { self.isRotating = isRotating }

  func issue(_ grant: Grant) -> String {
    let token = "5Aep" + Base64.encodeURL(RandomBytes.make(48))
    grants.withLock { $0[token] = grant }
    return token
  }

  /// Uses a token: what it grants, and the token in its place where they rotate.
  func use(_ token: String, clientID: String) -> (grant: Grant, next: String?)? {
    let found = grants.withLock { grants -> Grant? in
      guard let grant = grants[token], grant.clientID == clientID else { return nil }
      if isRotating { grants[token] = nil }
      return grant
    }
    guard let found else { return nil }
    return (found, isRotating ? issue(found) : nil)
  }
}
