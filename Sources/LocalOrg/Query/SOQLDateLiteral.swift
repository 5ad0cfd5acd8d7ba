/// `TODAY`, `LAST_N_DAYS:30` and similar literals: each is a range of days.
enum SOQLDateLiteral {
  private static let fixed: Set<String> = [
    "YESTERDAY", "TODAY", "TOMORROW", "LAST_WEEK", "THIS_WEEK", "NEXT_WEEK", "LAST_MONTH",
    "THIS_MONTH", "NEXT_MONTH", "LAST_90_DAYS", "NEXT_90_DAYS", "LAST_QUARTER", "THIS_QUARTER",
    "NEXT_QUARTER", "LAST_YEAR", "THIS_YEAR", "NEXT_YEAR",
  ]
  private static let units = ["DAYS", "WEEKS", "MONTHS", "QUARTERS", "YEARS"]

  /// Whether the literal needs no number.
  static func isFixed(_ name: String) -> Bool { fixed.contains(name) }

  /// Whether a colon and a number follow the literal.
  static func takesCount(_ name: String) -> Bool {
    units.contains {
      name == "LAST_N_\($0)" || name == "NEXT_N_\($0)" || name == "N_\($0)_AGO"
    }
  }

  /// The days of a literal, in days since 1970-01-01, excluding the end.
  static func range(_ name: String, _ count: Int?, today: Int) -> Range<Int> {
    switch name {
    case "YESTERDAY": return today - 1..<today
    case "TOMORROW": return today + 1..<today + 2
    case "LAST_90_DAYS": return today - 90..<today + 1
    case "NEXT_90_DAYS": return today + 1..<today + 91
    case "LAST_N_DAYS": return today - (count ?? 0)..<today + 1
    case "NEXT_N_DAYS": return today + 1..<today + 1 + (count ?? 0)
    case "N_DAYS_AGO": return today - (count ?? 0)..<today - (count ?? 0) + 1
    default: break
    }
    guard let unit = units.first(where: { name.contains($0.dropLast()) }), unit != "DAYS" else {
      return today..<today + 1
    }
    let (from, length) = periods(name, count ?? 1)
    return start(
      of: unit, today: today, adding: from)..<start(
        of: unit, today: today, adding: from + length)
  }

  /// The offset of a literal's start in periods from the current one, and its length.
  private static func periods(_ name: String, _ count: Int) -> (from: Int, length: Int) {
    if name.hasPrefix("LAST_N_") { return (-count, count) }
    if name.hasPrefix("NEXT_N_") { return (1, count) }
    if name.hasSuffix("_AGO") { return (-count, 1) }
    if name.hasPrefix("LAST_") { return (-1, 1) }
    if name.hasPrefix("NEXT_") { return (1, 1) }
    return (0, 1)
  }

  private static func start(of unit: String, today: Int, adding periods: Int) -> Int {
    let date = CivilDate(days: today)
    switch unit {
    // Day 0 was a Thursday; a week starts on Sunday.
    case "WEEKS": return today - (today + 4) % 7 + periods * 7
    case "MONTHS": return date.month(adding: periods).days
    case "QUARTERS":
      let quarter = CivilDate(year: date.year, month: (date.month - 1) / 3 * 3 + 1, day: 1)
      return quarter.month(adding: periods * 3).days
    default: return CivilDate(year: date.year + periods, month: 1, day: 1).days
    }
  }
}
