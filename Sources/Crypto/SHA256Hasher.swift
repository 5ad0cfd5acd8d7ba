import CCrypto

/// The SHA-256 of bytes that arrive in pieces.
package struct SHA256Hasher: ~Copyable {
  private let context: OpaquePointer

  package init() {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      preconditionFailure("libcrypto has no SHA-256")
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    if bytes.isEmpty { return }
    let status = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    precondition(status == 1, "SHA-256 failed")
  }

  package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

  /// The digest of all added bytes.
  package consuming func finalize() -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    let status = EVP_DigestFinal_ex(context, &digest, nil)
    precondition(status == 1, "SHA-256 failed")
    return digest
  }
}
