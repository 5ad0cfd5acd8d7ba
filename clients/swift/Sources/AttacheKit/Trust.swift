import Foundation

#if canImport(CryptoKit)
  import CryptoKit
#else
  import CAttacheCrypto
#endif

/// The public keys that an app has built in, and what they sign.
///
/// Build in two keys from the start, so that the pipeline can change its key without waiting for an
/// update of the app.
public struct Trust {
  let keys: [PublicKey]
  let namespace: String

  /// `keys` are lines as `attache key make` prints them first.
  public init(keys: [String], namespace: String = "attache-manifest") throws {
    self.keys = try keys.map { line in
      let words = line.split(separator: " ")
      guard words.count > 1, let wire = Data(base64Encoded: String(words[1])),
        let key = PublicKey(wire: wire), key.name == words[0]
      else { throw Refusal(.key, "\"\(line)\" is not a public key of P-256 or Ed25519") }
      return key
    }
    self.namespace = namespace
  }

  /// Checks that a signature file has a valid signature of `document` by one of the keys.
  public func verify(_ document: Data, signature: Data) throws {
    guard let signature = SSHSignature(armored: signature) else {
      throw Refusal(.signature, "the signature cannot be read")
    }
    guard keys.contains(signature.key) else {
      throw Refusal(.key, "the signature is by a key that the app does not have")
    }
    guard signature.namespace == namespace else {
      throw Refusal(.namespace, "the signature is for \"\(signature.namespace)\"")
    }
    guard signature.isValid(for: document) else {
      throw Refusal(.signature, "the signature does not match")
    }
  }
}

/// A public key in SSH's binary form.
struct PublicKey: Equatable {
  let name: String
  let raw: Data

  init?(wire: Data) {
    var reader = SSHReader(wire)
    guard let name = reader.text() else { return nil }
    let isP256 = name == "ecdsa-sha2-nistp256"
    guard isP256 || name == "ssh-ed25519", !isP256 || reader.text() == "nistp256",
      let raw = reader.string(), reader.rest.isEmpty, raw.count == (isP256 ? 65 : 32)
    else { return nil }
    (self.name, self.raw) = (name, raw)
  }

  /// Whether 64 bytes are a signature of `message`; those of P-256 are r and s.
  func isValid(_ signature: Data, of message: Data) -> Bool {
    #if canImport(CryptoKit)
      if name == "ssh-ed25519" {
        return (try? Curve25519.Signing.PublicKey(rawRepresentation: raw))?
          .isValidSignature(signature, for: message) ?? false
      }
      guard let key = try? P256.Signing.PublicKey(x963Representation: raw),
        let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
      else { return false }
      return key.isValidSignature(signature, for: message)
    #else
      let isP256 = name != "ssh-ed25519"
      // The key as SubjectPublicKeyInfo, and the signature of P-256 as a DER sequence of r and s.
      let prefix: [UInt8] =
        isP256
        ? [
          0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08,
          0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ] : [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
      func number(_ half: Data) -> [UInt8] {
        var bytes = Array(half.drop { $0 == 0 })
        if bytes.first.map({ $0 > 0x7F }) ?? true { bytes.insert(0, at: 0) }
        return [0x02, UInt8(bytes.count)] + bytes
      }
      let numbers = number(signature.prefix(32)) + number(signature.suffix(32))
      let encoded = isP256 ? [0x30, UInt8(numbers.count)] + numbers : Array(signature)
      let der = prefix + raw
      let key = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
        var start = buffer.baseAddress
        return d2i_PUBKEY(nil, &start, buffer.count)
      }
      guard let key, let context = EVP_MD_CTX_new() else { return false }
      defer {
        EVP_MD_CTX_free(context)
        EVP_PKEY_free(key)
      }
      let bytes = Array(message)
      return EVP_DigestVerifyInit(context, nil, isP256 ? EVP_sha256() : nil, nil, key) == 1
        && EVP_DigestVerify(context, encoded, encoded.count, bytes, bytes.count) == 1
    #endif
  }
}

/// A signature in OpenSSH's format.
struct SSHSignature {
  let key: PublicKey
  let namespace: String
  /// Ed25519's signature, or r and s of P-256 with 32 bytes each.
  private let raw: Data

