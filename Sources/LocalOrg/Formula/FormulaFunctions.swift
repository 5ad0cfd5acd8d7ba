import System

/// The functions of formulas.
enum FormulaFunctions {
  /// The allowed number of arguments.
  static let arguments: [String: ClosedRange<Int>] = [
    "AND": 1...64, "OR": 1...64, "NOT": 1...1, "IF": 3...3, "CASE": 4...128, "ISBLANK": 1...1,
    "ISNULL": 1...1, "BLANKVALUE": 2...2, "NULLVALUE": 2...2, "ISPICKVAL": 2...2,
    "INCLUDES": 2...2, "TEXT": 1...1, "VALUE": 1...1, "LEN": 1...1, "LEFT": 2...2, "RIGHT": 2...2,
    "MID": 3...3, "UPPER": 1...1, "LOWER": 1...1, "TRIM": 1...1, "CONTAINS": 2...2,
    "BEGINS": 2...2, "SUBSTITUTE": 3...3, "TODAY": 0...0, "NOW": 0...0, "DATE": 3...3,
    "DATEVALUE": 1...1, "YEAR": 1...1, "MONTH": 1...1, "DAY": 1...1, "ABS": 1...1, "ROUND": 2...2,
    "FLOOR": 1...1, "CEILING": 1...1, "MOD": 2...2, "MIN": 1...64, "MAX": 1...64, "ISNEW": 0...0,
    "ISCHANGED": 1...1, "PRIORVALUE": 1...1,
  ]

  /// The function names, sorted.
  static let names = arguments.keys.sorted()

  /// Functions whose first argument is a field rather than its value.
  static let ofFields: Set<String> = ["ISCHANGED", "PRIORVALUE"]

  /// Functions that accept a picklist.
  static let ofPicklists: Set<String> = [
    "ISPICKVAL", "INCLUDES", "TEXT", "CASE", "ISBLANK", "ISNULL", "ISCHANGED", "PRIORVALUE",
  ]

  /// Applies a function or an operator to the values of its arguments; null if the result is
  /// undefined.
  static func apply(_ name: String, _ values: [FormulaValue], now: Int64) -> FormulaValue {
    if values.count == 2, let value = compared(name, values[0], values[1]) { return value }
    return logical(name, values) ?? textual(name, values) ?? dated(name, values, now)
      ?? numeric(name, values) ?? .null
  }

  private static func compared(_ name: String, _ left: FormulaValue, _ right: FormulaValue)
    -> FormulaValue?
  {
    let order = left.order(to: right)
    switch name {
    case "=": return .bool(order == 0)
    case "!=": return .bool(order != 0)
    // Null is neither less nor greater than any value.
    case "<", "<=", ">", ">=":
      guard let order, !left.isBlank || !right.isBlank else { return .bool(false) }
      switch name {
      case "<": return .bool(order < 0)
      case "<=": return .bool(order <= 0)
      case ">": return .bool(order > 0)
      default: return .bool(order >= 0)
      }
    default: return nil
    }
  }

  private static func logical(_ name: String, _ values: [FormulaValue]) -> FormulaValue? {
    switch name {
    case "NOT": return .bool(!values[0].isTrue)
    case "ISBLANK", "ISNULL": return .bool(values[0].isBlank)
    case "BLANKVALUE", "NULLVALUE": return values[0].isBlank ? values[1] : values[0]
    case "ISPICKVAL": return .bool(values[0].text == values[1].text)
    case "INCLUDES":
      return .bool(values[0].text.split(separator: ";").contains { $0 == values[1].text })
    default: return nil
    }
  }

