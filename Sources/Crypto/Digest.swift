import CCrypto

/// SHA-256 of bytes and files, and SHA-512 of bytes.
package enum Digest {
  /// The SHA-512 of `bytes`.
  package static func sha512(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 64)
    let result = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha512(), nil)
    precondition(result == 1, "SHA-512 failed")
    return digest
  }

  /// The SHA-256 of `bytes`.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var hasher = SHA256Hasher()
    hasher.update(bytes)
    return hasher.finalize()
  }

  /// The SHA-256 of `bytes` as 64 hexadecimal digits.
  package static func sha256Hex(_ bytes: [UInt8]) -> String { Hex.encode(sha256(bytes)) }

  /// The SHA-256 of a file as 64 hexadecimal digits; the file is read in pieces.
  package static func sha256Hex(file path: String) throws(CryptoError) -> String {
    var hasher = SHA256Hasher()
    try update(&hasher, file: path)
    return Hex.encode(hasher.finalize())
  }

  /// Adds a file to a digest; the file is read in pieces.
  package static func update(_ hasher: inout SHA256Hasher, file path: String) throws(CryptoError) {
    guard let file = BIO_new_file(path, "rb") else { throw .last("cannot read \(path)") }
    defer { BIO_free(file) }
    let size = 1 << 18
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
    defer { buffer.deallocate() }
    while true {
      let count = BIO_read(file, buffer.baseAddress, Int32(size))
      if count < 0 { throw .last("cannot read \(path)") }
      if count == 0 { return }
      hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]))
    }
  }

  /// Whether two digests are equal, compared in constant time.
  package static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
  }

  /// Whether two buffers hold the same bytes, compared in constant time.
  package static func areEqual(
    _ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer
  ) -> Bool {
    guard one.count == other.count else { return false }
    guard let first = one.baseAddress, let second = other.baseAddress else { return true }
    return CRYPTO_memcmp(first, second, one.count) == 0
  }
}
