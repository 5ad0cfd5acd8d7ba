import Crypto
import System
import TestSupport
import Testing

@Suite struct SigningKeyTests {
  let directory = TemporaryDirectory("keys")
  static let message = Array("{\"format\": 1}\n".utf8)

  @Test(arguments: SigningAlgorithm.allCases)
  func `a created key is read from its PEM, and only its own signatures are valid`(
    _ algorithm: SigningAlgorithm
  ) throws {
    let key = try SigningKey.generate(algorithm)
    let again = try SigningKey(key.pem())
    #expect(again.publicKey == key.publicKey)
    #expect(key.publicKey.algorithm == algorithm)
    #expect(VerifyingKey(wire: key.publicKey.wire) == key.publicKey)
    #expect(PEMFault.ofSigningKey(try key.pem()) == nil)
    let signature = try SSHSignature(of: Self.message, by: again, namespace: "a")
    #expect(signature.isValid(for: Self.message))
    #expect(!signature.isValid(for: Self.message + [0]))
    #expect(!signature.isValid(for: []))
    #expect(try SSHSignature(armored: signature.armored) == signature)
    #expect("\(key)" == "signing key")
  }

  /// A part that starts with a bit that is set, or with zeros, has another length in the file.
  @Test func `a P-256 signature is read back whatever the length of its two numbers`() throws {
    let key = try SigningKey.generate(.p256)
    var lengths: Set<Int> = []
    for number in 0..<400 {
      let message = Array("message \(number)".utf8)
      let signature = try SSHSignature(of: message, by: key, namespace: "a")
      lengths.insert(signature.armored.count)
      #expect(try SSHSignature(armored: signature.armored).isValid(for: message))
    }
    #expect(lengths.count > 1)
  }

  @Test(
    .enabled(if: ForeignSSHKeygen.isThere, "ssh-keygen is missing: make deps-test"),
    arguments: [("ecdsa", "256"), ("ed25519", "256")])
  func `a key of ssh-keygen is read as the key that it prints`(type: String, bits: String) throws {
    let path = directory.file("id")
    try ForeignSSHKeygen.run("-q", "-t", type, "-b", bits, "-N", "", "-f", path)
    let key = try SigningKey(Files.read(path))
    let printed = String(decoding: try Files.read(path + ".pub"), as: UTF8.self)
    #expect(printed.hasPrefix(key.publicKey.line + " "))
    #expect(
      try ForeignSSHKeygen.run("-l", "-f", path).output.contains(key.publicKey.fingerprint + " "))
    #expect(PEMFault.ofSigningKey(try Files.read(path)) == nil)
    let text = try Files.read(path)
    for place in stride(from: 60, to: text.count - 60, by: 7) where text[place] != 0x0A {
      var changed = text
      changed[place] = changed[place] == 0x41 ? 0x42 : 0x41
      guard changed != text, let other = try? SigningKey(changed) else { continue }
      #expect(other.publicKey == key.publicKey, "\(place)")
      #expect(try SSHSignature(of: [1], by: other, namespace: "a").isValid(for: [1]), "\(place)")
    }
  }

  @Test(.enabled(if: ForeignSSHKeygen.isThere, "ssh-keygen is missing: make deps-test"))
  func `a created P-256 key is one that ssh-keygen reads`() throws {
    let key = try SigningKey.generate(.p256)
    let path = directory.file("sign.key")
    try DurableFile.write(key.pem(), to: path)
    let printed = try ForeignSSHKeygen.run("-y", "-f", path)
    #expect(printed.status == 0 && printed.output.hasPrefix(key.publicKey.line))
  }

  @Test func `each kind of file that cannot sign has its own message`() throws {
    let pem = String(decoding: try SigningKey.generate(.p256).pem(), as: UTF8.self)
    let lines = pem.split(separator: "\n").map(String.init)
    let cases: [(String, String)] = [
      ("", "is empty"),
      ("ecdsa-sha2-nistp256 AAAA\n", "is not PEM: no line starts with -----BEGIN PRIVATE KEY-----"),
      (
        lines.dropLast().joined(separator: "\n"),
        "is truncated: the line -----END PRIVATE KEY----- is missing"
      ),
      (
        String(decoding: try PrivateKey.generateRSA().pem, as: UTF8.self),
        "is not a P-256 or Ed25519 key, which signing needs"
      ),
      (
        PEMFaultTests.encrypted,
        "is a private key with a passphrase, which a scheduled run cannot enter"
      ),
      (
        pem.replacing(lines[1], with: "AAAA" + lines[1].dropFirst(4)),
        "is a damaged private key: a character was changed or lost"
      ),
      (
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
        "holds a public key, not a private key"
      ),
      (
        "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n",
        "is a damaged private key: a character was changed or lost"
      ),
    ]
    for (text, message) in cases {
      #expect(PEMFault.ofSigningKey(Array(text.utf8))?.message == message, "\(text.prefix(60))")
    }
  }

  @Test(
    .enabled(if: ForeignSSHKeygen.isThere, "ssh-keygen is missing: make deps-test"),
    arguments: [
      ("ecdsa", "256", "long enough", "is a private key with a passphrase"),
      ("ecdsa", "384", "", "is not a P-256 or Ed25519 key"),
      ("rsa", "2048", "", "is not a P-256 or Ed25519 key"),
    ])
  func `a key of ssh-keygen that cannot sign is refused`(
    type: String, bits: String, passphrase: String, message: String
  ) throws {
    let path = directory.file("id")
    try ForeignSSHKeygen.run("-q", "-t", type, "-b", bits, "-N", passphrase, "-f", path)
    let fault = PEMFault.ofSigningKey(try Files.read(path))
    #expect(fault?.message.hasPrefix(message) == true, "\(fault?.message ?? "none")")
  }
}