  private static func textual(_ name: String, _ values: [FormulaValue]) -> FormulaValue? {
    func count(_ place: Int) -> Int { whole(values[place].number ?? 0, 0...1_000_000) }
    switch name {
    case "&": return .text(values[0].text + values[1].text)
    case "TEXT": return .text(values[0].text)
    case "VALUE": return Double(values[0].text).map { .number($0) } ?? .null
    case "LEN": return .number(Double(values[0].text.utf16.count))
    case "LEFT": return .text(String(values[0].text.prefix(count(1))))
    case "RIGHT": return .text(String(values[0].text.suffix(count(1))))
    case "MID":
      return .text(String(values[0].text.dropFirst(max(0, count(1) - 1)).prefix(count(2))))
    case "UPPER": return .text(values[0].text.uppercased())
    case "LOWER": return .text(values[0].text.lowercased())
    case "TRIM":
      return .text(
        String(values[0].text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()))
    case "CONTAINS":
      return .bool(values[1].text.isEmpty || values[0].text.contains(values[1].text))
    case "BEGINS": return .bool(values[0].text.hasPrefix(values[1].text))
    case "SUBSTITUTE":
      guard !values[1].text.isEmpty else { return values[0] }
      return .text(values[0].text.replacing(values[1].text, with: values[2].text))
    case "+":
      guard case .text(let left) = values[0], case .text(let right) = values[1] else { return nil }
      return .text(left + right)
    default: return nil
    }
  }

  /// The nearest whole number within a range.
  private static func whole(_ number: Double, _ range: ClosedRange<Int>) -> Int {
    guard number > Double(range.lowerBound) else { return range.lowerBound }
    return number < Double(range.upperBound) ? Int(number) : range.upperBound
  }

  private static let day: Int64 = 86_400_000

  private static func dated(_ name: String, _ values: [FormulaValue], _ now: Int64)
    -> FormulaValue?
  {
    func days(_ moment: Int64) -> Int {
      Int((moment - (moment % day + day) % day) / day)
    }
    switch name {
    case "NOW": return .moment(now)
    case "TODAY": return .date(days(now))
    case "DATE":
      let parts = values.compactMap(\.number)
      guard parts.count == 3, parts.allSatisfy({ abs($0) < 10_000 }) else { return .null }
      let date = CivilDate(year: Int(parts[0]), month: Int(parts[1]), day: Int(parts[2]))
      return CivilDate(days: date.days) == date ? .date(date.days) : .null
    case "DATEVALUE":
      switch values[0] {
      case .moment(let moment): return .date(days(moment))
      case .date: return values[0]
      default: return CivilDate.parse(values[0].text).map { .date($0.days) } ?? .null
      }
    case "YEAR", "MONTH", "DAY":
      guard case .date(let days) = values[0] else { return .null }
      let date = CivilDate(days: days)
      return .number(Double(name == "YEAR" ? date.year : name == "MONTH" ? date.month : date.day))
    case "+", "-": return moved(name, values[0], values[1])
    default: return nil
    }
  }

  /// Adds days to a date, or subtracts two dates.
  private static func moved(_ name: String, _ left: FormulaValue, _ right: FormulaValue)
    -> FormulaValue?
  {
    let sign: Double = name == "+" ? 1 : -1
    switch (left, right) {
    case (.date(let date), .number(let count)) where abs(count) < 1e7:
      return .date(date + Int(sign * count))
    case (.moment(let moment), .number(let count)) where abs(count) < 1e7:
      return .moment(moment + Int64(sign * count * Double(day)))
    case (.date(let one), .date(let two)) where name == "-": return .number(Double(one - two))
    case (.moment(let one), .moment(let two)) where name == "-":
      return .number(Double(one - two) / Double(day))
    default: return nil
    }
  }

  private static func numeric(_ name: String, _ values: [FormulaValue]) -> FormulaValue? {
    let numbers = values.compactMap(\.number)
    guard numbers.count == values.count, let first = numbers.first else { return nil }
    let second = numbers.count > 1 ? numbers[1] : 0
    switch name {
    case "+": return .number(first + second)
    case "-": return .number(first - second)
    case "*": return .number(first * second)
    case "/": return second == 0 ? .null : .number(first / second)
    case "MOD":
      return second == 0 ? .null : .number(first - second * (first / second).rounded(.down))
    case "ABS": return .number(abs(first))
    case "FLOOR": return .number(first.rounded(.down))
    case "CEILING": return .number(first.rounded(.up))
    case "ROUND":
      var unit = 1.0
      for _ in 0..<whole(second, 0...15) { unit *= 10 }
      return .number((first * unit).rounded(.toNearestOrAwayFromZero) / unit)
    case "MIN": return numbers.min().map { .number($0) }
    case "MAX": return numbers.max().map { .number($0) }
    default: return nil
    }
  }
}
