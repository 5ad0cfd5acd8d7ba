import Foundation

#if canImport(CryptoKit)
  import CryptoKit
#else
  import CAttacheCrypto
#endif

/// Opens the sealed archive of a bundle or a delta: AES-256-GCM in chunks of 1 MiB, as
/// docs/on-disk.md describes it.
struct SealedArchive {
  static let entryName = "content.sealed"
  private static let chunkBytes = 1 << 20
  private static let tagBytes = 16
  private static let magic = Data("ATTSEAL1".utf8)
  private static let headerBytes = 8 + 32 + 16

  private let secret: Data
  private let write: (Data) throws -> Void
  private var pending = Data()
  private var key: Data?
  private var number: UInt64 = 0

  /// - Parameters:
  ///   - passphrase: The base64 of 32 bytes.
  ///   - write: Gets the parts of the opened archive.
  init(passphrase: String?, write: @escaping (Data) throws -> Void) throws {
    guard let secret = passphrase.flatMap({ Data(base64Encoded: $0) }), secret.count == 32 else {
      throw Refusal(.seal, "the bundle is sealed, and the passphrase is not base64 of 32 bytes")
    }
    (self.secret, self.write) = (secret, write)
  }

  /// Adds the next bytes.
  mutating func update(_ part: Data) throws {
    pending.append(part)
    if key == nil {
      guard pending.count >= Self.headerBytes else { return }
      guard pending.starts(with: Self.magic) else {
        throw Refusal(.format, "the sealed archive needs a newer app")
      }
      let derived = Self.derived(secret, salt: Data(pending.dropFirst(8).prefix(32)))
      guard derived.suffix(16).elementsEqual(pending.dropFirst(40).prefix(16)) else {
        throw Refusal(.seal, "the bundle is sealed with another passphrase")
      }
      key = Data(derived.prefix(32))
      pending = Data(pending.dropFirst(Self.headerBytes))
    }
    let whole = Self.chunkBytes + Self.tagBytes
    // A whole chunk is the last one unless another byte follows.
    while pending.count > whole {
      try open(Data(pending.prefix(whole)), isLast: false)
      pending = Data(pending.dropFirst(whole))
    }
  }

  /// Opens the last chunk; call it once, at the end.
  mutating func finish() throws {
    guard key != nil, pending.count > Self.tagBytes || number == 0 else { throw damaged() }
    try open(pending, isLast: true)
  }

  private func damaged() -> Refusal {
    Refusal(.contents, "the sealed archive is truncated or damaged in chunk \(number + 1)")
  }

  private mutating func open(_ sealed: Data, isLast: Bool) throws {
    guard let key, sealed.count >= Self.tagBytes,
      let plain = Self.opened(sealed, key: key, nonce: nonce(isLast: isLast))
    else { throw damaged() }
    try write(plain)
    number += 1
  }

  /// The number of the chunk in 11 bytes, big-endian, then 1 for the last chunk, or 0.
  private func nonce(isLast: Bool) -> Data {
    Data([0, 0, 0]) + (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
      + [isLast ? 1 : 0]
  }

  #if canImport(CryptoKit)
    private static func derived(_ secret: Data, salt: Data) -> Data {
      HKDF<SHA256>.deriveKey(
        inputKeyMaterial: SymmetricKey(data: secret), salt: salt,
        info: Data("attache-archive 1".utf8), outputByteCount: 48
      ).withUnsafeBytes { Data($0) }
    }

    private static func opened(_ sealed: Data, key: Data, nonce: Data) -> Data? {
      guard let nonce = try? AES.GCM.Nonce(data: nonce),
        let box = try? AES.GCM.SealedBox(
          nonce: nonce, ciphertext: sealed.dropLast(tagBytes), tag: sealed.suffix(tagBytes))
      else { return nil }
      return try? AES.GCM.open(box, using: SymmetricKey(data: key))
    }
  #else
    private static func derived(_ secret: Data, salt: Data) -> Data {
      let info = Array("attache-archive 1".utf8)
      let extracted = code(Array(salt), Array(secret))
      let first = code(extracted, info + [1])
      return Data(first + code(extracted, first + info + [2]).prefix(16))
    }

    private static func code(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
      var code = [UInt8](repeating: 0, count: 32)
      HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, nil)
      return code
    }

    private static func opened(_ sealed: Data, key: Data, nonce: Data) -> Data? {
      guard let context = EVP_CIPHER_CTX_new() else { return nil }
      defer { EVP_CIPHER_CTX_free(context) }
      let input = Array(sealed.dropLast(tagBytes))
      var tag = Array(sealed.suffix(tagBytes))
      var output = [UInt8](repeating: 0, count: input.count + 16)
      var (count, rest): (Int32, Int32) = (0, 0)
      guard EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, Array(key), Array(nonce)) == 1,
        input.isEmpty
          || EVP_DecryptUpdate(context, &output, &count, input, Int32(input.count)) == 1,
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes), &tag) == 1
      else { return nil }
      var end = [UInt8](repeating: 0, count: 16)
      guard EVP_DecryptFinal_ex(context, &end, &rest) == 1 else { return nil }
      return Data(output.prefix(Int(count)))
    }
  #endif
}
