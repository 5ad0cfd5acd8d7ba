import Crypto
import JSON
import System

/// A signed assertion of the JWT bearer flow.
struct JWTAssertion: Sendable {
  /// The connected app.
  let issuer: String
  /// The user name of the user to act as.
  let subject: String
  private let signed: [UInt8]
  private let signature: [UInt8]
  private let algorithm: String
  private let expiry: Int64?

  /// Parses a token without verifying it.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3,
      let head = Self.object(parts[0]), let claims = Self.object(parts[1]),
      let signature = Base64.decodeURL(parts[2]),
      let issuer = claims["iss"]?.string, let subject = claims["sub"]?.string
    else { return nil }
    self.issuer = issuer
    self.subject = subject
    self.signature = signature
    signed = Array((parts[0] + "." + parts[1]).utf8)
    algorithm = head["alg"]?.string ?? ""
    // Clients send seconds, seconds in a string, or milliseconds; an org accepts them all.
    expiry = claims["exp"].flatMap { $0.int ?? $0.string.flatMap { Int64($0) } ?? Self.whole($0) }
  }

  /// Whether the signature was made with the app's certificate, by RS256 only.
  func isSigned(by certificate: Certificate) -> Bool {
    algorithm == "RS256" && certificate.verifyRS256(signature: signature, message: signed)
  }

  /// Whether it has expired, with a tolerance of three minutes.
  func isExpired(now milliseconds: Int64) -> Bool {
    guard let expiry else { return true }
    return expiry <= milliseconds / 1000 - 180
  }

  private static func whole(_ value: JSONValue) -> Int64? {
    value.double.flatMap { Int64(exactly: $0.rounded(.down)) }
  }

  private static func object(_ part: String) -> JSONObject? {
    guard let bytes = Base64.decodeURL(part) else { return nil }
    // The caller reports an unreadable part as an invalid assertion.
    return (try? JSONValue(parsing: bytes))?.object
  }
}
