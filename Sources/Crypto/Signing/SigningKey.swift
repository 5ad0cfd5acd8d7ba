import CCrypto

/// A private key that signs manifests: P-256 or Ed25519.
///
/// Unchecked: the key does not change after `init`. Several threads may use an unchanged key;
/// OpenSSL's locks protect the state that it caches (openssl-threads(7)).
package final class SigningKey: @unchecked Sendable, CustomStringConvertible {
  private let key: OpaquePointer
  /// The public key, which verifies the signatures.
  package let publicKey: VerifyingKey

  /// Reads a key from PEM (PKCS #8 or SEC 1) or from OpenSSH's format, not encrypted.
  package convenience init(_ text: [UInt8]) throws(CryptoError) {
    if let key = try OpenSSHPrivateKey(text) {
      try self.init(taking: key.handle())
      guard publicKey == key.publicKey else {
        throw CryptoError("the private key is damaged: its public key is that of another key")
      }
      return
    }
    guard let key = PEM.reading(text, { PEM_read_bio_PrivateKey($0, nil, PEM.noPassphrase, nil) })
    else { throw .last("not a private key in PEM without a passphrase") }
    try self.init(taking: key)
  }

  /// Takes ownership of a libcrypto object.
  private init(taking key: OpaquePointer) throws(CryptoError) {
    guard let publicKey = VerifyingKey(key) else {
      EVP_PKEY_free(key)
      throw CryptoError(Self.otherAlgorithm)
    }
    (self.key, self.publicKey) = (key, publicKey)
  }

  deinit { EVP_PKEY_free(key) }

  /// The message for a key of another algorithm.
  static let otherAlgorithm = "the private key is not a P-256 or Ed25519 key"

  /// Generates a key.
  package static func generate(_ algorithm: SigningAlgorithm) throws(CryptoError) -> SigningKey {
    guard let context = EVP_PKEY_CTX_new_from_name(nil, algorithm.libraryName, nil) else {
      throw .last("cannot generate a signing key")
    }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1,
      algorithm != .p256 || EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
      EVP_PKEY_generate(context, &key) == 1, let key
    else { throw .last("cannot generate a signing key") }
    return try SigningKey(taking: key)
  }

  /// The private key in PKCS #8 PEM.
  ///
  /// Secret.
  package func pem() throws(CryptoError) -> [UInt8] {
    let text = PEM.writing { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
    guard let text else { throw .last("cannot write the private key as PEM") }
    return text
  }

  /// The signature of a message, in 64 bytes.
  func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard let context = EVP_MD_CTX_new() else { throw .last("cannot sign") }
    defer { EVP_MD_CTX_free(context) }
    let isECDSA = publicKey.algorithm == .p256
    var length = 0
    guard EVP_DigestSignInit(context, nil, isECDSA ? EVP_sha256() : nil, nil, key) == 1,
      EVP_DigestSign(context, nil, &length, message, message.count) == 1
    else { throw .last("cannot sign") }
    var signature = [UInt8](repeating: 0, count: length)
    guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
      throw .last("cannot sign")
    }
    let made = Array(signature.prefix(length))
    guard let parts = isECDSA ? ECDSASignature.parts(ofDER: made) : made else {
      throw .last("cannot sign")
    }
    return parts
  }

  /// The type, without the content.
  package var description: String { "signing key" }
}
