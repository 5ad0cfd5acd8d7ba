import CCrypto

/// A public key that verifies signatures.
package struct VerifyingKey: Sendable, Hashable {
  package let algorithm: SigningAlgorithm
  /// The uncompressed point, or the 32 bytes of an Ed25519 key.
  private let raw: [UInt8]

  /// Reads a key in SSH's binary form; nil for another algorithm, or if it is not a valid key.
  package init?(wire: [UInt8]) {
    var reader = SSHReader(wire)
    guard let name = reader.text(),
      let algorithm = SigningAlgorithm.allCases.first(where: { $0.sshName == name })
    else { return nil }
    if let curve = algorithm.curve {
      guard let found = reader.text(), found == curve else { return nil }
    }
    guard let raw = reader.string(), raw.count == algorithm.publicKeyBytes, reader.isAtEnd else {
      return nil
    }
    (self.algorithm, self.raw) = (algorithm, raw)
    // libcrypto refuses a point that is not on the curve.
    guard withHandle({ _ in true }) == true else {
      ERR_clear_error()
      return nil
    }
  }

  /// The public key of a libcrypto object; nil for another algorithm.
  init?(_ key: OpaquePointer) {
    var start: UnsafeMutablePointer<UInt8>?
    let count = Int(i2d_PUBKEY(key, &start))
    guard count > 0, let start else { return nil }
    defer { CRYPTO_free(start, "", 0) }
    let der = Array(UnsafeBufferPointer(start: start, count: count))
    guard
      let algorithm = SigningAlgorithm.allCases.first(where: {
        der.starts(with: $0.derPrefix) && der.count == $0.derPrefix.count + $0.publicKeyBytes
      })
    else { return nil }
    self.algorithm = algorithm
    raw = Array(der.dropFirst(algorithm.derPrefix.count))
  }

  /// The DER form (SubjectPublicKeyInfo), which the libraries of both platforms read.
  package var der: [UInt8] { algorithm.derPrefix + raw }

  /// SSH's binary form.
  package var wire: [UInt8] {
    var writer = SSHWriter()
    writer.add(string: algorithm.sshName.utf8)
    if let curve = algorithm.curve { writer.add(string: curve.utf8) }
    writer.add(string: raw)
    return writer.bytes
  }

  /// The key as a line of `authorized_keys`, without a comment.
  package var line: String { algorithm.sshName + " " + Base64.encode(wire) }

  /// The key's name in messages, as `ssh-keygen -l` prints it.
  package var fingerprint: String {
    let text = Base64.encode(Digest.sha256(wire))
    return "SHA256:" + text.prefix { $0 != "=" }
  }

  /// Whether a signature of 64 bytes is one of `message` by this key.
  ///
  /// The two parts of an ECDSA signature follow each other.
  func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard signature.count == 2 * SigningAlgorithm.halfBytes else { return false }
    let isECDSA = algorithm == .p256
    guard let encoded = isECDSA ? ECDSASignature.der(of: signature) : signature else {
      return false
    }
    let verified = withHandle { key -> Bool? in
      guard let context = EVP_MD_CTX_new() else { return nil }
      defer { EVP_MD_CTX_free(context) }
      return EVP_DigestVerifyInit(context, nil, isECDSA ? EVP_sha256() : nil, nil, key) == 1
        && EVP_DigestVerify(context, encoded, encoded.count, message, message.count) == 1
    }
    ERR_clear_error()
    return verified ?? false
  }

  private func withHandle<R>(_ body: (OpaquePointer) -> R?) -> R? {
    let key = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var start = buffer.baseAddress
      return d2i_PUBKEY(nil, &start, buffer.count)
    }
    guard let key else { return nil }
    defer { EVP_PKEY_free(key) }
    return body(key)
  }
}
