import CCrypto

/// Derivation of keys from passphrases and from other keys.
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

  /// HKDF with HMAC-SHA-256 (RFC 5869): keys from a random key.
  package static func hkdfSHA256(
    key: [UInt8], salt: [UInt8], info: String, bytes count: Int
  ) -> [UInt8] {
    let extracted = HMAC.sha256(key: salt, key)
    var (output, block): ([UInt8], [UInt8]) = ([], [])
    while output.count < count {
      let number = UInt8(output.count / 32 + 1)
      block = HMAC.sha256(key: extracted, block + Array(info.utf8) + [number])
      output += block
    }
    return Array(output.prefix(count))
  }
}
