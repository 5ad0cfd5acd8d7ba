import CCrypto

/// Keyed message authentication codes (RFC 2104).
package enum HMAC {
  /// HMAC-SHA-256: 32 bytes.
  package static func sha256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    message.withUnsafeBytes { code(EVP_sha256(), 32, key, $0) }
  }

  /// HMAC-SHA-512: 64 bytes.
  package static func sha512(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    message.withUnsafeBytes { code(EVP_sha512(), 64, key, $0) }
  }

  /// HMAC-SHA-512 of a buffer: 64 bytes.
  package static func sha512(key: [UInt8], _ message: UnsafeRawBufferPointer) -> [UInt8] {
    code(EVP_sha512(), 64, key, message)
  }

  private static func code(
    _ digest: OpaquePointer?, _ length: Int, _ key: [UInt8], _ message: UnsafeRawBufferPointer
  ) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: length)
    let bytes = message.bindMemory(to: UInt8.self)
    // Neither pointer may be null, even if the length is 0.
    let none: [UInt8] = [0]
    let result = none.withUnsafeBufferPointer { none in
      CCrypto.HMAC(
        digest, key.isEmpty ? [0] : key, Int32(key.count), bytes.baseAddress ?? none.baseAddress,
        bytes.count, &code, nil)
    }
    precondition(result != nil, "HMAC failed")
    return code
  }
}
