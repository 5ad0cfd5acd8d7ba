import CCrypto

extension PrivateKey {
  /// The content of a new certificate.
  package struct CertificateRequest: Sendable {
    package var commonName: String
    /// The validity in days, starting one hour ago.
    package var days: Int
    /// The host names that the certificate is valid for.
    package var dnsNames: [String]
    /// The addresses that the certificate is valid for.
    package var ipAddresses: [String]
    /// Whether the certificate may sign other certificates.
    package var isAuthority: Bool

    package init(
      commonName: String, days: Int, dnsNames: [String] = [], ipAddresses: [String] = [],
      isAuthority: Bool = false
    ) {
      self.commonName = commonName
      self.days = days
      self.dnsNames = dnsNames
      self.ipAddresses = ipAddresses
      self.isAuthority = isAuthority
    }
  }

  /// A self-signed certificate of this key, as PEM.
  package func selfSignedCertificate(
    commonName: String, days: Int, dnsNames: [String] = [], ipAddresses: [String] = [],
    isAuthority: Bool = false
  ) throws(CryptoError) -> [UInt8] {
    let request = CertificateRequest(
      commonName: commonName, days: days, dnsNames: dnsNames, ipAddresses: ipAddresses,
      isAuthority: isAuthority)
    return try certificate(request, subject: self, issuer: nil)
  }

  /// A certificate for another key, signed by this one in the name of `issuer`, as PEM.
  package func signCertificate(
    for subject: PrivateKey, issuer: Certificate, _ request: CertificateRequest
  ) throws(CryptoError) -> [UInt8] {
    try certificate(request, subject: subject, issuer: issuer)
  }

  private func certificate(
    _ request: CertificateRequest, subject: PrivateKey, issuer: Certificate?
  ) throws(CryptoError) -> [UInt8] {
    let alternatives = try request.alternativeNames()
    guard let certificate = X509_new() else { throw .last("cannot create a certificate") }
    defer { X509_free(certificate) }
    let made = withHandle { signingKey -> Bool? in
      subject.withHandle { subjectKey -> Bool? in
        func finish(_ issuerCertificate: OpaquePointer) -> Bool? {
          request.fill(certificate, subjectKey, issuerCertificate, alternatives)
            && X509_sign(certificate, signingKey, EVP_sha256()) > 0 ? true : nil
        }
        guard let issuer else { return finish(certificate) }
        return issuer.withHandle(finish)
      }
    }
    guard made == true, let pem = PEM.writing({ PEM_write_bio_X509($0, certificate) }) else {
      throw .last("cannot create the certificate of \(request.commonName)")
    }
    return pem
  }
}

extension PrivateKey.CertificateRequest {
  /// The value of the extension in libcrypto's configuration syntax.
  ///
  /// Names and addresses are checked, so that they cannot inject syntax.
  fileprivate func alternativeNames() throws(CryptoError) -> String {
    var entries: [String] = []
    for name in dnsNames {
      let isName = name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2A, 0x5F: true
        default: false
        }
      }
      guard isName, !name.isEmpty else { throw CryptoError("\(name) is not a host name") }
      entries.append("DNS:\(name)")
    }
    for address in ipAddresses {
      guard let octets = a2i_IPADDRESS(address) else {
        throw CryptoError("\(address) is not an IP address")
      }
      ASN1_OCTET_STRING_free(octets)
      entries.append("IP:\(address)")
    }
    return entries.joined(separator: ",")
  }

  /// Fills in everything except the signature.
  fileprivate func fill(
    _ certificate: OpaquePointer, _ key: OpaquePointer, _ issuer: OpaquePointer,
    _ alternatives: String
  ) -> Bool {
    let name = X509_get_subject_name(certificate)
    let common = Array(commonName.utf8)
    guard X509_set_version(certificate, 2) == 1, Self.setSerial(certificate),
      X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != nil,
      X509_time_adj_ex(X509_getm_notAfter(certificate), Int32(days), 0, nil) != nil,
      X509_NAME_add_entry_by_txt(
        name, "CN", MBSTRING_UTF8, common, Int32(common.count), -1, 0) == 1,
      X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1,
      X509_set_pubkey(certificate, key) == 1
    else { return false }
    let usage = isAuthority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature"
    var extensions = [
      (NID_basic_constraints, isAuthority ? "critical,CA:TRUE" : "critical,CA:FALSE"),
      (NID_key_usage, usage),
      (NID_subject_key_identifier, "hash"),
    ]
    if certificate != issuer { extensions.append((NID_authority_key_identifier, "keyid")) }
    if !isAuthority { extensions.append((NID_ext_key_usage, "serverAuth,clientAuth")) }
    if !alternatives.isEmpty { extensions.append((NID_subject_alt_name, alternatives)) }
    return extensions.allSatisfy { Self.add($0.0, $0.1, to: certificate, issuer) }
  }

  private static func setSerial(_ certificate: OpaquePointer) -> Bool {
    var bytes = RandomBytes.make(16)
    bytes[0] &= 0x7F
    guard let number = BN_bin2bn(bytes, 16, nil) else { return false }
    defer { BN_free(number) }
    return BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil
  }

  private static func add(
    _ identifier: Int32, _ value: String, to certificate: OpaquePointer, _ issuer: OpaquePointer
  ) -> Bool {
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
    guard let found = X509V3_EXT_conf_nid(nil, &context, identifier, value) else { return false }
    defer { X509_EXTENSION_free(found) }
    return X509_add_ext(certificate, found, -1) == 1
  }
}
