import CCrypto

/// AES-256 in CBC mode without padding, for a series of pages under one key.
package struct PageCipher: ~Copyable {
  private let context: OpaquePointer
  private let key: [UInt8]
  /// The direction that the context is prepared for: 1 encrypts, 0 decrypts.
  private var direction: Int32 = -1

  /// Creates a cipher with a key of 32 bytes.
  package init(key: [UInt8]) throws(CryptoError) {
    guard key.count == 32 else { throw CryptoError("a page key has 32 bytes, not \(key.count)") }
    guard let context = EVP_CIPHER_CTX_new() else { throw .last("cannot prepare a cipher") }
    self.context = context
    self.key = key
  }

  deinit { EVP_CIPHER_CTX_free(context) }

  /// Encrypts `plain`, whole blocks of 16 bytes, into a buffer of the same size.
  package mutating func encrypt(
    _ plain: UnsafeRawBufferPointer, iv: UnsafeRawBufferPointer,
    into sealed: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    try apply(encrypts: 1, plain, iv, sealed)
  }

  /// Decrypts `sealed`, whole blocks of 16 bytes, into a buffer of the same size.
  package mutating func decrypt(
    _ sealed: UnsafeRawBufferPointer, iv: UnsafeRawBufferPointer,
    into plain: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    try apply(encrypts: 0, sealed, iv, plain)
  }

  private mutating func apply(
    encrypts: Int32, _ source: UnsafeRawBufferPointer, _ iv: UnsafeRawBufferPointer,
    _ target: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    guard source.count % 16 == 0, target.count == source.count, iv.count == 16 else {
      throw CryptoError("a page consists of whole blocks of 16 bytes, with an IV of 16 bytes")
    }
    if source.isEmpty { return }
    let input = source.bindMemory(to: UInt8.self)
    let output = target.bindMemory(to: UInt8.self)
    let vector = iv.bindMemory(to: UInt8.self)
    var length: Int32 = 0
    // The key schedule is computed once per direction. For each page only the IV changes.
    if direction != encrypts {
      direction = -1
      guard EVP_CipherInit_ex(context, EVP_aes_256_cbc(), nil, key, nil, encrypts) == 1,
        EVP_CIPHER_CTX_set_padding(context, 0) == 1
      else { throw .last("cannot prepare a cipher") }
      direction = encrypts
    }
    guard EVP_CipherInit_ex(context, nil, nil, nil, vector.baseAddress, encrypts) == 1,
      EVP_CipherUpdate(
        context, output.baseAddress, &length, input.baseAddress, Int32(input.count)) == 1,
      Int(length) == input.count
    else { throw .last("cannot encrypt or decrypt a page") }
  }
}
