import JSON
import Salesforce
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
    guard one.utf8.count != other.utf8.count, let left = RecordID(one), let right = RecordID(other)
    else { return false }
    return left == right
  }
}
