extension HTTPClient {
  /// Connection settings and response limits.
  package struct Configuration: Sendable {
    /// A PEM file of trusted authorities.
    ///
    /// If it is nil, `CURL_CA_BUNDLE`, `SSL_CERT_FILE` or the system's file is used. libcurl itself
    /// reads neither variable.
    package var caFile: String?
    /// The maximum number of concurrent transfers; further ones are queued.
    package var concurrency = 4
    /// The maximum size of a decoded body.
    package var responseLimitBytes = 64 << 20
    /// The maximum time to establish a connection.
    package var connectTimeoutSeconds = 30
    /// The value of the `User-Agent` field.
    package var userAgent = "attache"

    package init() {}
  }
}
