/// What is wrong with a file that should hold a key or certificates in PEM, and what to do.
package struct PEMFault: Sendable, Hashable {
  /// What is wrong, without a subject: "is a certificate, not a private key".
  package let message: String
  /// What to do; `FILE` stands for the file's name.
  package let fix: String

  private init(_ message: String, _ fix: String) { (self.message, self.fix) = (message, fix) }

  /// Why `bytes` hold no key that a JWT can be signed with; nil where they do.
  package static func ofKey(_ bytes: [UInt8]) -> PEMFault? {
    let refusal: CryptoError
    do throws(CryptoError) {
      _ = try PrivateKey(pem: bytes)
      return nil
    } catch {
      refusal = error
    }
    if let fault = ofText(bytes, holding: "PRIVATE KEY") { return fault }
    let text = String(decoding: bytes, as: UTF8.self)
    let labels = labels(in: text)
    if labels.contains("ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
      return PEMFault(
        "is a private key with a passphrase, which nobody can be asked for at night",
        "openssl pkey -in FILE -out jwt.key writes it without one; chmod 600 jwt.key")
    }
    if labels.contains("OPENSSH PRIVATE KEY") {
      return PEMFault("is a key for ssh", "ssh-keygen -p -m PEM -f FILE turns an RSA key into PEM")
    }
    guard labels.contains(where: { $0.hasSuffix("PRIVATE KEY") }) else {
      return PEMFault(
        "holds \(words(labels)), not a private key",
        "name the key that was made with it, mostly a file that ends with .key")
    }
    if labels.contains("EC PRIVATE KEY") || refusal.message.contains("not an RSA key") {
      return PEMFault(
        "is a private key of another kind than RSA, which a login by JWT signs with",
        "openssl genrsa -out jwt.key 2048 makes one")
    }
    return PEMFault(
      "is a damaged private key: a letter of it was changed or lost", "copy it once more, whole")
  }

  /// Why `bytes` are no certificates of authorities that hold at `now`, in milliseconds since 1970; nil where
  /// one of them does.
  package static func ofAuthorities(_ bytes: [UInt8], now: Int64) -> PEMFault? {
    if let fault = ofText(bytes, holding: "CERTIFICATE") { return fault }
    let text = String(decoding: bytes, as: UTF8.self)
    let blocks = certificates(in: text)
    guard !blocks.isEmpty else {
      return PEMFault(
        "holds \(words(labels(in: text))), no certificate",
        "name the file with the authority's certificate")
    }
    var holds = false
    for (number, block) in blocks.enumerated() {
      guard let certificate = try? Certificate(pem: Array(block.utf8)) else {
        return PEMFault(
          "has a damaged certificate, number \(number + 1) of \(blocks.count)",
          "copy it once more, whole")
      }
      if (certificate.notBefore...max(certificate.notBefore, certificate.notAfter)).contains(now) {
        holds = true
      }
    }
    return holds
      ? nil
      : PEMFault(
        "has no certificate that holds today", "ask for the authority's new one, or set the clock")
  }

  /// What is wrong with PEM whatever it holds.
  private static func ofText(_ bytes: [UInt8], holding label: String) -> PEMFault? {
    if bytes.isEmpty { return PEMFault("is empty", "put the \(label.lowercased()) there") }
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.contains("-----BEGIN ") else {
      return bytes.contains(0)
        ? PEMFault(
          "is binary (DER), not PEM",
          label == "CERTIFICATE"
            ? "openssl x509 -inform DER -in FILE -out FILE.pem turns it into PEM"
            : "openssl pkey -inform DER -in FILE -out jwt.key turns it into PEM; chmod 600 jwt.key")
        : PEMFault(
          "is no PEM: no line begins with -----BEGIN \(label)-----",
          "copy the whole text, that line too")
    }
    if text.contains("-----\\n") {
      return PEMFault(
        "has the two characters \\n where lines end", "write line breaks in their place")
    }
    for line in text.split(whereSeparator: \.isNewline) where line.contains("-----BEGIN ") {
      if line.contains("-----END ") || line.contains("----- ") {
        return PEMFault("stands on one line", "keep its line breaks")
      }
      let begins = line.drop { $0 != "-" }
      if begins.count != line.count {
        return PEMFault("is indented", "let each line begin at the left")
      }
    }
    for label in labels(in: text) where !text.contains("-----END \(label)-----") {
      return PEMFault(
        "is cut off: the line -----END \(label)----- is missing", "copy it once more, whole")
    }
    return nil
  }

  /// The labels of the blocks, in order.
  private static func labels(in text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      guard line.hasPrefix("-----BEGIN "), let end = line.dropFirst(11).firstRange(of: "-----")
      else { return nil }
      return String(line.dropFirst(11)[..<end.lowerBound])
    }
  }

  /// What blocks with these labels are called.
  private static func words(_ labels: [String]) -> String {
    switch labels.first {
    case "CERTIFICATE", "TRUSTED CERTIFICATE": "a certificate"
    case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": "a request for a certificate"
    case "PUBLIC KEY", "RSA PUBLIC KEY": "a public key"
    case let label? where label.hasSuffix("PRIVATE KEY"): "a private key"
    case let label?: "\(label.lowercased())"
    case nil: "nothing"
    }
  }

  private static func certificates(in text: String) -> [String] {
    text.split(separator: "-----BEGIN CERTIFICATE-----").dropFirst(
      text.hasPrefix("-----BEGIN CERTIFICATE-----") ? 0 : 1
    ).map { "-----BEGIN CERTIFICATE-----" + $0 }
  }
}
