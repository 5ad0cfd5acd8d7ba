/// A record ID: 15 case-sensitive characters, or 18 with a suffix that encodes the case.
public struct RecordID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The ID with 18 characters.
  public let text18: String

  /// Parses 15 or 18 characters; nil if others occur or the suffix does not match.
  public init?(_ text: String) {
    var bytes = Array(text.utf8)
    guard bytes.count == 15 || bytes.count == 18 else { return nil }
    guard bytes.allSatisfy({ Self.isLetter($0) || Self.isDigit($0) }) else { return nil }
    let suffix = Self.suffix(of: bytes[..<15])
    if bytes.count == 18 {
      // The suffix is case-insensitive.
      guard zip(bytes[15...], suffix).allSatisfy({ Self.uppercase($0) == $1 }) else { return nil }
    }
    bytes[15...] = suffix[...]
    text18 = String(decoding: bytes, as: UTF8.self)
  }

  /// The first three characters, which identify the sObject.
  public var keyPrefix: String { String(text18.prefix(3)) }

  /// The 18 characters.
  public var description: String { text18 }

  /// Orders by bytes, like the index of a store.
  public static func < (left: RecordID, right: RecordID) -> Bool {
    left.text18.utf8.lexicographicallyPrecedes(right.text18.utf8)
  }

  /// The suffix: one character for every five, which encodes the upper-case letters among them.
  private static func suffix(of bytes: ArraySlice<UInt8>) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345".utf8)
    return stride(from: 0, to: 15, by: 5).map { start in
      var index = 0
      for bit in 0..<5 where isUppercase(bytes[start + bit]) { index |= 1 << bit }
      return alphabet[index]
    }
  }

  private static func isUppercase(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  private static func isLetter(_ byte: UInt8) -> Bool { isUppercase(uppercase(byte)) }

  private static func uppercase(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? byte - 32 : byte
  }
}

extension String {
  /// The 18-character form of the record ID in the text; nil if it is not one.
  package var recordID18: String? { RecordID(self)?.text18 }
}
