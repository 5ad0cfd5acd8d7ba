import Archive
import Crypto
import System

/// A sealed archive inside a bundle or a delta, as the manifest describes it.
package struct SealedPart: Sendable, Hashable {
  /// The size of the entry in bytes.
  package var bytes: Int64
  /// The SHA-256 of the entry in hexadecimal digits.
  package var sha256: String
  /// The first half of the entry's salt, in hexadecimal digits.
  ///
  /// It depends on the passphrase and the stores, and shows whether a bundle is current.
  package var salt: String

  package init(bytes: Int64, sha256: String, salt: String) {
    (self.bytes, self.sha256, self.salt) = (bytes, sha256, salt)
  }
}

/// The key of sealed archives.
package struct ArchiveKey: Sendable {
  private let secret: Secret

  /// Creates a key from a passphrase.
  ///
  /// The key is the 32 bytes whose base64 the passphrase is; other text opens nothing that attache
  /// has sealed.
  package init(passphrase: Secret) {
    secret = Self.bytes(of: passphrase).map { Secret($0) } ?? passphrase
  }

  /// Whether a passphrase is base64 of 32 bytes, which attache requires to seal an archive: HKDF
  /// slows no one down who tries passphrases.
  package static func isKey(_ passphrase: Secret) -> Bool { bytes(of: passphrase) != nil }

  private static func bytes(of passphrase: Secret) -> [UInt8]? {
    guard let text = passphrase.text, let bytes = Base64.decode(text),
      bytes.count == ChunkCipher.keyBytes
    else { return nil }
    return bytes
  }

  /// The seed of salts, derived with a secret of its creator, from the key and a context.
  func seed(_ owner: [UInt8], context: [String]) -> [UInt8] {
    var message = Array("attache-archive-1".utf8)
    for part in [secret.reveal()] + context.map({ Array($0.utf8) }) {
      // Length prefixes: two different lists of parts never give the same message.
      withUnsafeBytes(of: UInt64(part.count).littleEndian) { message += $0 }
      message += part
    }
    return HMAC.sha256(key: owner, message)
  }

  /// The key of the chunks under a salt, and the bytes by which a reader recognises it.
  func derived(salt: [UInt8]) -> (chunks: [UInt8], check: [UInt8]) {
    let bytes = KeyDerivation.hkdfSHA256(
      key: secret.reveal(), salt: salt, info: SealedArchive.info,
      bytes: ChunkCipher.keyBytes + SealedArchive.checkBytes)
    return (
      Array(bytes[..<ChunkCipher.keyBytes]), Array(bytes[ChunkCipher.keyBytes...])
    )
  }
}

