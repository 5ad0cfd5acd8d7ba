/// The algorithms that sign manifests.
package enum SigningAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// ECDSA over the curve P-256 with SHA-256, which every phone verifies with its own libraries.
  case p256
  /// Ed25519 (RFC 8032), which not every Android phone can verify.
  case ed25519

  /// The name of a key in SSH's formats.
  var sshName: String {
    switch self {
    case .p256: "ecdsa-sha2-nistp256"
    case .ed25519: "ssh-ed25519"
    }
  }

  /// The name of the curve in an SSH key; nil if the algorithm has only one.
  var curve: String? { self == .p256 ? "nistp256" : nil }

  /// The name of the algorithm in libcrypto.
  var libraryName: String { self == .p256 ? "EC" : "ED25519" }

  /// The number of bytes of a public key: an uncompressed point, or the key itself.
  var publicKeyBytes: Int { self == .p256 ? 65 : 32 }

  /// The number of bytes of each of the two parts of a signature.
  static let halfBytes = 32

  /// What precedes the public key in its DER form (SubjectPublicKeyInfo, RFC 5280).
  var derPrefix: [UInt8] {
    switch self {
    case .p256:
      [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08,
        0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
      ]
    case .ed25519: [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
    }
  }

  /// The DER form of a private key of 32 bytes: `ECPrivateKey` without its public key (RFC 5915),
  /// or PKCS #8.
  func der(ofPrivate key: [UInt8]) -> [UInt8] {
    switch self {
    case .p256:
      [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20] + key
        + [0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    case .ed25519:
      [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04,
        0x20,
      ] + key
    }
  }
}
