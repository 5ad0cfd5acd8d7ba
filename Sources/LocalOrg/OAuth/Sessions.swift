import Crypto
import System

/// The user and app of a token.
struct Session: Sendable {
  let token: String
  let user: OrgUser
  /// The connected app that requested the token; nil for a token created directly.
  let clientID: String?
}

/// The valid tokens; a restart discards them, for which clients must be prepared.
final class Sessions: Sendable {
  private struct Grant {
    let userID: String
    let clientID: String?
    let issued: Int64
    /// The time of the last use.
    var used: Int64
  }

  private let grants = Locked<[String: Grant]>([:])
  private let lifetimeMilliseconds: Int64?
  private let idleMilliseconds: Int64

  init(lifetimeSeconds: Int?, idleSeconds: Int) {
    lifetimeMilliseconds = lifetimeSeconds.map { Int64($0) * 1000 }
    idleMilliseconds = Int64(idleSeconds) * 1000
  }

  /// Returns a new token: the org's ID, `!`, and random characters.
  func issue(to user: OrgUser, clientID: String?, organizationID: String) -> String {
    let secret = Base64.encodeURL(RandomBytes.make(66)).map { $0 == "-" ? "." : $0 }
    let token = "\(organizationID.prefix(15))!\(String(secret))"
    let now = Clock.wallMilliseconds()
    let grant = Grant(userID: user.id, clientID: clientID, issued: now, used: now)
    grants.withLock { $0[token] = grant }
    return token
  }

  /// Returns the session of a token if it is valid and its user is still active.
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

  /// Ends a session; returns whether it existed.
  @discardableResult
  func revoke(_ token: String) -> Bool {
    grants.withLock { $0.removeValue(forKey: token) != nil }
  }

  func revokeAll() { grants.withLock { $0 = [:] } }
}
