import JSON
import System

/// When two values of a field are the same to an org.
package enum FieldValue {
  /// Says whether an org would see no difference: nothing, null and empty text are one; text loses
  /// its trailing blanks, and what Unicode calls equivalent is not the same; dates are moments; ids
  /// are the same with and without their suffix; a text is the truth value or the number that it spells.
  ///
  /// `other` is the org's, where one of them is: a field that keeps a day alone holds the day of the moment
  /// that was sent. Objects and arrays are compared member by member.
  package static func isSame(_ one: JSONValue?, _ other: JSONValue?) -> Bool {
    let one = normal(one)
    let other = normal(other)
    switch (one, other) {
    case (.number, .number): return one == other || isSameNumber(one, other)
    case (.string(let left), .string(let right)):
      return isSameText(left, right) || isSameDate(left, right) || isDay(right, of: left)
        || isSameID(left, right)
    case (.string(let text), .bool), (.string(let text), .number):
      return spelled(text).map { isSame($0, other) } ?? false
    case (.bool, .string(let text)), (.number, .string(let text)):
      return spelled(text).map { isSame(one, $0) } ?? false
    default: return haveSameMembers(one, other, isSame) ?? (one == other)
    }
  }

  /// Says whether a device that holds the one has not edited the other: text is compared by its
  /// bytes, and nothing, null and empty text are one.
  package static func isEqual(_ one: JSONValue?, _ other: JSONValue?) -> Bool {
    switch (one, other) {
    case (.string(let left)?, .string(let right)?): return isSameText(left, right)
    // Text in place of a number or a truth value is an edit, whatever it spells.
    case (.string?, .number?), (.string?, .bool?), (.number?, .string?), (.bool?, .string?):
      return false
    default: return haveSameMembers(one, other, isEqual) ?? isSame(one, other)
    }
  }

  /// Whether two objects or two arrays agree in every member; nil for other values.
  ///
  /// `attributes` says of a related record what and where it is: that is no value.
  private static func haveSameMembers(
    _ one: JSONValue?, _ other: JSONValue?, _ areSame: (JSONValue?, JSONValue?) -> Bool
  ) -> Bool? {
    switch (one, other) {
    case (.object(let left)?, .object(let right)?):
      Set(left.names + right.names).allSatisfy {
        $0 == attributes || areSame(left[$0], right[$0])
      }
    case (.array(let left)?, .array(let right)?):
      left.count == right.count && zip(left, right).allSatisfy { areSame($0, $1) }
    default: nil
    }
  }

  private static let attributes = "attributes"

  /// Says whether a cell holds the text of a value, whatever a spreadsheet has made of it.
  ///
  /// A number may have other digits, a truth value be in capitals, and of line ends nothing may be left. The digits
  /// of a text, as in a postcode, count.
  package static func isSameCell(_ cell: String, _ text: String, of value: JSONValue?) -> Bool {
    func line(_ text: String) -> String { text.filter { !isLineEnd($0) } }
    if line(cell) == line(text) { return true }
    if case .number? = value, let one = Double(cell), let other = Double(text) {
      return one == other
    }
    return Bool(cell.lowercased()) != nil && cell.lowercased() == text.lowercased()
  }

  private static func isLineEnd(_ character: Character) -> Bool {
    character == "\r" || character == "\r\n" || character == "\n"
  }

  /// Swift takes canonically equivalent texts for equal; an org keeps them apart.
  private static func isSameText(_ one: String, _ other: String) -> Bool {
    one.utf8.elementsEqual(other.utf8)
  }

  /// A text without the blanks and line ends behind it: to an org they are nothing.
  package static func withoutTrailingBlanks(_ text: String) -> Substring {
    var rest = Substring(text)
    while let last = rest.unicodeScalars.last, last == " " || last == "\n" || last == "\r" {
      rest.unicodeScalars.removeLast()
    }
    return rest
  }

  private static func normal(_ value: JSONValue?) -> JSONValue {
    switch value {
    case .object(let members)?
    where members.allSatisfy({ $0.name == attributes || normal($0.value) == .null }):
      return .null
    case .array(let items)? where items.isEmpty: return .null
    default: break
    }
    guard case .string(let text)? = value else { return value ?? .null }
    let units = withoutTrailingBlanks(text)
    if units.isEmpty { return .null }
    // Multi-line text comes back from an org with CR LF as it was sent, or with LF.
    guard units.utf8.contains(13) else { return .string(String(units)) }
    let lines = units.unicodeScalars.filter { $0 != "\r" }
    return .string(String(String.UnicodeScalarView(lines)))
  }

  /// Compares digit by digit: an org keeps 18 of them, a floating-point number not even 17.
  private static func isSameNumber(_ one: JSONValue, _ other: JSONValue) -> Bool {
    guard case .number(let left) = one, case .number(let right) = other else { return false }
    return Decimal(left) == Decimal(right)
  }

  /// A JSON number's value, whatever form it was written in.
  private struct Decimal: Equatable {
    private var isNegative = false
    /// The digits without zeros at either end; none for zero.
    private var digits: [UInt8] = []
    /// Where the point stands, counted from the first digit.
    private var point = 0

    init(_ literal: String) {
      var written: [UInt8] = []
      var whole: Int?
      var exponent = 0
      var bytes = Array(literal.utf8)[...]
      while let byte = bytes.popFirst() {
        switch byte {
        case UInt8(ascii: "-"): isNegative = true
        case UInt8(ascii: "."): whole = written.count
        case UInt8(ascii: "e"), UInt8(ascii: "E"):
          let text = String(decoding: bytes, as: UTF8.self)
          // Beyond that nothing but the sign of the exponent tells numbers apart.
          exponent = Int(text) ?? (text.hasPrefix("-") ? -(1 << 40) : 1 << 40)
          bytes = []
        default: written.append(byte)
        }
      }
      let zeros = written.prefix { $0 == UInt8(ascii: "0") }.count
      point = (whole ?? written.count) - zeros + min(max(exponent, -(1 << 40)), 1 << 40)
      digits = Array(written.dropFirst(zeros))
      while digits.last == UInt8(ascii: "0") { digits.removeLast() }
      if digits.isEmpty { (isNegative, point) = (false, 0) }
    }
  }

  private static func isSameDate(_ one: String, _ other: String) -> Bool {
    guard one.utf8.count >= 20, other.utf8.count >= 20,
      let left = Dates.milliseconds(iso8601: one), let right = Dates.milliseconds(iso8601: other)
    else { return false }
    return left == right
  }

  /// Says whether a text is the day that a moment is written with.
  private static func isDay(_ day: String, of moment: String) -> Bool {
    day.utf8.count == 10 && moment.utf8.starts(with: day.utf8)
      && Dates.milliseconds(iso8601: moment) != nil
  }

  /// The truth value or the number that a text spells: an org takes it for that in a field of such values.
  private static func spelled(_ text: String) -> JSONValue? {
    if let flag = Bool(text.lowercased()) { return .bool(flag) }
    guard case .number(let literal)? = try? JSONValue(parsing: text) else { return nil }
    return .number(literal)
  }

  private static func isSameID(_ one: String, _ other: String) -> Bool {
    guard one.utf8.count != other.utf8.count, let left = RecordID(one), let right = RecordID(other)
    else { return false }
    return left == right
  }
}
