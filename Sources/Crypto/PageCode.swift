import CCrypto

/// HMAC-SHA-512 of a series of pages under one key, without an allocation per page.
package struct PageCode: ~Copyable {
  /// The length of a code in bytes.
  package static let length = 64

  private let context: OpaquePointer

  /// Creates an authenticator with a key, which must not be empty.
  package init(key: [UInt8]) throws(CryptoError) {
    guard !key.isEmpty else { throw CryptoError("a page MAC needs a key") }
    guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil) else {
      throw .last("cannot prepare a page MAC")
    }
    defer { EVP_MAC_free(algorithm) }
    guard let context = EVP_MAC_CTX_new(algorithm) else { throw .last("cannot prepare a page MAC") }
    var digest = Array("SHA512".utf8CString)
    let status = digest.withUnsafeMutableBufferPointer { name in
      let parameters = [
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.baseAddress, 0),
        OSSL_PARAM_construct_end(),
      ]
      return EVP_MAC_init(context, key, key.count, parameters)
    }
    guard status == 1 else {
      EVP_MAC_CTX_free(context)
      throw .last("cannot prepare a page MAC")
    }
    self.context = context
  }

  deinit { EVP_MAC_CTX_free(context) }

  /// Writes the 64-byte code of `message` followed by a number in four bytes, little-endian.
  package mutating func compute(
    _ message: UnsafeRawBufferPointer, number: UInt32, into code: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    guard code.count == Self.length else {
      throw CryptoError("a page MAC has \(Self.length) bytes")
    }
    var tail = number.littleEndian
    var length = 0
    let bytes = message.bindMemory(to: UInt8.self)
    let place = code.bindMemory(to: UInt8.self)
    // Without a key, the prepared one is kept.
    var isDone = EVP_MAC_init(context, nil, 0, nil) == 1
    if isDone, bytes.count > 0 {
      isDone = EVP_MAC_update(context, bytes.baseAddress, bytes.count) == 1
    }
    isDone =
      isDone
      && withUnsafeBytes(of: &tail) {
        EVP_MAC_update(context, $0.bindMemory(to: UInt8.self).baseAddress, $0.count) == 1
      }
    guard isDone, EVP_MAC_final(context, place.baseAddress, &length, code.count) == 1,
      length == Self.length
    else { throw .last("cannot compute a page MAC") }
  }
}
