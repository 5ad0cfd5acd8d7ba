import CCrypto

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D), for a series of chunks under one key.
///
/// A nonce must not be used for two chunks under one key.
package final class ChunkCipher {
  /// The length of a key in bytes.
  package static let keyBytes = 32
  /// The length of a nonce in bytes.
  package static let nonceBytes = 12
  /// The length in bytes of the tag that follows the encrypted bytes of a chunk.
  package static let tagBytes = 16

  private let context: OpaquePointer
  private let key: [UInt8]

  /// Creates a cipher with a key of 32 bytes.
  package init(key: [UInt8]) throws(CryptoError) {
    guard key.count == Self.keyBytes else {
      throw CryptoError("a chunk key has \(Self.keyBytes) bytes, not \(key.count)")
    }
    guard let context = EVP_CIPHER_CTX_new() else { throw .last("cannot prepare a cipher") }
    self.context = context
    self.key = key
  }

  deinit { EVP_CIPHER_CTX_free(context) }

  /// Encrypts `plain` into a buffer that has 16 bytes more.
  package func seal(
    _ plain: UnsafeRawBufferPointer, nonce: [UInt8], into sealed: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    guard sealed.count == plain.count + Self.tagBytes else {
      throw CryptoError("a sealed chunk has \(Self.tagBytes) bytes more than the plain one")
    }
    try begin(encrypts: 1, nonce)
    try update(plain, sealed)
    let tag = sealed.baseAddress.map { $0 + plain.count }
    guard isFinal(),
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagBytes), tag) == 1
    else { throw .last("cannot encrypt a chunk") }
  }

  /// Decrypts `sealed` into a buffer that has 16 bytes less, and returns whether it is authentic.
  ///
  /// If it is not, the buffer is filled with zeros.
  package func open(
    _ sealed: UnsafeRawBufferPointer, nonce: [UInt8], into plain: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) -> Bool {
    guard sealed.count == plain.count + Self.tagBytes else {
      throw CryptoError("a sealed chunk has \(Self.tagBytes) bytes more than the plain one")
    }
    try begin(encrypts: 0, nonce)
    try update(UnsafeRawBufferPointer(rebasing: sealed[..<plain.count]), plain)
    var tag = Array(sealed[plain.count...])
    guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagBytes), &tag) == 1
    else { throw .last("cannot decrypt a chunk") }
    if isFinal() { return true }
    ERR_clear_error()
    plain.initializeMemory(as: UInt8.self, repeating: 0)
    return false
  }

  private func begin(encrypts: Int32, _ nonce: [UInt8]) throws(CryptoError) {
    guard nonce.count == Self.nonceBytes else {
      throw CryptoError("a nonce has \(Self.nonceBytes) bytes, not \(nonce.count)")
    }
    guard EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce, encrypts) == 1 else {
      throw .last("cannot prepare a cipher")
    }
  }

  private func update(
    _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    if source.isEmpty { return }
    let input = source.bindMemory(to: UInt8.self)
    let output = target.bindMemory(to: UInt8.self)
    var length: Int32 = 0
    guard
      EVP_CipherUpdate(
        context, output.baseAddress, &length, input.baseAddress, Int32(input.count)) == 1,
      Int(length) == input.count
    else { throw .last("cannot encrypt or decrypt a chunk") }
  }

  /// Ends a chunk and returns whether its tag is right; always true while encrypting.
  private func isFinal() -> Bool {
    var (rest, length) = ([UInt8](repeating: 0, count: 16), Int32(0))
    return EVP_CipherFinal_ex(context, &rest, &length) == 1
  }
}
