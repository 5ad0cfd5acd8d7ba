import Crypto
import JSON
import System

/// The assertion that a connected app signs to act as a user.
struct JWTAssertion: Sendable {
  /// The lifetime.
  ///
  /// An org rejects an assertion that expires more than three minutes in the future by its own
  /// clock, which may be a minute behind.
  static let lifetimeSeconds: Int64 = 120
  /// The difference of clocks that does no harm.
  static let slackMilliseconds: Int64 = 60_000

  let issuer: String
  let subject: String
  let audience: String
  /// The expiration in seconds since 1970, by the org's clock.
  let expires: Int64

  init(issuer: String, subject: String, audience: String, expires: Int64) {
    self.issuer = issuer
    self.subject = subject
    self.audience = audience
    self.expires = expires
  }

  /// The header, claims and signature in base64url, separated by dots.
  func signed(with key: RSASigner) throws(OrgError) -> String {
    let header: JSONValue = ["alg": "RS256", "typ": "JWT"]
    let claims: JSONValue = [
      "iss": .string(issuer), "sub": .string(subject), "aud": .string(audience),
      "exp": JSONValue(expires),
    ]
    let text = Base64.encodeURL(header.bytes) + "." + Base64.encodeURL(claims.bytes)
    do {
      return text + "." + Base64.encodeURL(try key.signRS256(Array(text.utf8)))
    } catch {
      throw Self.useless
    }
  }

  /// Parses the signing key.
  static func signer(_ key: Secret) throws(OrgError) -> RSASigner {
    do { return try RSASigner(pem: key.reveal()) } catch { throw useless }
  }

  private static let useless = OrgError(
    .configuration,
    message: "the private key cannot sign: it must be an unencrypted RSA key in PEM",
    request: "POST " + Login.path)
}
