extension HTTPClient {
  /// How to connect, and how much to accept.
  package struct Configuration: Sendable {
    /// PEM file of the authorities to trust; nil for `CURL_CA_BUNDLE`, `SSL_CERT_FILE` or the
    /// system's (libcurl itself reads neither variable).
    package var caFile: String?
    /// The most transfers at once; more wait their turn.
    package var concurrency = 4
    /// The most bytes of a decoded body.
    package var responseLimitBytes = 64 << 20
    /// The longest that a connection may take to come about.
    package var connectTimeoutSeconds = 30
    /// What the client calls itself.
    package var userAgent = "attache"

    /// The defaults.
    package init() {}
  }
}
