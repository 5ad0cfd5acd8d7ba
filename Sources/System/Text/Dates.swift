/// The date formats of Salesforce, SmartStore and HTTP, converted exactly and without a calendar
/// library.
///
/// All times are milliseconds since 1970 in the proleptic Gregorian calendar, in UTC.
package enum Dates {
  // MARK: Reading

  /// The milliseconds of an ISO 8601 date and time with a zone, such as
  /// `2024-01-31T12:34:56.000+0000`, `…Z` or `…+00:00`, with or without a fraction of a second.
  ///
  /// Nil for anything else.
  package static func milliseconds(iso8601 text: some StringProtocol) -> Int64? {
    var text = String(text)
    return text.withUTF8 { milliseconds(iso8601: UnsafeRawBufferPointer($0)) }
  }

  /// The milliseconds of an ISO 8601 date and time in an array of bytes.
  package static func milliseconds(iso8601 bytes: [UInt8]) -> Int64? {
    bytes.withUnsafeBytes { milliseconds(iso8601: $0) }
  }

  /// The milliseconds of an ISO 8601 date and time in a buffer.
  package static func milliseconds(iso8601 bytes: UnsafeRawBufferPointer) -> Int64? {
    guard bytes.count >= 20, bytes[4] == dash, bytes[7] == dash,
      bytes[10] == 0x54 || bytes[10] == 0x20 || bytes[10] == 0x74,
      bytes[13] == colon, bytes[16] == colon,
      let year = number(bytes, 0, 4), let month = number(bytes, 5, 2),
      let day = number(bytes, 8, 2), let hour = number(bytes, 11, 2),
      let minute = number(bytes, 14, 2), let second = number(bytes, 17, 2),
      isDate(year, month, day), hour <= 23, minute <= 59, second <= 59
    else { return nil }
    var at = 19
    var fraction = 0
    if bytes[at] == 0x2E {
      guard let found = milliseconds(fractionIn: bytes, from: &at) else { return nil }
      fraction = found
    }
    guard let offset = offsetSeconds(bytes, from: at) else { return nil }
    let days = daysSince1970(year, month, day)
    let seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset
    return Int64(seconds) * 1000 + Int64(fraction)
  }

  /// The milliseconds of an HTTP date such as `Wed, 31 Jan 2024 12:34:56 GMT`; the day may have one
  /// digit.
  package static func milliseconds(http text: String) -> Int64? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: true)
    guard parts.count == 6, parts[0].last == ",", parts[5] == "GMT" || parts[5] == "UTC",
      let day = Int(parts[1]), let year = Int(parts[3]), parts[3].utf8.count == 4,
      let month = months.firstIndex(where: { $0 == parts[2] }).map({ $0 + 1 }),
      isDate(year, month, day)
    else { return nil }
    let time = parts[4].split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
    guard time.count == 3, let hour = time[0], let minute = time[1], let second = time[2],
      (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    let seconds = daysSince1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second
    return Int64(seconds) * 1000
  }

  // MARK: Writing

  /// The format of the REST API: `2024-01-31T12:34:56.000+0000`.
  package static func salesforce(_ milliseconds: Int64) -> String {
    text(milliseconds, fraction: true, zone: "+0000")
  }

  /// The format of SOQL literals and JSON reports: `2024-01-31T12:34:56.000Z`.
  package static func utc(_ milliseconds: Int64) -> String {
    text(milliseconds, fraction: true, zone: "Z")
  }

  /// The UTC format without a fraction: `2024-01-31T12:34:56Z`.
  package static func utcSeconds(_ milliseconds: Int64) -> String {
    text(milliseconds, fraction: false, zone: "Z")
  }

  /// The format for file names: `20240131T123456Z`.
  package static func utcDigits(_ milliseconds: Int64) -> String {
    utcSeconds(milliseconds).filter { $0 != "-" && $0 != ":" }
  }

  /// The format of HTTP headers: `Wed, 31 Jan 2024 12:34:56 GMT`.
  package static func http(_ milliseconds: Int64) -> String {
    let (days, second) = floorDivide(floorDivide(milliseconds, 1000).quotient, 86400)
    let (year, month, day) = civil(Int(days))
    // 1970-01-01 was a Thursday.
    let weekday = weekdays[Int(floorDivide(days + 4, 7).remainder)]
    let time = clock(Int(second))
    return "\(weekday), \(padded(day, 2)) \(months[month - 1]) \(padded(year, 4)) \(time) GMT"
  }

  // MARK: Parts

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let dash: UInt8 = 0x2D
  private static let colon: UInt8 = 0x3A

  private static func number(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ count: Int) -> Int? {
    guard start + count <= bytes.count else { return nil }
    var value = 0
    for i in start..<start + count {
      let digit = bytes[i] &- 0x30
      if digit > 9 { return nil }
      value = value * 10 + Int(digit)
    }
    return value
  }

  /// Reads the first three digits of a fraction of any length; `at` is moved past the fraction.
  private static func milliseconds(
    fractionIn bytes: UnsafeRawBufferPointer, from at: inout Int
  ) -> Int? {
    at += 1
    let start = at
    var value = 0
    while at < bytes.count, bytes[at] &- 0x30 <= 9 {
      if at - start < 3 { value = value * 10 + Int(bytes[at] &- 0x30) }
      at += 1
    }
    let digits = at - start
    if digits == 0 || digits > 9 { return nil }
    return digits == 1 ? value * 100 : digits == 2 ? value * 10 : value
  }

  /// The offset of the zone that ends the text: `Z`, `+hhmm`, `+hh:mm` or `+hh`.
  private static func offsetSeconds(_ bytes: UnsafeRawBufferPointer, from at: Int) -> Int? {
    let rest = bytes.count - at
    guard rest >= 1 else { return nil }
    if bytes[at] == 0x5A || bytes[at] == 0x7A { return rest == 1 ? 0 : nil }
    guard bytes[at] == 0x2B || bytes[at] == dash, let hours = number(bytes, at + 1, 2) else {
      return nil
    }
    var minutes = 0
    switch rest {
    case 3: break
    case 5:
      guard let found = number(bytes, at + 3, 2) else { return nil }
      minutes = found
    case 6:
      guard bytes[at + 3] == colon, let found = number(bytes, at + 4, 2) else { return nil }
      minutes = found
    default: return nil
    }
    guard hours <= 23, minutes <= 59 else { return nil }
    let seconds = hours * 3600 + minutes * 60
    return bytes[at] == dash ? -seconds : seconds
  }

  private static func isDate(_ year: Int, _ month: Int, _ day: Int) -> Bool {
    guard (1...12).contains(month), day >= 1 else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return day <= lengths[month - 1]
  }

  /// The days since 1970-01-01.
  ///
  /// Years start in March here, so that a leap day is the last day of its year.
  private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = floorDivide(shifted, 400)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The date for a number of days since 1970-01-01.
  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private static func floorDivide<I: BinaryInteger>(_ a: I, _ b: I) -> (quotient: I, remainder: I) {
    var (quotient, remainder) = a.quotientAndRemainder(dividingBy: b)
    if remainder < 0 {
      quotient -= 1
      remainder += b
    }
    return (quotient, remainder)
  }

  private static func text(_ milliseconds: Int64, fraction: Bool, zone: String) -> String {
    let (seconds, rest) = floorDivide(milliseconds, 1000)
    let (days, second) = floorDivide(seconds, 86400)
    let (year, month, day) = civil(Int(days))
    let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    let part = fraction ? "." + padded(Int(rest), 3) : ""
    return "\(date)T\(clock(Int(second)))\(part)\(zone)"
  }

  private static func clock(_ second: Int) -> String {
    "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
  }

  private static func padded(_ value: Int, _ width: Int) -> String {
    let digits = String(value)
    return digits.count >= width
      ? digits : String(repeating: "0", count: width - digits.count) + digits
  }
}
