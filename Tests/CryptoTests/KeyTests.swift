import Crypto
import Foundation
import TestSupport
import Testing

@Suite struct KeyTests {
  let directory = TemporaryDirectory()

  private func save(_ bytes: [UInt8], _ name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: directory.file(name)))
    return directory.file(name)
  }

  private func openssl(_ arguments: String...) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    let pipe = Foundation.Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, output)
  }

  static let hasOpenSSL = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

  @Test func `a signature is verified by its own certificate, and rejected when changed`() throws {
    let key = try PrivateKey.generateRSA()
    let certificate = try Certificate(
      pem: key.selfSignedCertificate(commonName: "field app", days: 30))
    let message = Array("header.claims".utf8)
    var signature = try key.signRS256(message)
    #expect(certificate.verifyRS256(signature: signature, message: message))
    #expect(!certificate.verifyRS256(signature: signature, message: message + [1]))
    let other = try PrivateKey.generateRSA()
    let stranger = try Certificate(pem: other.selfSignedCertificate(commonName: "x", days: 1))
    #expect(!stranger.verifyRS256(signature: signature, message: message))
    #expect(certificate.belongs(to: key) && !certificate.belongs(to: other))
    signature[10] ^= 1
    #expect(!certificate.verifyRS256(signature: signature, message: message))
    #expect(!certificate.verifyRS256(signature: [], message: message))
  }

  @Test func `a certificate has its subject and its validity`() throws {
    let key = try PrivateKey.generateRSA()
    let certificate = try Certificate(
      pem: key.selfSignedCertificate(commonName: "Tîm, O=Fake", days: 30))
    #expect(certificate.commonName == "Tîm, O=Fake")
    let days = Double(certificate.notAfter) / 86_400_000 - Date().timeIntervalSince1970 / 86400
    #expect(abs(days - 30) < 0.01)
    #expect(certificate.notBefore < certificate.notAfter)
  }

  @Test func `a missing, an encrypted and another kind of key are rejected with messages`() throws {
    let error = #expect(throws: CryptoError.self) { try PrivateKey(pem: Array("nonsense".utf8)) }
    #expect(error?.message.contains("not a private key in PEM") == true)
    #expect(throws: CryptoError.self) { try PrivateKey(pem: []) }
    #expect(throws: CryptoError.self) { try Certificate(pem: Array("nonsense".utf8)) }
    #expect("\(try PrivateKey.generateRSA())" == "private key")
    for name in ["localhost,DNS:evil.example.com", "a b", ""] {
      #expect(throws: CryptoError.self) {
        try PrivateKey.generateRSA()
          .selfSignedCertificate(commonName: "x", days: 1, dnsNames: [name])
      }
    }
  }

  @Test(.enabled(if: hasOpenSSL)) func `openssl's encrypted and other keys are rejected`() throws {
    let path = directory.file("k.pem")
    _ = try openssl("genrsa", "-aes256", "-passout", "pass:secret", "-out", path, "2048")
    #expect(throws: CryptoError.self) {
      try PrivateKey(pem: Array(Data(contentsOf: URL(fileURLWithPath: path))))
    }
    _ = try openssl("genpkey", "-algorithm", "ed25519", "-out", path)
    let error = #expect(throws: CryptoError.self) {
      try PrivateKey(pem: Array(Data(contentsOf: URL(fileURLWithPath: path))))
    }
    #expect(error?.message.contains("not an RSA key") == true)
  }

  @Test(.enabled(if: hasOpenSSL))
  func `openssl verifies our signature, and we verify with its key`() throws {
    let path = directory.file("k.pem")
    #expect(try openssl("genrsa", "-traditional", "-out", path, "2048").status == 0)
    let key = try PrivateKey(pem: Array(Data(contentsOf: URL(fileURLWithPath: path))))
    let message = try save(Array("to be signed".utf8), "message")
    let signature = try save(key.signRS256(Array("to be signed".utf8)), "signature")
    #expect(try openssl("rsa", "-in", path, "-pubout", "-out", directory.file("p")).status == 0)
    let verified = try openssl(
      "dgst", "-sha256", "-verify", directory.file("p"), "-signature", signature, message)
    #expect(verified.status == 0, "\(verified.output)")
  }

  @Test(.enabled(if: hasOpenSSL))
  func `openssl accepts a leaf certificate signed by our authority`() throws {
    let authorityKey = try PrivateKey.generateRSA()
    let authority = try Certificate(
      pem: authorityKey.selfSignedCertificate(
        commonName: "attache local authority", days: 30, isAuthority: true))
    let leafKey = try PrivateKey.generateRSA()
    let leaf = try authorityKey.signCertificate(
      for: leafKey, issuer: authority,
      .init(
        commonName: "localhost", days: 30, dnsNames: ["localhost", "org.example.com"],
        ipAddresses: ["127.0.0.1", "::1"]))
    let authorityPath = try save(authority.pem, "ca.pem")
    let leafPath = try save(leaf, "leaf.pem")
    for name in [["-verify_hostname", "org.example.com"], ["-verify_ip", "127.0.0.1"]] {
      let verified = try openssl(
        "verify", "-x509_strict", "-CAfile", authorityPath, name[0], name[1], leafPath)
      #expect(verified.status == 0, "\(verified.output)")
    }
    let refused = try openssl(
      "verify", "-CAfile", authorityPath, "-verify_hostname", "evil.example.com", leafPath)
    #expect(refused.status != 0)
    #expect(try Certificate(pem: leaf).belongs(to: leafKey))
  }
}
