import CCrypto

/// An X.509 certificate, as PEM.
package struct Certificate: Sendable, Hashable {
  package let pem: [UInt8]
  /// The start of the validity, in milliseconds since 1970.
  package let notBefore: Int64
  /// The end of the validity, in milliseconds since 1970.
  package let notAfter: Int64
  /// The subject's common name; empty if it has none.
  package let commonName: String

  /// Reads the first certificate in PEM text.
  package init(pem bytes: [UInt8]) throws(CryptoError) {
    guard let certificate = PEM.reading(bytes, { PEM_read_bio_X509($0, nil, nil, nil) }) else {
      throw .last("not a certificate in PEM")
    }
    defer { X509_free(certificate) }
    guard let pem = PEM.writing({ PEM_write_bio_X509($0, certificate) }),
      let begin = Certificate.milliseconds(X509_get0_notBefore(certificate)),
      let end = Certificate.milliseconds(X509_get0_notAfter(certificate))
    else { throw .last("the certificate cannot be read") }
    self.pem = pem
    notBefore = begin
    notAfter = end
    commonName = Certificate.commonName(certificate)
  }

  /// Whether `signature` is an RS256 signature of `message` by the certificate's key.
  package func verifyRS256(signature: [UInt8], message: [UInt8]) -> Bool {
    let verified = withHandle { certificate -> Bool? in
      guard let key = X509_get0_pubkey(certificate), EVP_PKEY_is_a(key, "RSA") == 1,
        let context = EVP_MD_CTX_new()
      else { return false }
      defer { EVP_MD_CTX_free(context) }
      return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
        && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
    ERR_clear_error()
    return verified ?? false
  }

  /// Whether the certificate belongs to the private key `key`.
  package func belongs(to key: PrivateKey) -> Bool {
    let found = withHandle { certificate in
      key.withHandle { X509_check_private_key(certificate, $0) == 1 }
    }
    ERR_clear_error()
    return found ?? false
  }

  func withHandle<R>(_ body: (OpaquePointer) -> R?) -> R? {
    guard let certificate = PEM.reading(pem, { PEM_read_bio_X509($0, nil, nil, nil) }) else {
      return nil
    }
    defer { X509_free(certificate) }
    return body(certificate)
  }

  private static func milliseconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
    guard let time, let epoch = ASN1_TIME_set(nil, 0) else { return nil }
    defer { ASN1_TIME_free(epoch) }
    var days: Int32 = 0
    var seconds: Int32 = 0
    guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
    return (Int64(days) * 86400 + Int64(seconds)) * 1000
  }

  private static func commonName(_ certificate: OpaquePointer) -> String {
    let name = X509_get_subject_name(certificate)
    let index = X509_NAME_get_index_by_NID(name, NID_commonName, -1)
    guard index >= 0, let entry = X509_NAME_get_entry(name, index),
      let value = X509_NAME_ENTRY_get_data(entry)
    else { return "" }
    var text: UnsafeMutablePointer<UInt8>?
    let count = ASN1_STRING_to_UTF8(&text, value)
    guard count >= 0, let text else { return "" }
    defer { CRYPTO_free(text, "", 0) }
    return String(decoding: UnsafeBufferPointer(start: text, count: Int(count)), as: UTF8.self)
  }
}