  init?(armored: Data) {
    let (header, footer) = ("-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----")
    guard let text = String(data: armored, encoding: .utf8), text.hasPrefix(header + "\n"),
      text.hasSuffix("\n" + footer + "\n"),
      let bytes = Data(
        base64Encoded: text.dropFirst(header.count).dropLast(footer.count + 1)
          .replacingOccurrences(of: "\n", with: ""))
    else { return nil }
    // Another spelling of the same bytes is refused.
    var lines = Substring(bytes.base64EncodedString())
    var again = header + "\n"
    while !lines.isEmpty {
      again += lines.prefix(70) + "\n"
      lines = lines.dropFirst(70)
    }
    guard Data((again + footer + "\n").utf8) == armored else { return nil }
    guard bytes.starts(with: Array("SSHSIG".utf8) + [0, 0, 0, 1]) else { return nil }
    var reader = SSHReader(bytes.dropFirst(10))
    guard let wire = reader.string(), let key = PublicKey(wire: wire),
      let namespace = reader.text(), reader.string()?.isEmpty == true, reader.text() == "sha512",
      var inner = reader.string().map(SSHReader.init), reader.rest.isEmpty,
      inner.text() == key.name, let blob = inner.string(), inner.rest.isEmpty
    else { return nil }
    (self.key, self.namespace) = (key, namespace)
    if key.name == "ssh-ed25519" {
      raw = blob
    } else {
      var numbers = SSHReader(blob)
      guard let r = numbers.number(), let s = numbers.number(), numbers.rest.isEmpty else {
        return nil
      }
      raw = r + s
    }
    guard raw.count == 64 else { return nil }
  }

  func isValid(for document: Data) -> Bool {
    var message = Data("SSHSIG".utf8)
    for part in [Data(namespace.utf8), Data(), Data("sha512".utf8), Digest.sha512(document)] {
      withUnsafeBytes(of: UInt32(part.count).bigEndian) { message.append(contentsOf: $0) }
      message.append(part)
    }
    return key.isValid(raw, of: message)
  }
}

/// Reads SSH's strings: a length of four bytes, then as many bytes.
struct SSHReader {
  private(set) var rest: Data

  init(_ bytes: Data) { rest = bytes }

  mutating func string() -> Data? {
    guard rest.count >= 4 else { return nil }
    let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    guard rest.count - 4 >= count else { return nil }
    defer { rest = rest.dropFirst(4 + count) }
    return Data(rest.dropFirst(4).prefix(count))
  }

  mutating func text() -> String? { string().flatMap { String(data: $0, encoding: .utf8) } }

  /// A positive number, as 32 bytes; nil if it is spelled otherwise than with the fewest bytes.
  mutating func number() -> Data? {
    guard var bytes = string(), let first = bytes.first, first < 0x80 else { return nil }
    if first == 0 {
      bytes = Data(bytes.dropFirst())
      guard let next = bytes.first, next >= 0x80 else { return nil }
    }
    return bytes.count > 32 ? nil : Data(count: 32 - bytes.count) + bytes
  }
}

enum Digest {
  static func sha512(_ bytes: Data) -> Data { hash(bytes, isLong: true) }
  static func sha256Hex(_ bytes: Data) -> String { hex(hash(bytes, isLong: false)) }
  static func hex(_ bytes: Data) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

  private static func hash(_ bytes: Data, isLong: Bool) -> Data {
    var hasher = Hasher(isLong: isLong)
    hasher.update(bytes)
    return hasher.finish()
  }

  /// SHA-256 or SHA-512, of parts.
  struct Hasher {
    #if canImport(CryptoKit)
      private var short: SHA256? = nil
      private var long: SHA512? = nil

      init(isLong: Bool) { if isLong { long = SHA512() } else { short = SHA256() } }

      mutating func update(_ bytes: Data) {
        short?.update(data: bytes)
        long?.update(data: bytes)
      }

      func finish() -> Data {
        short.map { Data($0.finalize()) } ?? long.map { Data($0.finalize()) } ?? Data()
      }
    #else
      private let context = EVP_MD_CTX_new()

      init(isLong: Bool) { EVP_DigestInit_ex(context, isLong ? EVP_sha512() : EVP_sha256(), nil) }

      mutating func update(_ bytes: Data) {
        _ = bytes.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
      }

      /// The digest; call it once, at the end.
      func finish() -> Data {
        var bytes = [UInt8](repeating: 0, count: 64)
        var count: UInt32 = 0
        EVP_DigestFinal_ex(context, &bytes, &count)
        EVP_MD_CTX_free(context)
        return Data(bytes.prefix(Int(count)))
      }
    #endif
  }
}