/// The format of a sealed archive: a header, then chunks of 1 MiB under AES-256-GCM.
///
/// The nonce of a chunk has its number and whether it is the last one, so a reader notices chunks
/// that are missing, moved or repeated.
package enum SealedArchive {
  /// The name of the entry, in bundles and deltas.
  package static let entryName = "content.sealed"
  /// The plain bytes of every chunk but the last one.
  package static let chunkBytes = 1 << 20
  static let magic = Array("ATTSEAL1".utf8)
  static let info = "attache-archive 1"
  static let saltBytes = 32
  static let checkBytes = 16
  /// The bytes before the first chunk: the magic bytes, the salt, and the check of the key.
  package static let headerBytes = magic.count + saltBytes + checkBytes

  /// The size of the sealed form of an archive.
  package static func bytes(ofPlain bytes: Int64) -> Int64 {
    let chunks = max(1, (bytes + Int64(chunkBytes) - 1) / Int64(chunkBytes))
    return Int64(headerBytes) + bytes + chunks * Int64(ChunkCipher.tagBytes)
  }

  /// The nonce of a chunk: its number in 11 bytes, big-endian, then 1 for the last chunk, or 0.
  static func nonce(_ number: UInt64, isLast: Bool) -> [UInt8] {
    [0, 0, 0] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
      + [isLast ? 1 : 0]
  }

  /// Seals a file as a new file.
  ///
  /// Two different files must not have the same salt.
  package static func seal(
    _ source: String, to target: String, key: ArchiveKey, salt: [UInt8]
  ) throws(BundleError) -> SealedPart {
    try BundleError.mapping {
      precondition(salt.count == saltBytes, "a salt has \(saltBytes) bytes")
      let input = try Files.openInput(source)
      let output = try Files.createNew(target)
      var hasher = SHA256Hasher()
      var left = try Files.size(of: source)
      let derived = key.derived(salt: salt)
      let cipher = try ChunkCipher(key: derived.chunks)
      let header = magic + salt + derived.check
      hasher.update(header)
      try output.write(header)
      let plain = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkBytes, alignment: 64)
      let sealed = UnsafeMutableRawBufferPointer.allocate(
        byteCount: chunkBytes + ChunkCipher.tagBytes, alignment: 64)
      defer {
        plain.deallocate()
        sealed.deallocate()
      }
      var number: UInt64 = 0
      while left > 0 || number == 0 {
        let count = Int(min(left, Int64(chunkBytes)))
        let chunk = UnsafeMutableRawBufferPointer(rebasing: plain[..<count])
        guard try input.read(into: chunk) == count else {
          throw BundleError.invalid("\(source) changed while it was sealed")
        }
        left -= Int64(count)
        let place = UnsafeMutableRawBufferPointer(
          rebasing: sealed[..<(count + ChunkCipher.tagBytes)])
        try cipher.seal(
          UnsafeRawBufferPointer(chunk), nonce: nonce(number, isLast: left == 0), into: place)
        hasher.update(UnsafeRawBufferPointer(place))
        try output.write(UnsafeRawBufferPointer(place))
        number += 1
      }
      return SealedPart(
        bytes: try Files.size(of: target), sha256: Hex.encode(hasher.finalize()),
        salt: Hex.encode(salt[..<(saltBytes / 2)]))
    }
  }

  /// Reads the sealed archive that ends a bundle or a delta: compares it with its description in a
  /// document and, with a key, opens it as a new file.
  ///
  /// Damage is reported before a wrong key, which it looks like.
  static func read(
    _ part: SealedPart, of reader: ArchiveReader, _ path: String, document: String,
    _ opening: (key: ArchiveKey, target: String)?
  ) throws {
    guard let entry = try reader.next(), entry.name == entryName else {
      throw BundleError.damaged(path: path, file: entryName, reason: "is missing")
    }
    let opener = try opening.map { try FileOpener($0.key, path, $0.target) }
    var digest = EntryDigest(
      entryName, bytes: part.bytes, sha256: part.sha256, of: path, document: document)
    try reader.read {
      try digest.add($0)
      try opener?.update($0)
    }
    try digest.finish()
    if let other = try reader.next() {
      throw BundleError.damaged(path: path, file: other.name, reason: "is not in \(document)")
    }
    try opener?.finish()
  }

  /// Opens a sealed archive as a new file, and reports what is wrong with it at the end.
  private final class FileOpener {
    private let opener: Opener
    private var failure: (any Error)?

    init(_ key: ArchiveKey, _ path: String, _ target: String) throws {
      let file = NewFile(try Files.createNew(target))
      opener = Opener(key: key, path: path) { try file.handle.write($0) }
    }

    /// Adds the next bytes; throws only if the file cannot be written.
    func update(_ piece: UnsafeRawBufferPointer) throws {
      guard failure == nil else { return }
      do {
        try opener.update(piece)
      } catch let error as BundleError {
        failure = error
      }
    }

    func finish() throws {
      if let failure { throw failure }
      try opener.finish()
    }
  }

  /// A file that a closure can write to.
  private final class NewFile {
    let handle: FileDescriptorHandle
    init(_ handle: consuming FileDescriptorHandle) { self.handle = handle }
  }

  /// Reads a sealed archive back and compares it with the file that it was made from.
  static func verify(
    _ file: String, _ part: SealedPart, key: ArchiveKey, content: String
  ) throws {
    let hash = SHA256State()
    let opener = Opener(key: key, path: file) { hash.hasher.update($0) }
    let input = try Files.openInput(file)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    var digest = EntryDigest(
      entryName, bytes: part.bytes, sha256: part.sha256, of: file, document: "the manifest")
    while true {
      let count = try input.read(into: buffer)
      if count == 0 { break }
      let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      try digest.add(piece)
      try opener.update(piece)
    }
    try opener.finish()
    try digest.finish()
    guard try hash.value() == Digest.sha256Hex(file: content) else {
      throw BundleError.damaged(
        path: file, file: entryName, reason: "does not have the content that was sealed")
    }
  }

  /// A digest that a closure can add to.
  private final class SHA256State {
    var hasher = SHA256Hasher()

    /// The digest of all added bytes, in hexadecimal digits; starts again.
    func value() -> String {
      var done = SHA256Hasher()
      swap(&done, &hasher)
      return Hex.encode(done.finalize())
    }
  }

  /// Opens a sealed archive whose bytes arrive in pieces, with one chunk in memory.
  package final class Opener {
    private let key: ArchiveKey
    private let path: String
    private let body: (UnsafeRawBufferPointer) throws -> Void
    private var header: [UInt8] = []
    private var cipher: ChunkCipher?
    private let chunk = UnsafeMutableRawBufferPointer.allocate(
      byteCount: SealedArchive.chunkBytes + ChunkCipher.tagBytes, alignment: 64)
    private let plain = UnsafeMutableRawBufferPointer.allocate(
      byteCount: SealedArchive.chunkBytes, alignment: 64)
    private var filled = 0
    private var number: UInt64 = 0

    /// Passes the plain bytes to `body`; `path` is that of the bundle, for error messages.
    package init(
      key: ArchiveKey, path: String, body: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) {
      (self.key, self.path, self.body) = (key, path, body)
    }

    deinit {
      chunk.deallocate()
      plain.deallocate()
    }

    /// Adds the next bytes.
    package func update(_ piece: UnsafeRawBufferPointer) throws {
      var piece = piece[...]
      if cipher == nil {
        let count = min(SealedArchive.headerBytes - header.count, piece.count)
        header += piece.prefix(count)
        piece = piece.dropFirst(count)
        guard header.count == SealedArchive.headerBytes else { return }
        try begin()
      }
      while !piece.isEmpty {
        // A full chunk is the last one unless another byte follows.
        if filled == chunk.count { try open(isLast: false) }
        let count = min(chunk.count - filled, piece.count)
        UnsafeMutableRawBufferPointer(rebasing: chunk[filled..<(filled + count)])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: piece.prefix(count)))
        filled += count
        piece = piece.dropFirst(count)
      }
    }

    /// Opens the last chunk; throws if it is missing.
    package func finish() throws {
      guard cipher != nil, filled >= ChunkCipher.tagBytes else { throw damaged("is truncated") }
      guard filled > ChunkCipher.tagBytes || number == 0 else {
        throw damaged("has an empty chunk \(number + 1)")
      }
      try open(isLast: true)
    }

    private func begin() throws {
      guard header.starts(with: SealedArchive.magic) else {
        throw damaged("is not a sealed archive that this version can read")
      }
      let rest = header[SealedArchive.magic.count...]
      let derived = key.derived(salt: Array(rest.prefix(SealedArchive.saltBytes)))
      guard Digest.areEqual(derived.check, Array(rest.dropFirst(SealedArchive.saltBytes))) else {
        throw BundleError.locked(path: path, isKeyGiven: true)
      }
      cipher = try ChunkCipher(key: derived.chunks)
    }

    private func open(isLast: Bool) throws {
      let sealed = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(chunk)[..<filled])
      let target = UnsafeMutableRawBufferPointer(
        rebasing: plain[..<(filled - ChunkCipher.tagBytes)])
      let nonce = SealedArchive.nonce(number, isLast: isLast)
      guard try cipher?.open(sealed, nonce: nonce, into: target) == true else {
        throw damaged("is truncated, or has been modified in chunk \(number + 1)")
      }
      try body(UnsafeRawBufferPointer(target))
      filled = 0
      number += 1
    }

    private func damaged(_ reason: String) -> BundleError {
      .damaged(path: path, file: SealedArchive.entryName, reason: reason)
    }
  }
}
