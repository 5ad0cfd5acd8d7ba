import Crypto
import SQLite

/// Converts SQLite pages to SQLCipher 4 pages and back: `head ‖ AES-256-CBC ‖ IV ‖ HMAC`.
///
/// The head is empty except on page 1. The HMAC covers everything after the head, and the page
/// number.
package struct SQLCipherPages: ~Copyable {
  static let size = Int(StorePages.size)
  /// The bytes of a page that SQLite uses; the IV and the MAC follow.
  static let usable = size - Int(StorePages.reservedBytes)
  static let codeAt = usable + 16
  /// The page of SQLite's lock byte, 2^30.
  ///
  /// It has no content in either form.
  package static let lockPage = 1 << 30 / size + 1

  /// The source of the IVs of sealed pages.
  package enum Vectors {
    /// The system's random generator.
    case random
    /// A key of 32 bytes that seals no other content.
    case derived([UInt8])
  }

  private var cipher: PageCipher
  private var code: PageCode
  private var vectors: PageCode?
  private let salt: [UInt8]
  private let clear: Int
  private let lockPage: Int
  private let scratch = UnsafeMutableRawBufferPointer.allocate(
    byteCount: PageCode.length, alignment: 16)

  package init(
    _ key: SQLCipherKey, salt: [UInt8], vectors: Vectors = .random, lockPage: Int = Self.lockPage
  ) throws(CryptoError) {
    let keys = try key.keys(salt: salt)
    let cipher = try PageCipher(key: keys.cipher)
    let code = try PageCode(key: keys.code)
    let own = try Self.vectors(vectors, keys.cipher)
    self.cipher = cipher
    self.code = code
    self.vectors = own
    self.salt = salt
    clear = key.header.clearBytes
    self.lockPage = lockPage
  }

  deinit { scratch.deallocate() }

  private static func vectors(
    _ vectors: Vectors, _ key: [UInt8]
  ) throws(CryptoError) -> PageCode? {
    switch vectors {
    case .random: nil
    case .derived(let seed):
      try PageCode(key: HMAC.sha512(key: seed, key + Array("iv".utf8)))
    }
  }

  /// Seals page `number`, counted from 1.
  package mutating func seal(
    _ number: Int, _ plain: UnsafeRawBufferPointer, into page: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    if number == lockPage { return Self.zero(page) }
    let start = number == 1 ? clear : 0
    let iv = UnsafeMutableRawBufferPointer(rebasing: page[Self.usable..<Self.codeAt])
    if vectors != nil {
      try vectors?.compute(
        UnsafeRawBufferPointer(start: nil, count: 0), number: UInt32(truncatingIfNeeded: number),
        into: scratch)
      iv.copyMemory(from: UnsafeRawBufferPointer(rebasing: scratch[..<16]))
    } else {
      RandomBytes.fill(iv)
    }
    try cipher.encrypt(
      UnsafeRawBufferPointer(rebasing: plain[start..<Self.usable]),
      iv: UnsafeRawBufferPointer(iv),
      into: UnsafeMutableRawBufferPointer(rebasing: page[start..<Self.usable]))
    if number == 1 {
      page.copyMemory(from: UnsafeRawBufferPointer(rebasing: plain[..<start]))
      if clear == SQLCipherKey.saltBytes { page.copyBytes(from: salt) }
    }
    try code.compute(
      UnsafeRawBufferPointer(rebasing: page[start..<Self.codeAt]),
      number: UInt32(truncatingIfNeeded: number),
      into: UnsafeMutableRawBufferPointer(rebasing: page[Self.codeAt..<Self.size]))
  }

  /// Whether page `number` is unchanged since sealing with this key.
  mutating func verifies(
    _ number: Int, _ page: UnsafeRawBufferPointer
  ) throws(CryptoError) -> Bool {
    if number == lockPage { return true }
    let start = number == 1 ? clear : 0
    try code.compute(
      UnsafeRawBufferPointer(rebasing: page[start..<Self.codeAt]),
      number: UInt32(truncatingIfNeeded: number), into: scratch)
    return Digest.areEqual(
      UnsafeRawBufferPointer(scratch),
      UnsafeRawBufferPointer(rebasing: page[Self.codeAt..<Self.size]))
  }

  /// Unseals page `number`; returns false, without decrypting anything, if it does not verify.
  package mutating func unseal(
    _ number: Int, _ page: UnsafeRawBufferPointer, into plain: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) -> Bool {
    if number == lockPage {
      Self.zero(plain)
      return true
    }
    guard try verifies(number, page) else { return false }
    let start = number == 1 ? clear : 0
    try cipher.decrypt(
      UnsafeRawBufferPointer(rebasing: page[start..<Self.usable]),
      iv: UnsafeRawBufferPointer(rebasing: page[Self.usable..<Self.codeAt]),
      into: UnsafeMutableRawBufferPointer(rebasing: plain[start..<Self.usable]))
    if number == 1 {
      plain.copyMemory(from: UnsafeRawBufferPointer(rebasing: page[..<start]))
      plain.copyBytes(from: Connection.fileMagic)
    }
    Self.zero(UnsafeMutableRawBufferPointer(rebasing: plain[Self.usable..<Self.size]))
    return true
  }

  private static func zero(_ place: UnsafeMutableRawBufferPointer) {
    place.initializeMemory(as: UInt8.self, repeating: 0)
  }
}
