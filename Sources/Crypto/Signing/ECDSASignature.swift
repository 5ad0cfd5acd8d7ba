import CCrypto

/// Conversion between the DER form of an ECDSA signature, which libcrypto uses, and its two parts of
/// 32 bytes each.
enum ECDSASignature {
  /// The two parts of a signature in DER; nil if it is not one.
  static func parts(ofDER der: [UInt8]) -> [UInt8]? {
    let half = SigningAlgorithm.halfBytes
    let found = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var start = buffer.baseAddress
      return d2i_ECDSA_SIG(nil, &start, buffer.count)
    }
    guard let found else { return nil }
    defer { ECDSA_SIG_free(found) }
    var parts = [UInt8](repeating: 0, count: 2 * half)
    let isWhole = parts.withUnsafeMutableBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return false }
      return BN_bn2binpad(ECDSA_SIG_get0_r(found), start, Int32(half)) == half
        && BN_bn2binpad(ECDSA_SIG_get0_s(found), start + half, Int32(half)) == half
    }
    return isWhole ? parts : nil
  }

  /// The DER form of a signature of two parts; nil if libcrypto fails.
  static func der(of parts: [UInt8]) -> [UInt8]? {
    let half = SigningAlgorithm.halfBytes
    guard let made = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(made) }
    let first = BN_bin2bn(Array(parts.prefix(half)), Int32(half), nil)
    let second = BN_bin2bn(Array(parts.dropFirst(half)), Int32(parts.count - half), nil)
    // The signature frees both parts, if it gets them.
    guard first != nil, second != nil, ECDSA_SIG_set0(made, first, second) == 1 else {
      BN_free(first)
      BN_free(second)
      return nil
    }
    var start: UnsafeMutablePointer<UInt8>?
    let count = Int(i2d_ECDSA_SIG(made, &start))
    guard count > 0, let start else { return nil }
    defer { CRYPTO_free(start, "", 0) }
    return Array(UnsafeBufferPointer(start: start, count: count))
  }
}
