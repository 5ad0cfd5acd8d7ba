/// A detached signature in OpenSSH's format (PROTOCOL.sshsig), as `ssh-keygen -Y sign` writes it.
///
/// A namespace says what the signature is for, so that one of another purpose is not accepted.
package struct SSHSignature: Sendable, Hashable {
  /// The key that made the signature.
  package let key: VerifyingKey
  /// What the signature is for.
  package let namespace: String
  /// The two parts, of 32 bytes each.
  private let parts: [UInt8]

  private static let magic = Array("SSHSIG".utf8)
  private static let version = 1
  private static let digest = "sha512"
  private static let first = "-----BEGIN SSH SIGNATURE-----"
  private static let last = "-----END SSH SIGNATURE-----"
  /// The number of characters of a line of the text.
  private static let lineLength = 70

  /// Signs a message.
  package init(
    of message: [UInt8], by key: SigningKey, namespace: String
  ) throws(CryptoError) {
    (self.key, self.namespace) = (key.publicKey, namespace)
    parts = try key.sign(Self.signed(message, namespace))
  }

  /// Reads the text of a signature.
  ///
  /// Only the exact text that `armored` gives is accepted, so that no byte can change unnoticed.
  package init(armored text: [UInt8]) throws(CryptoError) {
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
    guard lines.first.map(String.init) == Self.first else {
      throw CryptoError("it is not an SSH signature")
    }
    guard lines.count > 2, lines.last.map(String.init) == Self.last,
      let bytes = Base64.decode(lines.dropFirst().dropLast().joined())
    else { throw CryptoError("it is damaged") }
    try self.init(bytes)
    guard armored == text else { throw CryptoError("it is damaged") }
  }

  private init(_ bytes: [UInt8]) throws(CryptoError) {
    var reader = SSHReader(bytes)
    guard let magic = reader.raw(Self.magic.count), magic == Self.magic,
      reader.number() == Self.version, let wire = reader.string(), let namespace = reader.text(),
      let reserved = reader.string(), reserved.isEmpty, let digest = reader.text(),
      let inner = reader.string(), reader.isAtEnd
    else { throw CryptoError("it is damaged") }
    guard let key = VerifyingKey(wire: wire) else {
      throw CryptoError("its key is not a P-256 or Ed25519 key")
    }
    guard digest == Self.digest else {
      throw CryptoError("its digest is \(digest), not \(Self.digest)")
    }
    guard let parts = Self.parts(in: inner, of: key.algorithm) else {
      throw CryptoError("it is damaged")
    }
    (self.key, self.namespace, self.parts) = (key, namespace, parts)
  }

  private static func parts(in inner: [UInt8], of algorithm: SigningAlgorithm) -> [UInt8]? {
    var reader = SSHReader(inner)
    guard reader.text() == algorithm.sshName, let value = reader.string(), reader.isAtEnd else {
      return nil
    }
    let half = SigningAlgorithm.halfBytes
    guard algorithm == .p256 else { return value.count == 2 * half ? value : nil }
    var numbers = SSHReader(value)
    guard let first = numbers.integer(half), let second = numbers.integer(half), numbers.isAtEnd
    else { return nil }
    return first + second
  }

  private var inner: [UInt8] {
    let half = SigningAlgorithm.halfBytes
    var value = SSHWriter()
    if key.algorithm == .p256 {
      value.add(integer: Array(parts.prefix(half)))
      value.add(integer: Array(parts.dropFirst(half)))
    } else {
      value.add(parts)
    }
    var writer = SSHWriter()
    writer.add(string: key.algorithm.sshName.utf8)
    writer.add(string: value.bytes)
    return writer.bytes
  }

  /// The text of the signature's file.
  package var armored: [UInt8] {
    var writer = SSHWriter()
    writer.add(Self.magic)
    writer.add(number: Self.version)
    writer.add(string: key.wire)
    writer.add(string: namespace.utf8)
    writer.add(string: [])
    writer.add(string: Self.digest.utf8)
    writer.add(string: inner)
    let text = Array(Base64.encode(writer.bytes).utf8)
    var lines = [Self.first]
    for start in stride(from: 0, to: text.count, by: Self.lineLength) {
      lines.append(
        String(decoding: text[start..<min(start + Self.lineLength, text.count)], as: UTF8.self))
    }
    lines.append(Self.last)
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  /// Whether it is a signature of `message` by its own key.
  ///
  /// The caller decides whether to trust the key, and compares the namespace.
  package func isValid(for message: [UInt8]) -> Bool {
    key.isValid(parts, of: Self.signed(message, namespace))
  }

  /// The bytes that the key signs.
  private static func signed(_ message: [UInt8], _ namespace: String) -> [UInt8] {
    var writer = SSHWriter()
    writer.add(magic)
    writer.add(string: namespace.utf8)
    writer.add(string: [])
    writer.add(string: digest.utf8)
    writer.add(string: Digest.sha512(message))
    return writer.bytes
  }
}
