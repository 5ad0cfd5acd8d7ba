import CCrypto

/// A private key in OpenSSH's file format (PROTOCOL.key of OpenSSH).
struct OpenSSHPrivateKey {
  /// The label of its PEM block.
  static let label = "OPENSSH PRIVATE KEY"
  /// The message for a file with a passphrase.
  static let encrypted = "the private key has a passphrase"

  let publicKey: VerifyingKey
  private let secret: [UInt8]

  /// Reads a file; nil if it is not in this format.
  init?(_ text: [UInt8]) throws(CryptoError) {
    let lines = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline)
    let begin = "-----BEGIN \(Self.label)-----"
    guard let start = lines.firstIndex(where: { $0 == begin }) else { return nil }
    let body = lines[(start + 1)...].prefix { !$0.hasPrefix("-----END ") }
    guard let bytes = Base64.decode(body.joined()) else { throw Self.damaged }
    let magic = Array("openssh-key-v1\0".utf8)
    var reader = SSHReader(bytes)
    guard let found = reader.raw(magic.count), found == magic, let cipher = reader.text(),
      reader.string() != nil, reader.string() != nil, reader.number() == 1,
      let wire = reader.string(), let inner = reader.string()
    else { throw Self.damaged }
    guard cipher == "none" else { throw CryptoError(Self.encrypted) }
    guard let key = VerifyingKey(wire: wire) else { throw CryptoError(SigningKey.otherAlgorithm) }
    guard let secret = Self.secret(in: inner, of: key.algorithm) else { throw Self.damaged }
    (publicKey, self.secret) = (key, secret)
  }

  /// The 32 bytes of the private key.
  private static func secret(in inner: [UInt8], of algorithm: SigningAlgorithm) -> [UInt8]? {
    var reader = SSHReader(inner)
    guard let check = reader.number(), reader.number() == check,
      reader.text() == algorithm.sshName
    else { return nil }
    if let curve = algorithm.curve, reader.text() != curve { return nil }
    guard reader.string() != nil else { return nil }
    guard algorithm == .ed25519 else { return reader.integer(SigningAlgorithm.halfBytes) }
    // The seed, followed by the public key.
    guard let both = reader.string(), both.count == 64 else { return nil }
    return Array(both.prefix(SigningAlgorithm.halfBytes))
  }

  /// The key as a libcrypto object, which the caller frees.
  func handle() throws(CryptoError) -> OpaquePointer {
    let der = publicKey.algorithm.der(ofPrivate: secret)
    let key = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var start = buffer.baseAddress
      return d2i_AutoPrivateKey(nil, &start, buffer.count)
    }
    guard let key else { throw .last("the private key is damaged") }
    return key
  }

  private static var damaged: CryptoError { CryptoError("the private key is damaged") }
}
