import JSON
import System

/// When two values of a field are the same to an org.
package enum FieldValue {
  /// Says whether an org would see no difference: nothing, null and empty text are one; text loses
  /// its trailing blanks; dates are moments; ids are the same with and without their suffix.
  package static func isSame(_ one: JSONValue?, _ other: JSONValue?) -> Bool {
    let one = normal(one)
    let other = normal(other)
    if one == other { return true }
    switch (one, other) {
    case (.number, .number): return isSameNumber(one, other)
    case (.string(let left), .string(let right)):
      return isSameDate(left, right) || isSameID(left, right)
    default: return false
    }
  }

  private static func normal(_ value: JSONValue?) -> JSONValue {
    guard case .string(let text)? = value else { return value ?? .null }
    var units = Substring(text)
    while let last = units.unicodeScalars.last, last == " " || last == "\n" || last == "\r" {
      units.unicodeScalars.removeLast()
    }
    if units.isEmpty { return .null }
    // Multi-line text comes back from an org with CR LF as it was sent, or with LF.
    guard units.utf8.contains(13) else { return .string(String(units)) }
    let lines = units.unicodeScalars.filter { $0 != "\r" }
    return .string(String(String.UnicodeScalarView(lines)))
  }

  private static func isSameNumber(_ one: JSONValue, _ other: JSONValue) -> Bool {
    if let left = one.int, let right = other.int { return left == right }
    guard let left = one.double, let right = other.double else { return false }
    return left == right
  }

  private static func isSameDate(_ one: String, _ other: String) -> Bool {
    guard one.utf8.count >= 20, other.utf8.count >= 20,
      let left = Dates.milliseconds(iso8601: one), let right = Dates.milliseconds(iso8601: other)
    else { return false }
    return left == right
  }

  private static func isSameID(_ one: String, _ other: String) -> Bool {
    guard one.utf8.count != other.utf8.count, let left = RecordIdentity.long(one),
      let right = RecordIdentity.long(other)
    else { return false }
    return left == right
  }
}

/// Record ids in their 15- and 18-character forms.
enum RecordIdentity {
  /// The 18-character form of an id; nil for what is none, or has a wrong suffix.
  static func long(_ text: String) -> String? {
    let bytes = Array(text.utf8)
    guard bytes.count == 15 || bytes.count == 18, bytes.allSatisfy(isAlphanumeric) else {
      return nil
    }
    let head = bytes[..<15]
    let suffix = suffix(of: head)
    if bytes.count == 18, !zip(bytes[15...], suffix).allSatisfy({ upper($0) == $1 }) { return nil }
    return String(decoding: head + suffix, as: UTF8.self)
  }

  /// Says whether an id is one that a device gave.
  static func isLocal(_ text: String) -> Bool { text.hasPrefix("local_") }

  /// One character for each five of the id: which of them are capital letters.
  private static func suffix(of head: ArraySlice<UInt8>) -> [UInt8] {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345".utf8)
    return stride(from: 0, to: 15, by: 5).map { start in
      var index = 0
      for offset in 0..<5 where (65...90).contains(head[head.startIndex + start + offset]) {
        index |= 1 << offset
      }
      return digits[index]
    }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
  }

  private static func upper(_ byte: UInt8) -> UInt8 {
    (97...122).contains(byte) ? byte - 32 : byte
  }
}
