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
    /// When it was used last.
    var used: Int64
  }

  private let grants = Locked<[String: Grant]>([:])
  private let lifetimeMilliseconds: Int64?
  private let idleMilliseconds: Int64

  init(lifetimeSeconds: Int?, idleSeconds: Int) {
    lifetimeMilliseconds = lifetimeSeconds.map { Int64($0) * 1000 }
    idleMilliseconds = Int64(idleSeconds) * 1000
  }

  /// A new token: the org's id, `!`, and characters that mean nothing.
  func issue(to user: OrgUser, clientID: String?, organizationID: String) -> String {
    let secret = Base64.encodeURL(RandomBytes.make(66)).map { $0 == "-" ? "." : $0 }
    let token = "\(organizationID.prefix(15))!\(String(secret))"
    let now = Clock.wallMilliseconds()
    let grant = Grant(userID: user.id, clientID: clientID, issued: now, used: now)
    grants.withLock { $0[token] = grant }
    return token
  }

  /// The session of a token, if it is valid and its user still active.
  func session(_ token: String, in org: Org) -> Session? {
    let now = Clock.wallMilliseconds()
    let found = grants.withLock { grants -> Grant? in
      guard let grant = grants[token] else { return nil }
      let isOver = lifetimeMilliseconds.map { now - grant.issued >= $0 } ?? false
      guard !isOver, now - grant.used < idleMilliseconds else { return nil }
      grants[token]?.used = now
      return grant
    }
    guard let grant = found else { return nil }
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
