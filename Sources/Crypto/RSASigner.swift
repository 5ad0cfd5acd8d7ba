import CCrypto

/// An RSA key that is read once and signs any number of messages.
///
/// Reading a key from PEM and computing the blinding of its first signature take longer than a
/// signature.
///
/// Unchecked: the key does not change after `init`. Several threads may use an unchanged key;
/// OpenSSL's locks protect the state that it caches (openssl-threads(7)).
package final class RSASigner: @unchecked Sendable, CustomStringConvertible {
  private let key: OpaquePointer

  /// Reads a key from PEM (PKCS #8 or PKCS #1, not encrypted).
  package init(pem: [UInt8]) throws(CryptoError) { key = try PrivateKey.handle(pem) }

  deinit { EVP_PKEY_free(key) }

  /// The RSASSA-PKCS1-v1_5 signature with SHA-256, named RS256 in JSON Web Tokens.
  package func signRS256(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard let context = EVP_MD_CTX_new() else { throw .last("cannot sign") }
    defer { EVP_MD_CTX_free(context) }
    var length = 0
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
      EVP_DigestSign(context, nil, &length, message, message.count) == 1
    else { throw .last("cannot sign") }
    var signature = [UInt8](repeating: 0, count: length)
    guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
      throw .last("cannot sign")
    }
    return Array(signature[..<length])
  }

  /// The type, without the content.
  package var description: String { "signing key" }
}
