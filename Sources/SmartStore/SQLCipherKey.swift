import Crypto
import System

/// The key of a sealed file: a passphrase, and the derivation of a key from it.
package struct SQLCipherKey: Sendable {
  /// The number that the Mobile SDK sets; SQLCipher's default is 256,000.
  package static let sdkIterations = 4000
  /// The accepted numbers of rounds; more would take minutes per file.
  package static let iterationRange = 1...10_000_000
  /// SQLCipher's default.
  package static let defaultIterations = 256_000
  /// The size of a salt in bytes.
  package static let saltBytes = 16

  /// The location of a file's salt.
  package enum Header: Sendable, Hashable {
    /// The first 16 bytes of the file: nothing of it can be read without the key.
    case sealed
    /// Outside the file: its first 32 bytes are a plain SQLite header, which iOS requires for a
    /// file in an app group.
    case plain(salt: [UInt8])

    /// The number of unencrypted bytes in page 1.
    package var clearBytes: Int { self == .sealed ? 16 : 32 }
  }

  private let passphrase: Secret
  /// The number of PBKDF2 rounds.
  package let iterations: Int
  /// The location of the salt.
  package let header: Header

  /// Creates a key from a passphrase; `x'…'` with 64 hexadecimal digits is the key itself, as in
  /// SQLCipher.
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
        "a passphrase of the form x'…' with \(digits.count) digits contains a salt, "
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

  /// The seed for the salt and IVs of one content, derived with a secret of its creator; see
  /// `SQLCipherFile.Randomness`.
  ///
  /// It depends on the passphrase, so that a different one gives a different salt. Without the
  /// secret, no one can test passphrases against a salt.
  package func seed(_ secret: [UInt8], context: [String]) -> [UInt8] {
    var message: [UInt8] = []
    let parts = context.map { Array($0.utf8) } + [Array("\(iterations)".utf8), passphrase.reveal()]
    for part in parts {
      // Length prefixes: two different lists of parts never give the same message.
      withUnsafeBytes(of: UInt64(part.count).littleEndian) { message += $0 }
      message += part
    }
    return HMAC.sha256(key: secret, Array("attache-seal-1".utf8) + message)
  }

  /// The keys for a file's salt: PBKDF2 for the cipher, two further rounds for the page MACs.
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
