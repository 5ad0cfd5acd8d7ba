import JSON

/// The login to an org.
package struct LoginSettings: Sendable, Hashable {
  /// The login methods.
  package enum Method: String, Sendable, Hashable, CaseIterable {
    /// A signed assertion for each user.
    case jwt
    /// The token of one user, or a table with one token for each user.
    case refreshToken
    /// The user that the connected app runs as.
    case clientCredentials
    /// The user that the token belongs to.
    case accessToken
    /// The user behind an alias of the `sf` command.
    case sf

    /// The keys that the method requires.
    var needs: [String] {
      switch self {
      case .jwt: ["clientId", "key"]
      case .refreshToken: ["clientId"]
      case .clientCredentials: ["clientId", "clientSecret"]
      case .accessToken: ["accessToken"]
      case .sf: ["alias"]
      }
    }

    /// The keys that the method allows in addition.
    var accepts: [String] {
      switch self {
      case .jwt: ["audience", "integrationUser"]
      case .refreshToken: ["refreshToken", "clientSecret", "integrationUser"]
      case .clientCredentials, .accessToken, .sf: ["integrationUser"]
      }
    }
  }

  package var method: Method

  /// Whether the login is a single user, as whom the org is read and written for everyone.
  func isOneUser(of users: UserSelection.Source) -> Bool {
    switch method {
    case .jwt: false
    case .refreshToken: !users.hasRefreshTokens
    case .clientCredentials, .accessToken, .sf: true
    }
  }
  /// The client ID of the connected app.
  package var clientId: TextSource?
  /// The private key of the app's certificate.
  package var key: SecretSource?
  /// The client secret of the connected app.
  package var clientSecret: SecretSource?
  /// The refresh token of the only user, or of the integration user.
  package var refreshToken: SecretSource?
  package var accessToken: SecretSource?
  /// The alias of an org in the `sf` command.
  package var alias: String?
  /// The audience of the assertion; nil for the login host.
  package var audience: String?
  /// The user with access to all records: queries users, primes global stores, confirms deletions.
  package var integrationUser: String?

  /// A login by this method, with no other settings.
  package init(method: Method) { self.method = method }

  static let keys = [
    "method", "clientId", "key", "clientSecret", "refreshToken", "accessToken", "alias",
    "audience", "integrationUser",
  ]

  init?(_ node: JSONNode, in directory: String, _ reader: ConfigurationReader) {
    guard let object = reader.object(node, known: Self.keys, what: "a login") else { return nil }
    func secret(_ name: String) -> SecretSource? {
      object[name].flatMap { reader.secret($0, in: directory) }
    }
    let method = object.required("method", "\"jwt\"").flatMap {
      reader.word($0, "a login method", as: Method.self)
    }
    self.init(method: method ?? .jwt)
    clientId = object["clientId"].flatMap { reader.text($0, in: directory) }
    key = secret("key")
    clientSecret = secret("clientSecret")
    refreshToken = secret("refreshToken")
    accessToken = secret("accessToken")
    alias = object.text("alias")
    audience = object.text("audience")
    integrationUser = object.text("integrationUser")
    guard let method else { return nil }
    let example = ["clientId": "{\"env\": \"ATTACHE_CLIENT_ID\"}", "alias": "\"my-org\""]
    for name in method.needs where object[name] == nil {
      reader.report(
        node, "a login by \(method.rawValue) needs \"\(name)\"",
        "add \"\(name)\": \(example[name] ?? "{\"file\": \"…\"}")")
    }
    for name in Self.keys.dropFirst() {
      guard let member = object.member(name), !(method.needs + method.accepts).contains(name) else {
        continue
      }
      reader.report(
        member, "a login by \(method.rawValue) does not use \"\(name)\"",
        "remove it, or choose another method")
    }
  }

  var json: JSONValue {
    JSONObject.of([
      ("method", .string(method.rawValue)), ("clientId", clientId?.json), ("key", key?.json),
      ("clientSecret", clientSecret?.json), ("refreshToken", refreshToken?.json),
      ("accessToken", accessToken?.json), ("alias", alias.map(JSONValue.string)),
      ("audience", audience.map(JSONValue.string)),
      ("integrationUser", integrationUser.map(JSONValue.string)),
    ])
  }
}
