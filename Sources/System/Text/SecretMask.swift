import CSystem

/// Removes secrets from text of other systems.
///
/// An org, a proxy or a gateway may repeat in an error what it was sent: a token, an assertion. Its
/// message is then written to a terminal, a log, the ledger and reports.
package struct SecretMask: Sendable {
  private let secrets: [[UInt8]]

  /// Shorter texts are not secrets, and masking them would remove ordinary words.
  private static let shortest = 6

  /// Creates a mask for secrets.
  ///
  /// A longer secret is replaced before one that is part of it.
  package init(_ secrets: [String]) {
    self.secrets = secrets.map { Array($0.utf8) }.filter { $0.count >= Self.shortest }
      .sorted { $0.count > $1.count }
  }

  /// The bytes with dots in place of every secret.
  package func applied(to bytes: [UInt8]) -> [UInt8] {
    secrets.reduce(bytes) { Self.replace($1, in: $0) }
  }

  private static func replace(_ secret: [UInt8], in bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var copied = 0
    // A page of records is searched too, at the speed of memory.
    while let found = place(of: secret, in: bytes, from: copied) {
      result += bytes[copied..<found]
      result += Array("•••".utf8)
      copied = found + secret.count
    }
    return copied == 0 ? bytes : result + bytes[copied...]
  }

  private static func place(of secret: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
    bytes.withUnsafeBytes { raw in
      guard let base = raw.baseAddress else { return nil }
      let found = attache_find(
        base + start, UInt(raw.count - start), secret, UInt(secret.count))
      return found < 0 ? nil : start + found
    }
  }
}
