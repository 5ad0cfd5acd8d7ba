import JSON

/// The text of values in Android's `org.json` and `java.lang`.
enum JavaText {
  /// A number as `JSONTokener` parses it and `Object.toString` prints it.
  static func number(_ literal: String) -> String {
    if !literal.utf8.contains(UInt8(ascii: ".")), let integer = Int64(literal) {
      return String(integer)
    }
    return Double(literal).map(double) ?? literal
  }

  /// `Double.toString`: plain between 10⁻³ and 10⁷, scientific otherwise, always with a fraction.
  static func double(_ value: Double) -> String {
    if value == 0 { return value.sign == .minus ? "-0.0" : "0.0" }
    guard value.isFinite else { return value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity" }
    let (digits, exponent) = decimal(value.magnitude)
    let sign = value < 0 ? "-" : ""
    let magnitude = value.magnitude
    if magnitude >= 1e-3 && magnitude < 1e7 { return sign + plain(digits, exponent) }
    let fraction = digits.count > 1 ? String(digits.dropFirst()) : "0"
    return "\(sign)\(digits.prefix(1)).\(fraction)E\(exponent)"
  }

  /// A number inside JSON text, as `JSONObject.numberToString` writes it: 2.0 becomes `2`.
  static func nestedNumber(_ literal: String) -> String {
    if !literal.utf8.contains(UInt8(ascii: ".")), let integer = Int64(literal) {
      return String(integer)
    }
    // JSON text cannot contain an infinity.
    guard let value = Double(literal), value.isFinite else { return literal }
    if value == 0 && value.sign == .minus { return "-0" }
    if let integer = Int64(exactly: value) { return String(integer) }
    return double(value)
  }

  /// The significant digits of a positive number and the decimal exponent of the first.
  private static func decimal(_ value: Double) -> (digits: String, exponent: Int) {
    let parts = value.description.split(separator: "e")
    var exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    let halves = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    let whole = String(halves[0])
    let fraction = halves.count > 1 ? String(halves[1]) : ""
    exponent += whole.utf8.count - 1
    var digits = whole + fraction
    while digits.hasPrefix("0"), digits.utf8.count > 1 {
      digits.removeFirst()
      exponent -= 1
    }
    while digits.hasSuffix("0"), digits.utf8.count > 1 { digits.removeLast() }
    return (digits, exponent)
  }

  private static func plain(_ digits: String, _ exponent: Int) -> String {
    if exponent < 0 {
      return "0." + String(repeating: "0", count: -exponent - 1) + digits
    }
    let padded = digits + String(repeating: "0", count: max(0, exponent + 1 - digits.utf8.count))
    let whole = padded.prefix(exponent + 1)
    let fraction = padded.dropFirst(exponent + 1)
    return "\(whole).\(fraction.isEmpty ? "0" : fraction)"
  }
}
