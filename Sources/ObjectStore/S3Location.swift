import HTTP

/// The bucket of an S3 store, and how to ask for its objects.
package struct S3Location: Sendable, Hashable {
  /// The protocol of conditions and signatures.
  package enum Dialect: String, Sendable, Hashable, CaseIterable {
    /// Amazon S3, and the stores that implement its `If-Match` and `If-None-Match`.
    case s3
    /// Google Cloud Storage, whose conditions are generations.
    case gcs
  }

  /// The address of the service, without a path.
  package var endpoint: String
  package var region: String
  package var bucket: String
  /// The start of every key, without slashes at its ends; empty for none.
  package var prefix = ""
  /// Whether the bucket is the first part of the path, not of the host name.
  package var pathStyle: Bool
  package var dialect = Dialect.s3

  /// A bucket of a service; of Amazon S3 if no endpoint is given.
  ///
  /// Other services usually have no host name for each bucket.
  package init(endpoint: String? = nil, region: String, bucket: String, pathStyle: Bool? = nil) {
    self.endpoint = endpoint ?? "https://s3.\(region).amazonaws.com"
    self.region = region
    self.bucket = bucket
    self.pathStyle = pathStyle ?? (endpoint != nil)
  }

  /// The scheme and host of the endpoint, as the client sends them.
  private var parts: (scheme: String, host: String) {
    let parts = endpoint.split(separator: "://", maxSplits: 1)
    let scheme = parts.count == 2 ? parts[0].lowercased() : "https"
    var host = (parts.last ?? "").prefix { $0 != "/" }.lowercased()
    // The client does not send a default port, so it is not signed.
    let port = scheme == "https" ? ":443" : ":80"
    if host.hasSuffix(port) { host.removeLast(port.count) }
    return (scheme, host)
  }

  /// The host that requests name.
  var host: String { pathStyle ? parts.host : bucket + "." + parts.host }

  /// Whether both are the same bucket, whatever the prefixes are.
  package func isSameBucket(as other: S3Location) -> Bool {
    bucket == other.bucket && parts.host == other.parts.host
  }

  /// The whole key of an object.
  func key(_ key: String) -> String { prefix.isEmpty ? key : prefix + "/" + key }

  /// The key of an object within the prefix; nil for another object.
  func shortKey(_ key: String) -> String? {
    if prefix.isEmpty { return key }
    // Bytes: a key may start with the rest of a character.
    let start = prefix.utf8.count + 1
    guard key.utf8.starts(with: (prefix + "/").utf8) else { return nil }
    return String(key.utf8.dropFirst(start))
  }

  /// The path of an object, or of the bucket, encoded once, as it is signed.
  func path(_ key: String?) -> String {
    var parts: [String] = pathStyle ? [HTTPQuery.encode(bucket)] : []
    if let key {
      parts += self.key(key).split(separator: "/", omittingEmptySubsequences: false)
        .map { HTTPQuery.encode(String($0)) }
    }
    return "/" + parts.joined(separator: "/")
  }

  /// The address of a path with an encoded query.
  func url(_ path: String, _ query: String) -> String {
    parts.scheme + "://" + host + path + (query.isEmpty ? "" : "?" + query)
  }

  /// The store in messages.
  package var description: String {
    "\(parts.scheme)://\(parts.host)/\(bucket)" + (prefix.isEmpty ? "" : "/" + prefix)
  }
}
