import Crypto
import System

/// A small certificate authority for a local org with TLS; clients trust its certificate.
package struct CertificateAuthority: Sendable {
  /// The authority's certificate, for clients (`REQUESTS_CA_BUNDLE`, `--ca`).
  package let certificatePath: String
  /// The server's certificate, followed by the authority's.
  package let serverCertificatePath: String
  /// The server's private key.
  package let serverKeyPath: String

  private static let days = 825

  /// Creates the files in a directory.
  ///
  /// An existing authority is kept, so that clients that trust it need no change; the server's
  /// certificate is always new.
  package static func make(
    directory: String, dnsNames: [String] = ["localhost"], ipAddresses: [String] = ["127.0.0.1"]
  ) throws -> CertificateAuthority {
    if !Files.exists(directory) { try Files.makeDirectory(directory) }
    let authority = CertificateAuthority(
      certificatePath: directory + "/ca.pem", serverCertificatePath: directory + "/server.pem",
      serverKeyPath: directory + "/server-key.pem")
    let (key, pem) = try root(directory + "/ca-key.pem", authority.certificatePath)
    let leafKey = try PrivateKey.generateRSA()
    let leaf = try key.signCertificate(
      for: leafKey, issuer: try Certificate(pem: pem),
      PrivateKey.CertificateRequest(
        commonName: dnsNames.first ?? ipAddresses.first ?? "localhost", days: days,
        dnsNames: dnsNames, ipAddresses: ipAddresses))
    try DurableFile.write(leaf + pem, to: authority.serverCertificatePath, mode: 0o644)
    try DurableFile.write(leafKey.pem, to: authority.serverKeyPath)
    return authority
  }

  /// The server's certificate and key, in the form of `OrgServer.Options.identity`.
  package func identity() throws -> (certificate: String, key: String) {
    (
      String(decoding: try Files.read(serverCertificatePath), as: UTF8.self),
      String(decoding: try Files.read(serverKeyPath), as: UTF8.self)
    )
  }

  private static func root(_ keyPath: String, _ certificatePath: String) throws -> (
    PrivateKey, [UInt8]
  ) {
    if Files.exists(keyPath), Files.exists(certificatePath) {
      return (try PrivateKey(pem: try Files.read(keyPath)), try Files.read(certificatePath))
    }
    let key = try PrivateKey.generateRSA()
    let pem = try key.selfSignedCertificate(
      commonName: "attache local org", days: days, isAuthority: true)
    try DurableFile.write(key.pem, to: keyPath)
    try DurableFile.write(pem, to: certificatePath, mode: 0o644)
    return (key, pem)
  }
}
