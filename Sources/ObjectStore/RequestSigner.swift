import Crypto
import HTTP
import System

/// Signs requests by AWS Signature Version 4, or by its variant for Google Cloud Storage.
///
/// The signature covers the method, the path, the sorted query, all given headers, the host and the
/// digest of the body.
package struct RequestSigner: Sendable {
  /// The words in which the two protocols differ.
  package struct Scheme: Sendable, Hashable {
    /// The name of the algorithm.
    var algorithm: String
    /// The start of the signing key.
    var keyPrefix: String
    /// The service in the scope.
    var service: String
    /// The last word of the scope.
    var terminator: String
    /// The start of the names of the protocol's own headers and query parameters.
    var headerPrefix: String

    package static let aws = Scheme(
      algorithm: "AWS4-HMAC-SHA256", keyPrefix: "AWS4", service: "s3", terminator: "aws4_request",
      headerPrefix: "x-amz-")
    package static let google = Scheme(
      algorithm: "GOOG4-HMAC-SHA256", keyPrefix: "GOOG4", service: "storage",
      terminator: "goog4_request", headerPrefix: "x-goog-")
  }

  /// The digest that is signed where the body is not known, in a presigned address.
  private static let unsigned = "UNSIGNED-PAYLOAD"

  private let credentials: S3Credentials
  private let region: String
  private let scheme: Scheme

  package init(_ credentials: S3Credentials, region: String, scheme: Scheme = .aws) {
    (self.credentials, self.region, self.scheme) = (credentials, region, scheme)
  }

  /// Returns the query, encoded and in the order that is signed.
  package static func sorted(_ query: [(String, String)]) -> String {
    query.map { (HTTPQuery.encode($0.0), HTTPQuery.encode($0.1)) }.sorted { $0 < $1 }
      .map { $0.0 + "=" + $0.1 }.joined(separator: "&")
  }

  /// Returns the headers with those of the signature.
  ///
  /// `path` is encoded; the query must be sent as `sorted` returns it.
  package func signed(
    _ method: String, host: String, path: String, query: [(String, String)] = [],
    headers: HTTPHeaders, payloadSHA256: String, at milliseconds: Int64
  ) -> HTTPHeaders {
    let time = Dates.utcDigits(milliseconds)
    var headers = headers
    headers[scheme.headerPrefix + "content-sha256"] = payloadSHA256
    headers[scheme.headerPrefix + "date"] = time
    headers[scheme.headerPrefix + "security-token"] = credentials.sessionToken?.text
    let (canonical, names) = Self.canonical(headers, host)
    let signature = signature(
      [method, path, Self.sorted(query), canonical, names, payloadSHA256], time)
    headers["Authorization"] =
      "\(scheme.algorithm) Credential=\(credentials.accessKeyID)/\(scope(time)),"
      + "SignedHeaders=\(names),Signature=\(signature)"
    return headers
  }

  /// Returns the query with which anyone may send a request for some time, encoded.
  package func presigned(
    _ method: String, host: String, path: String, seconds: Int, at milliseconds: Int64
  ) -> String {
    let time = Dates.utcDigits(milliseconds)
    // X-Amz-Algorithm and so on.
    let prefix =
      scheme.headerPrefix.split(separator: "-").map(\.capitalizedWord)
      .joined(separator: "-") + "-"
    var query = [
      (prefix + "Algorithm", scheme.algorithm),
      (prefix + "Credential", credentials.accessKeyID + "/" + scope(time)),
      (prefix + "Date", time), (prefix + "Expires", String(seconds)),
      (prefix + "SignedHeaders", "host"),
    ]
    if let token = credentials.sessionToken?.text {
      query.append((prefix + "Security-Token", token))
    }
    let (canonical, names) = Self.canonical([:], host)
    let signature = signature(
      [method, path, Self.sorted(query), canonical, names, Self.unsigned], time)
    return Self.sorted(query) + "&" + prefix + "Signature=" + signature
  }

  /// Returns the lines of the headers, each in lower case with a trimmed value, and their names.
  private static func canonical(_ headers: HTTPHeaders, _ host: String) -> (String, String) {
    let all = headers.all.map { ($0.name.lowercased(), $0.value) } + [("host", host)]
    let sorted = all.sorted { $0.0 < $1.0 }
    let lines = sorted.map { name, value in
      name + ":" + value.split(separator: " ").joined(separator: " ") + "\n"
    }
    return (lines.joined(), sorted.map(\.0).joined(separator: ";"))
  }

  private func scope(_ time: String) -> String {
    "\(time.prefix(8))/\(region)/\(scheme.service)/\(scheme.terminator)"
  }

  private func signature(_ request: [String], _ time: String) -> String {
    let digest = Digest.sha256Hex(Array(request.joined(separator: "\n").utf8))
    let text = [scheme.algorithm, time, scope(time), digest].joined(separator: "\n")
    var key = Array(scheme.keyPrefix.utf8) + Array((credentials.secret.text ?? "").utf8)
    for part in scope(time).split(separator: "/") { key = HMAC.sha256(key: key, Array(part.utf8)) }
    return Hex.encode(HMAC.sha256(key: key, Array(text.utf8)))
  }
}

extension Substring {
  /// The word with its first letter in upper case.
  fileprivate var capitalizedWord: String { prefix(1).uppercased() + dropFirst() }
}
