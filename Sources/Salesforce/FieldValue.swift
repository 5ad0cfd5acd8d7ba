import JSON
import System

/// Comparison of field values, as an org sees them.
package enum FieldValue {
  /// Whether an org would see no difference between two values.
  ///
  /// Absent, null and empty text are the same. Trailing white space of text does not count, but
  /// texts that are canonically equivalent in Unicode differ. Dates are compared as moments, and
  /// IDs with or without their suffix. A text is the same as the Boolean or number that it spells.
  ///
  /// If one of the values is from the org, it is `other`: a field that stores only a date holds the
  /// date of the moment that was sent, and one that stores moments holds its whole second. Objects and arrays are compared member by member.
  package static func isSame(_ one: JSONValue?, _ other: JSONValue?) -> Bool {
    let one = normal(one)
    let other = normal(other)
    switch (one, other) {
    case (.number, .number): return one == other || isSameNumber(one, other)
    case (.string(let left), .string(let right)):
      return isSameText(left, right) || isMoment(right, of: left) || isDay(right, of: left)
        || isSameTime(left, right) || isSameID(left, right)
    case (.string(let text), .bool), (.string(let text), .number):
      return spelled(text).map { isSame($0, other) } ?? false
    case (.bool, .string(let text)), (.number, .string(let text)):
      return spelled(text).map { isSame(one, $0) } ?? false
    default: return haveSameMembers(one, other, isSame) ?? (one == other)
    }
  }

  /// Whether an org holds a value as it was sent.
  ///
  /// This is as `isSame`, but a number may have been sent as text with leading zeros. Only a numeric
  /// field holds a number: in a text field, `05` is another value than `5`.
  package static func isKept(_ sent: JSONValue?, as held: JSONValue?) -> Bool {
    if isSame(sent, held) { return true }
    guard case .string(let text)? = sent, case .number? = held else { return false }
    return isSame(.string(withoutLeadingZeros(text)), held)
  }

  private static func withoutLeadingZeros(_ text: String) -> String {
    let sign = text.hasPrefix("-") ? "-" : ""
    let digits = text.dropFirst(sign.count)
    let rest = digits.drop { $0 == "0" }
    let needsZero = rest.count < digits.count && rest.first?.isNumber != true
    return sign + (needsZero ? "0" : "") + rest
  }

  /// Whether a device with one value has not edited the other.
  ///
  /// Text is compared by its bytes; absent, null and empty text are the same.
  package static func isEqual(_ one: JSONValue?, _ other: JSONValue?) -> Bool {
    switch (one, other) {
    case (.string(let left)?, .string(let right)?): return isSameText(left, right)
    // Text instead of a number or a Boolean is an edit, regardless of what it spells.
    case (.string?, .number?), (.string?, .bool?), (.number?, .string?), (.bool?, .string?):
      return false
    default: return haveSameMembers(one, other, isEqual) ?? isSame(one, other)
    }
  }

  /// Whether two objects or two arrays agree in every member; nil for other values.
  ///
  /// `attributes` describes a related record and is not a value.
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

  /// Whether a cell holds the text of a value, after possible changes by a spreadsheet.
  ///
  /// A spreadsheet may change the digits of a number, write a Boolean in capitals, and drop line
  /// ends. The digits of a text, as in a postcode, are compared exactly.
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

  /// Swift considers canonically equivalent texts equal; an org does not.
  private static func isSameText(_ one: String, _ other: String) -> Bool {
    one.utf8.elementsEqual(other.utf8)
  }

  /// A text without trailing white space and line ends, which an org ignores.
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
    // An org returns multi-line text with CR LF, as it was sent, or with LF.
    guard units.utf8.contains(13) else { return .string(String(units)) }
    let lines = units.unicodeScalars.filter { $0 != "\r" }
    return .string(String(String.UnicodeScalarView(lines)))
  }

  /// Compares digit by digit: an org stores 18 digits, more than a floating-point number can hold.
  private static func isSameNumber(_ one: JSONValue, _ other: JSONValue) -> Bool {
    guard case .number(let left) = one, case .number(let right) = other else { return false }
    return Decimal(left) == Decimal(right)
  }

  /// The value of a JSON number, regardless of its notation.
  private struct Decimal: Equatable {
    private var isNegative = false
    /// The digits without zeros at either end; empty for zero.
    private var digits: [UInt8] = []
    /// The position of the decimal point, counted from the first digit.
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
          // Beyond that, only the sign of the exponent distinguishes numbers.
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

  /// Whether a text is the moment that another text names, or its whole second.
  private static func isMoment(_ held: String, of sent: String) -> Bool {
    guard held.utf8.count >= 20, sent.utf8.count >= 20,
      let right = Dates.milliseconds(iso8601: held), let left = Dates.milliseconds(iso8601: sent)
    else { return false }
    let fraction = left % 1000
    return left == right || left - (fraction < 0 ? fraction + 1000 : fraction) == right
  }

  /// Whether two texts name the same time of day, such as `13:30:00Z` and `13:30:00.000Z`.
  private static func isSameTime(_ one: String, _ other: String) -> Bool {
    guard let left = time(one), let right = time(other) else { return false }
    return left.elementsEqual(right)
  }

  /// A time of day without its zone, which is always UTC, and without zeros at its end.
  private static func time(_ text: String) -> Substring.UTF8View? {
    guard (8...13).contains(text.utf8.count) else { return nil }
    var rest = Substring(text).utf8
    if rest.last == UInt8(ascii: "Z") { rest.removeLast() }
    let places = Array(rest)
    let isTime = places.enumerated().allSatisfy { place, byte in
      switch place {
      case 2, 5: byte == UInt8(ascii: ":")
      case 8: byte == UInt8(ascii: ".")
      default: isDigit(byte)
      }
    }
    guard isTime, places.count == 8 || places.count > 9 else { return nil }
    if places.count > 9 {
      while rest.last == UInt8(ascii: "0") { rest.removeLast() }
      if rest.last == UInt8(ascii: ".") { rest.removeLast() }
    }
    return rest
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

  /// Whether a text is the date of a moment.
  private static func isDay(_ day: String, of moment: String) -> Bool {
    day.utf8.count == 10 && moment.utf8.starts(with: day.utf8)
      && Dates.milliseconds(iso8601: moment) != nil
  }

  /// The Boolean or number that a text spells, which an org accepts in a field of that type.
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
