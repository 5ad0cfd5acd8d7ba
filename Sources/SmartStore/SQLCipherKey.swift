import Crypto
import System

/// What opens a sealed file: a passphrase, and how a key is made of it.
package struct SQLCipherKey: Sendable {
  /// What the Mobile SDK sets; SQLCipher's own default is 256,000.
  package static let sdkIterations = 4000
  /// Rounds that a key may have: more would take minutes for each file.
  package static let iterationRange = 1...10_000_000
  /// What SQLCipher does when nobody sets it.
  package static let defaultIterations = 256_000
  /// Bytes of a salt.
  package static let saltBytes = 16

  /// Where a file keeps its salt.
  package enum Header: Sendable, Hashable {
    /// In its first 16 bytes: nothing of the file can be read without the key.
    case sealed
    /// Outside of it: the first 32 bytes are a plain SQLite header, as iOS wants it of a file that an
    /// app group shares.
    case plain(salt: [UInt8])

    /// The bytes of page 1 that are not encrypted.
    package var clearBytes: Int { self == .sealed ? 16 : 32 }
  }

  private let passphrase: Secret
  /// Rounds of PBKDF2.
  package let iterations: Int
  /// Where the salt is.
  package let header: Header

  /// A key of a passphrase; `x'…'` with 64 hexadecimal digits is the key itself, as SQLCipher has
  /// it.
  package init(
    passphrase: Secret, iterations: Int = SQLCipherKey.sdkIterations, header: Header = .sealed
  ) throws(SQLCipherError) {
    guard !passphrase.isEmpty else { throw .invalidKey("the passphrase is empty") }
    guard Self.iterationRange.contains(iterations) else {
      throw .invalidKey("the number of KDF iterations is out of range")
    }
    if case .plain(let salt) = header, salt.count != Self.saltBytes {
      throw .invalidKey("a salt has \(Self.saltBytes) bytes, not \(salt.count)")
    }
    let digits = Self.rawDigits(passphrase.reveal())
    if let digits, digits.count == 96 || digits.count == 160 {
      throw .invalidKey(
        "a passphrase of the form x'…' with \(digits.count) digits brings a salt along, "
          + "which is not supported; use 64 digits, or a passphrase")
    }
    self.passphrase = passphrase
    self.iterations = iterations
    self.header = header
  }

  /// The same passphrase with another number of rounds.
  package func with(iterations: Int) throws(SQLCipherError) -> SQLCipherKey {
    try SQLCipherKey(passphrase: passphrase, iterations: iterations, header: header)
  }

  /// What one content's salt and IVs are made of, under a secret that stays with its maker; see
  /// `SQLCipherFile.Randomness`.
  ///
  /// The passphrase is in it, so that another one gives another salt; without the secret nobody can
  /// try passphrases on a salt.
  package func seed(_ secret: [UInt8], context: [String]) -> [UInt8] {
    var message: [UInt8] = []
    let parts = context.map { Array($0.utf8) } + [Array("\(iterations)".utf8), passphrase.reveal()]
    for part in parts {
      // Lengths first: two lists of parts never make the same message.
      withUnsafeBytes(of: UInt64(part.count).littleEndian) { message += $0 }
      message += part
    }
    return HMAC.sha256(key: secret, Array("attache-seal-1".utf8) + message)
  }

  /// The keys for a file's salt: PBKDF2 for the cipher, two rounds more for the codes.
  func keys(salt: [UInt8]) throws(CryptoError) -> (cipher: [UInt8], code: [UInt8]) {
    let cipher: [UInt8]
    if let digits = Self.rawDigits(passphrase.reveal()), digits.count == 64,
      let key = Hex.decode(digits)
    {
      cipher = key
    } else {
      cipher = try KeyDerivation.pbkdf2SHA512(
        passphrase: passphrase.reveal(), salt: salt, iterations: iterations, bytes: 32)
    }
    let code = try KeyDerivation.pbkdf2SHA512(
      passphrase: cipher, salt: salt.map { $0 ^ 0x3A }, iterations: 2, bytes: 32)
    return (cipher, code)
  }

  /// The digits of `x'…'`; nil for any other passphrase.
  private static func rawDigits(_ bytes: [UInt8]) -> String? {
    guard bytes.count > 3, bytes[0] | 0x20 == UInt8(ascii: "x"), bytes[1] == UInt8(ascii: "'"),
      bytes.last == UInt8(ascii: "'")
    else { return nil }
    let digits = String(decoding: bytes[2..<(bytes.count - 1)], as: UTF8.self)
    return Hex.decode(digits) == nil ? nil : digits
  }
}
