extension OrgServer {
  /// An app that logs in with a secret and acts as one user.
  package struct Client: Sendable {
    /// The secret.
    package let secret: String
    /// The user name that it acts as.
    package let username: String

    /// A client with its secret.
    package init(secret: String, username: String) {
      self.secret = secret
      self.username = username
    }
  }

  /// How an org is served.
  package struct Options: Sendable {
    /// The address to listen at.
    package var address = "127.0.0.1"
    /// The password, with the security token at its end, of every active user; nil lets nobody log
    /// in with one.
    package var password: String?
    /// Whether bodies are compressed for clients that can read it.
    package var compresses = false
    /// The port for plain HTTP; 0 takes a free one.
    package var port: UInt16 = 0
    /// Connected apps for the JWT bearer flow: client id to certificate, PEM.
    package var apps: [String: [UInt8]] = [:]
    /// Clients for the client credentials flow, by client id.
    package var clients: [String: Client] = [:]
    /// Certificate chain and private key, PEM, of a second listener that speaks TLS.
    package var identity: (certificate: String, key: String)?
    /// The port of that listener; 0 takes a free one.
    package var securePort: UInt16 = 0
    /// How many calls a day the org allows; the day begins when the server starts.
    package var dailyLimit = 15_000
    /// The most bytes of a request's body, but for the data of a bulk job.
    package var mostBodyBytes = 50_000_000
    /// The most records of a page of priming records.
    package var primingPageSize = 2000
    /// The most children of one record in a page of a relationship query; the rest has a locator of
    /// its own.
    package var childPageSize = OrgLimits.children
    /// Whether reading the next page of parents ends the locators of the children in the pages
    /// before, as in a real org.
    package var endsChildLocators = true
    /// The most records of a page of a bulk query's results.
    package var bulkPageSize = 50_000
    /// How many runs of 2,000 rows a request does of a job's work; nil: as many as it has time for.
    package var bulkRuns: Int?
    /// Whether priming refuses a request with both of its parameters, as the documentation has it.
    package var isStrict = false
    /// After how many seconds without a request a session ends.
    package var sessionSeconds = 7200
    /// After how many seconds a token ends; nil: when it is revoked.
    package var tokenLifetimeSeconds: Int?
    /// Whether a refresh token is good once, and its use gives the next.
    package var rotatesRefreshTokens = false
    /// What opens `/attache/…` to other processes; nil keeps it shut.
    package var adminSecret: String?
    /// Whether requests are also written to `requests.jsonl` in the org's directory.
    package var writesLog = true

    /// The defaults.
    package init() {}
  }
}
