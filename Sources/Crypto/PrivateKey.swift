import CCrypto

/// An RSA private key, as PEM.
package struct PrivateKey: Sendable, CustomStringConvertible {
  /// The key in PKCS #8 PEM.
  ///
  /// Secret.
  package let pem: [UInt8]

  /// Reads a key from PEM (PKCS #8 or PKCS #1, not encrypted).
  package init(pem bytes: [UInt8]) throws(CryptoError) {
    let key = try PrivateKey.handle(bytes)
    defer { EVP_PKEY_free(key) }
    pem = try PrivateKey.text(key)
  }

  /// The key as a libcrypto object, which the caller frees.
  static func handle(_ bytes: [UInt8]) throws(CryptoError) -> OpaquePointer {
    guard
      let key = PEM.reading(bytes, { PEM_read_bio_PrivateKey($0, nil, PEM.noPassphrase, nil) })
    else { throw .last("not a private key in PEM without a passphrase") }
    guard EVP_PKEY_is_a(key, "RSA") == 1 else {
      EVP_PKEY_free(key)
      throw CryptoError("the private key is not an RSA key, which RS256 needs")
    }
    return key
  }

  private init(_ key: OpaquePointer) throws(CryptoError) { pem = try PrivateKey.text(key) }

  private static func text(_ key: OpaquePointer) throws(CryptoError) -> [UInt8] {
    let pem = PEM.writing { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
    guard let pem else { throw .last("cannot write the private key as PEM") }
    return pem
  }

  /// Generates an RSA key.
  package static func generateRSA(bits: Int = 2048) throws(CryptoError) -> PrivateKey {
    guard let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else {
      throw .last("cannot generate an RSA key")
    }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1,
      EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)) == 1,
      EVP_PKEY_generate(context, &key) == 1, let key
    else { throw .last("cannot generate an RSA key of \(bits) bits") }
    defer { EVP_PKEY_free(key) }
    return try PrivateKey(key)
  }

  /// The RS256 signature of a message.
  ///
  /// For several signatures, use an `RSASigner`.
  package func signRS256(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    try RSASigner(pem: pem).signRS256(message)
  }

  /// Calls `body` with a newly created libcrypto object, so that tasks share no mutable state.
  func withHandle<R>(_ body: (OpaquePointer) -> R?) -> R? {
    guard let key = PEM.reading(pem, { PEM_read_bio_PrivateKey($0, nil, PEM.noPassphrase, nil) })
    else { return nil }
    defer { EVP_PKEY_free(key) }
    return body(key)
  }

  /// The type, without the content.
  package var description: String { "private key" }
}
