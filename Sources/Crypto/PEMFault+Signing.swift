extension PEMFault {
  /// The reason that `bytes` cannot sign manifests; nil if they can.
  package static func ofSigningKey(_ bytes: [UInt8]) -> PEMFault? {
    let refusal: CryptoError
    do throws(CryptoError) {
      _ = try SigningKey(bytes)
      return nil
    } catch {
      refusal = error
    }
    if let fault = ofText(bytes, holding: "PRIVATE KEY", file: "sign.key") { return fault }
    let text = String(decoding: bytes, as: UTF8.self)
    let labels = labels(in: text)
    if refusal.message == OpenSSHPrivateKey.encrypted {
      return PEMFault(
        withPassphrase, "ssh-keygen -p -N '' -f FILE removes the passphrase; chmod 600 FILE")
    }
    if labels.contains("ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
      return PEMFault(
        withPassphrase,
        "openssl pkey -in FILE -out sign.key writes it without the passphrase; chmod 600 sign.key")
    }
    guard labels.contains(where: { $0.hasSuffix("PRIVATE KEY") }) else {
      return PEMFault(
        "holds \(words(labels)), not a private key", "name the private key that belongs to it")
    }
    if refusal.message == SigningKey.otherAlgorithm {
      return PEMFault(
        "is not a P-256 or Ed25519 key, which signing needs", "attache key make creates one")
    }
    return PEMFault(
      "is a damaged private key: a character was changed or lost", "copy the whole file again")
  }

  private static let withPassphrase =
    "is a private key with a passphrase, which a scheduled run cannot enter"
}
