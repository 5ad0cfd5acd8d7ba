import Crypto
import System

/// Who speaks, by its token.
struct Session: Sendable {
  let token: String
  let user: OrgUser
  /// The connected app that asked for the token; nil for one made by hand.
  let clientID: String?
}

/// The tokens that are valid now; a restart forgets them, as clients must be ready for.
final class Sessions: Sendable {
  private struct Grant {
    let userID: String
    let clientID: String?
    let issued: Int64
  }

  private let grants = Locked<[String: Grant]>([:])
  private let lifetimeMilliseconds: Int64?

  init(lifetimeSeconds: Int?) {
    lifetimeMilliseconds = lifetimeSeconds.map { Int64($0) * 1000 }
  }

  /// A new token: the org's id, `!`, and characters that mean nothing.
  func issue(to user: OrgUser, clientID: String?, organizationID: String) -> String {
    let secret = Base64.encodeURL(RandomBytes.make(66)).map { $0 == "-" ? "." : $0 }
    let token = "\(organizationID.prefix(15))!\(String(secret))"
    let grant = Grant(userID: user.id, clientID: clientID, issued: Clock.wallMilliseconds())
    grants.withLock { $0[token] = grant }
    return token
  }

  /// The session of a token, if it is valid and its user still active.
  func session(_ token: String, in org: Org) -> Session? {
    guard let grant = grants.withLock({ $0[token] }) else { return nil }
    if let lifetimeMilliseconds,
      Clock.wallMilliseconds() - grant.issued >= lifetimeMilliseconds
    {
      return nil
    }
    guard let user = org.user(id: grant.userID), user.isActive else { return nil }
    return Session(token: token, user: user, clientID: grant.clientID)
  }

  /// Ends a session; answers whether there was one.
  @discardableResult
  func revoke(_ token: String) -> Bool {
    grants.withLock { $0.removeValue(forKey: token) != nil }
  }

  /// Ends every session.
  func revokeAll() { grants.withLock { $0 = [:] } }
}
