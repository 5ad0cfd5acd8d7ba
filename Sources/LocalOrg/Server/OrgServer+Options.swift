extension OrgServer {
  /// An app that logs in with a secret and acts as one user.
  package struct Client: Sendable {
    package let secret: String
    /// The user name of the user it acts as.
    package let username: String

    package init(secret: String, username: String) {
      self.secret = secret
      self.username = username
    }
  }

  /// How an org is served.
  package struct Options: Sendable {
    /// The address to listen on.
    package var address = "127.0.0.1"
    /// The password of every active user, with the security token appended; nil disables password
    /// logins.
    package var password: String?
    /// Whether bodies are compressed for clients that accept it.
    package var compresses = false
    /// The port for plain HTTP; 0 selects a free one.
    package var port: UInt16 = 0
    /// The connected apps for the JWT bearer flow: client ID to PEM certificate.
    package var apps: [String: [UInt8]] = [:]
    /// The clients for the client credentials flow, by client ID.
    package var clients: [String: Client] = [:]
    /// The PEM certificate chain and private key of a second listener with TLS.
    package var identity: (certificate: String, key: String)?
    /// The port of that listener; 0 selects a free one.
    package var securePort: UInt16 = 0
    /// The number of calls per day that the org allows; the day starts with the server.
    package var dailyLimit = 15_000
    /// The maximum size of a request's body in bytes, except for the data of a bulk job.
    package var mostBodyBytes = 50_000_000
    /// The maximum number of records per page of priming records.
    package var primingPageSize = 2000
    /// The maximum number of children of one record per page of a relationship query; the others
    /// have a separate locator.
    package var childPageSize = OrgLimits.children
    /// Whether reading the next page of parents invalidates the locators of children on earlier
    /// pages, as in a real org.
    package var endsChildLocators = true
    /// The maximum number of records per page of a bulk query's results.
    package var bulkPageSize = 50_000
    /// The number of runs of 2,000 rows that a request processes; nil for as many as time allows.
    package var bulkRuns: Int?
    /// Whether priming rejects a request with both of its parameters, as documented.
    package var isStrict = false
    /// The number of seconds without a request after which a session ends.
    package var sessionSeconds = 7200
    /// The number of seconds after which a token expires; nil for never.
    package var tokenLifetimeSeconds: Int?
    /// Whether a refresh token is valid once, and its use returns the next one.
    package var rotatesRefreshTokens = false
    /// The secret for `/attache/…`; nil disables it.
    package var adminSecret: String?
    /// Whether requests are also written to `requests.jsonl` in the org's directory.
    package var writesLog = true

    package init() {}
  }
}
