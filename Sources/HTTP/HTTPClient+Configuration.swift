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
    /// A transfer slower than this for `lowSpeedSeconds` is given up.
    package var lowSpeedBytesPerSecond = 64
    /// See `lowSpeedBytesPerSecond`; long, because an org may think before it answers.
    package var lowSpeedSeconds = 120
    /// What the client calls itself.
    package var userAgent = "attache"

    /// The defaults.
    package init() {}
  }
}
