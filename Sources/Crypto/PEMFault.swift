/// A fault in a PEM file that should hold a key or certificates, and its fix.
package struct PEMFault: Sendable, Hashable {
  /// The fault, without a subject: "is a certificate, not a private key".
  package let message: String
  /// The fix; `FILE` stands for the name of the file.
  package let fix: String

  init(_ message: String, _ fix: String) { (self.message, self.fix) = (message, fix) }

  /// The reason that `bytes` cannot sign a JWT; nil if they can.
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
        "is a private key with a passphrase, which a scheduled run cannot enter",
        "openssl pkey -in FILE -out jwt.key writes it without the passphrase; chmod 600 jwt.key")
    }
    if labels.contains("OPENSSH PRIVATE KEY") {
      return PEMFault("is an SSH key", "ssh-keygen -p -m PEM -f FILE converts an RSA key to PEM")
    }
    guard labels.contains(where: { $0.hasSuffix("PRIVATE KEY") }) else {
      return PEMFault(
        "holds \(words(labels)), not a private key",
        "name the key that belongs to it, usually a file that ends with .key")
    }
    if labels.contains("EC PRIVATE KEY") || refusal.message.contains("not an RSA key") {
      return PEMFault(
        "is not an RSA private key, which a JWT login needs",
        "openssl genrsa -out jwt.key 2048 creates one")
    }
    return PEMFault(
      "is a damaged private key: a character was changed or lost", "copy the whole file again")
  }

  /// The reason that `bytes` hold no certificate of an authority that is valid at `now`, in
  /// milliseconds since 1970; nil if one is valid.
  package static func ofAuthorities(_ bytes: [UInt8], now: Int64) -> PEMFault? {
    if let fault = ofText(bytes, holding: "CERTIFICATE") { return fault }
    let text = String(decoding: bytes, as: UTF8.self)
    let blocks = certificates(in: text)
    guard !blocks.isEmpty else {
      let labels = labels(in: text)
      return PEMFault(
        "holds \(words(labels)), not a certificate",
        labels.contains { $0.hasSuffix(" CERTIFICATE") }
          ? "openssl x509 -in FILE -out FILE.pem writes it as a plain certificate"
          : "name the file with the authority's certificate")
    }
    var holds = false
    for (number, block) in blocks.enumerated() {
      guard let certificate = try? Certificate(pem: Array(block.utf8)) else {
        return PEMFault(
          "has a damaged certificate, number \(number + 1) of \(blocks.count)",
          "copy the whole file again")
      }
      if (certificate.notBefore...max(certificate.notBefore, certificate.notAfter)).contains(now) {
        holds = true
      }
    }
    return holds
      ? nil
      : PEMFault(
        "has no certificate that is valid today",
        "ask for the authority's new certificate, or correct the system clock")
  }

  /// The fault in the PEM text, regardless of its content.
  ///
  /// `file` is the name that a fix suggests for a converted key.
  static func ofText(
    _ bytes: [UInt8], holding label: String, file: String = "jwt.key"
  ) -> PEMFault? {
    if bytes.isEmpty { return PEMFault("is empty", "put the \(label.lowercased()) in it") }
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.contains("-----BEGIN ") else {
      return bytes.contains(0)
        ? PEMFault(
          "is binary (DER), not PEM",
          label == "CERTIFICATE"
            ? "openssl x509 -inform DER -in FILE -out FILE.pem converts it to PEM"
            : "openssl pkey -inform DER -in FILE -out \(file) converts it to PEM; chmod 600 \(file)"
        )
        : PEMFault(
          "is not PEM: no line starts with -----BEGIN \(label)-----",
          "copy the whole text, including that line")
    }
    if text.contains("-----\\n") {
      return PEMFault(
        "has the two characters \\n instead of line breaks", "replace them with line breaks")
    }
    for line in text.split(whereSeparator: \.isNewline) where line.contains("-----BEGIN ") {
      if line.contains("-----END ") || line.contains("----- ") {
        return PEMFault("is on a single line", "keep its line breaks")
      }
      let begins = line.drop { $0 != "-" }
      if begins.count != line.count {
        return PEMFault("is indented", "start each line in the first column")
      }
    }
    for label in labels(in: text) where !text.contains("-----END \(label)-----") {
      return PEMFault(
        "is truncated: the line -----END \(label)----- is missing", "copy the whole file again")
    }
    return nil
  }

  /// The labels of the PEM blocks, in order.
  static func labels(in text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      guard line.hasPrefix("-----BEGIN "), let end = line.dropFirst(11).firstRange(of: "-----")
      else { return nil }
      return String(line.dropFirst(11)[..<end.lowerBound])
    }
  }

  /// The description of PEM blocks with these labels.
  static func words(_ labels: [String]) -> String {
    switch labels.first {
    case "CERTIFICATE": "a certificate"
    case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": "a certificate request"
    case "PUBLIC KEY", "RSA PUBLIC KEY": "a public key"
    case let label? where label.hasSuffix("PRIVATE KEY"): "a private key"
    // Names are in capitals.
    case let label?: "a block with the name \"\(label)\""
    case nil: "nothing"
    }
  }

  private static func certificates(in text: String) -> [String] {
    text.split(separator: "-----BEGIN CERTIFICATE-----").dropFirst(
      text.hasPrefix("-----BEGIN CERTIFICATE-----") ? 0 : 1
    ).map { "-----BEGIN CERTIFICATE-----" + $0 }
  }
}
