import Crypto
import System

/// The valid refresh tokens.
final class RefreshTokens: Sendable {
  /// The user and app whose sessions a token renews.
  struct Grant: Sendable {
    let username: String
    let clientID: String
  }

  private let grants = Locked<[String: Grant]>([:])
  /// Whether each token is valid once, and its use returns the next one.
  let isRotating: Bool

  init(isRotating: Bool) { self.isRotating = isRotating }

  func issue(_ grant: Grant) -> String {
    let token = "5Aep" + Base64.encodeURL(RandomBytes.make(48))
    grants.withLock { $0[token] = grant }
    return token
  }

  /// Uses a token and returns its grant, with the next token if tokens rotate.
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
