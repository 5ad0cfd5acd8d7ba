import System

/// The login to an org.
///
/// A JWT can act as any user who approved the connected app, and refresh tokens as each user who
/// has one. Every other method is for one user.
public struct Credentials: Sendable {
  /// The login methods.
  package enum Method: Sendable {
    /// A token signed with the connected app's key, for a user named at each login.
    case jwt(clientID: String, key: Secret, audience: String?)
    /// The user of the connected app; My Domain hosts only.
    case clientCredentials(clientID: String, secret: Secret)
    /// An existing token, until it expires.
    case accessToken(Secret)
    /// A refresh token of one user.
    case refreshToken(clientID: String, secret: Secret?, token: Secret)
    /// Refresh tokens of several users, by username in lower case.
    case refreshTokens(clientID: String, secret: Secret?, byUser: [String: Secret])
    /// The login of the `sf` command under an alias.
    case sf(alias: String)
  }

  package let method: Method
  /// The store for refresh tokens that replace used ones.
  package var keeper: any RefreshTokenKeeper = MemoryRefreshTokens()

  package init(_ method: Method) { self.method = method }

  /// The JWT bearer flow.
  ///
  /// `key` is the private key in PEM, `audience` the address of the login host.
  public static func jwt(clientID: String, key: String, audience: String? = nil) -> Credentials {
    Credentials(.jwt(clientID: clientID, key: Secret(key), audience: audience))
  }

  /// The client credentials flow, for the user of the connected app.
  public static func clientCredentials(clientID: String, secret: String) -> Credentials {
    Credentials(.clientCredentials(clientID: clientID, secret: Secret(secret)))
  }

  /// A token that is already valid.
  public static func accessToken(_ token: String) -> Credentials {
    Credentials(.accessToken(Secret(token)))
  }

  /// The refresh token flow, for the user of the token.
  public static func refreshToken(
    clientID: String, secret: String? = nil, token: String
  ) -> Credentials {
    Credentials(
      .refreshToken(clientID: clientID, secret: secret.map { Secret($0) }, token: Secret(token)))
  }

  /// The login that the `sf` command stores under `alias`.
  public static func sf(alias: String) -> Credentials { Credentials(.sf(alias: alias)) }

  /// Whether there can be sessions for any user, rather than for one only.
  package var canActAsAnyone: Bool {
    switch method {
    case .jwt, .refreshTokens: true
    case .clientCredentials, .accessToken, .refreshToken, .sf: false
    }
  }

  /// Whether a token is always for the named user, regardless of the configuration.
  var namesUser: Bool {
    if case .jwt = method { true } else { false }
  }
}
