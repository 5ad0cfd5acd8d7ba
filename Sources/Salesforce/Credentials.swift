import System

/// How to log in to an org.
///
/// A JWT can act as any user who approved the connected app, and refresh tokens as each user who has
/// one; every other way is one user.
public struct Credentials: Sendable {
  /// The ways to log in.
  package enum Method: Sendable {
    /// A token signed with the connected app's key, for a user named at each login.
    case jwt(clientID: String, key: Secret, audience: String?)
    /// The connected app's own user; My Domain hosts only.
    case clientCredentials(clientID: String, secret: Secret)
    /// A token that somebody else got, until it expires.
    case accessToken(Secret)
    /// A token that renews itself, of one user.
    case refreshToken(clientID: String, secret: Secret?, token: Secret)
    /// Tokens that renew themselves, one for each user, by the username in lower case.
    case refreshTokens(clientID: String, secret: Secret?, byUser: [String: Secret])
    /// Whatever the `sf` command is logged in as under an alias.
    case sf(alias: String)
  }

  /// The way to log in.
  package let method: Method
  /// What keeps the refresh tokens that replace those that were used.
  package var keeper: any RefreshTokenKeeper = MemoryRefreshTokens()

  /// Credentials of a way to log in.
  package init(_ method: Method) { self.method = method }

  /// The JWT bearer flow: `key` is the private key's PEM text, `audience` the login host's address.
  public static func jwt(clientID: String, key: String, audience: String? = nil) -> Credentials {
    Credentials(.jwt(clientID: clientID, key: Secret(key), audience: audience))
  }

  /// The client credentials flow.
  public static func clientCredentials(clientID: String, secret: String) -> Credentials {
    Credentials(.clientCredentials(clientID: clientID, secret: Secret(secret)))
  }

  /// A token that is valid already.
  public static func accessToken(_ token: String) -> Credentials {
    Credentials(.accessToken(Secret(token)))
  }

  /// The refresh token flow.
  public static func refreshToken(
    clientID: String, secret: String? = nil, token: String
  ) -> Credentials {
    Credentials(
      .refreshToken(clientID: clientID, secret: secret.map { Secret($0) }, token: Secret(token)))
  }

  /// The login that the `sf` command holds under `alias`.
  public static func sf(alias: String) -> Credentials { Credentials(.sf(alias: alias)) }

  /// Whether a session may be had for any user, or for one only.
  package var canActAsAnyone: Bool {
    switch method {
    case .jwt, .refreshTokens: true
    case .clientCredentials, .accessToken, .refreshToken, .sf: false
    }
  }

  /// Whether a token is for the user who was named, whatever was configured.
  var namesUser: Bool {
    if case .jwt = method { true } else { false }
  }
}
