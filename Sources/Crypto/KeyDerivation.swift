import CCrypto

/// Derivation of keys from passphrases.
package enum KeyDerivation {
  /// PBKDF2 with HMAC-SHA-512 (RFC 8018).
  package static func pbkdf2SHA512(
    passphrase: [UInt8], salt: [UInt8], iterations: Int, bytes count: Int
  ) throws(CryptoError) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: count)
    let status = passphrase.withUnsafeBytes { raw in
      PKCS5_PBKDF2_HMAC(
        raw.bindMemory(to: CChar.self).baseAddress, Int32(raw.count), salt, Int32(salt.count),
        Int32(iterations), EVP_sha512(), Int32(count), &key)
    }
    if status != 1 { throw .last("cannot derive a key") }
    return key
  }
}
