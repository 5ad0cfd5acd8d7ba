import Crypto
import Testing

@Suite struct PEMFaultTests {
  static let key = Result { try PrivateKey.generateRSA() }
  static let now: Int64 = 1_800_000_000_000

  static func text() throws -> String { String(decoding: try key.get().pem, as: UTF8.self) }

  static func certificate() throws -> [UInt8] {
    try key.get().selfSignedCertificate(
      commonName: "ca", days: 36500, dnsNames: [], ipAddresses: [])
  }

  private func fault(_ text: String) -> String? { PEMFault.ofKey(Array(text.utf8))?.message }

  @Test func `a valid key and a valid certificate have no fault`() throws {
    #expect(try fault(Self.text()) == nil)
    #expect(try PEMFault.ofAuthorities(Self.certificate(), now: Self.now) == nil)
    #expect(
      try PEMFault.ofAuthorities(
        Array("# ours\n".utf8) + Self.certificate() + Self.certificate(), now: Self.now) == nil)
  }

  @Test func `each kind of broken key file has its own message`() throws {
    let text = try Self.text()
    let lines = text.split(separator: "\n").map(String.init)
    let wrong: [(String, String)] = [
      ("", "is empty"), ("hello\n", "is not PEM: no line starts with -----BEGIN PRIVATE KEY-----"),
      (
        lines.dropLast().joined(separator: "\n"),
        "is truncated: the line -----END PRIVATE KEY----- is missing"
      ),
      (lines.joined(separator: " "), "is on a single line"),
      (lines.joined(separator: "\\n"), "has the two characters \\n instead of line breaks"),
      (lines.map { "  " + $0 }.joined(separator: "\n"), "is indented"),
      (
        text.replacing(lines[3], with: "AAAA" + lines[3].dropFirst(4)).replacing(
          lines[1], with: "AAAA" + lines[1].dropFirst(4)),
        "is a damaged private key: a character was changed or lost"
      ),
      (
        String(decoding: try Self.certificate(), as: UTF8.self),
        "holds a certificate, not a private key"
      ),
      (
        Self.encrypted, "is a private key with a passphrase, which a scheduled run cannot enter"
      ),
      (Self.elliptic, "is not an RSA private key, which a JWT login needs"),
      (
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
        "holds a public key, not a private key"
      ),
      (
        "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n",
        "is an SSH key"
      ),
      (
        "-----BEGIN private key-----\nAAAA\n-----END private key-----\n",
        "holds a block with the name \"private key\", not a private key"
      ),
      (
        "-----BEGIN DH PARAMETERS-----\nAAAA\n-----END DH PARAMETERS-----\n",
        "holds a block with the name \"DH PARAMETERS\", not a private key"
      ),
      (
        "-----BEGIN -----\nAAAA\n-----END -----\n",
        "holds a block with the name \"\", not a private key"
      ),
    ]
    for (text, sentence) in wrong { #expect(fault(text) == sentence, "\(text.prefix(60))") }
    #expect(PEMFault.ofKey([0x30, 0x82, 0, 1])?.message == "is binary (DER), not PEM")
  }

  @Test func `authorities with no, other or only expired certificates are reported`() throws {
    let certificate = try Self.certificate()
    func fault(_ bytes: [UInt8], now: Int64 = Self.now) -> String? {
      PEMFault.ofAuthorities(bytes, now: now)?.message
    }
    #expect(fault([]) == "is empty")
    #expect(try fault(Array(Self.text().utf8)) == "holds a private key, not a certificate")
    for label in ["certificate", "TRUSTED CERTIFICATE", "X509 CRL"] {
      #expect(
        fault(Array("-----BEGIN \(label)-----\nAAAA\n-----END \(label)-----\n".utf8))
          == "holds a block with the name \"\(label)\", not a certificate")
    }
    #expect(fault(certificate, now: 0) == "has no certificate that is valid today")
    let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    #expect(fault(certificate + Array(damaged.utf8)) == "has a damaged certificate, number 2 of 2")
  }

  /// Not secret: created for this test and used nowhere else.
  static let encrypted = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIIBvTBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQI
    -----END ENCRYPTED PRIVATE KEY-----
    """
  static let elliptic = """
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB
    -----END EC PRIVATE KEY-----
    """
}
