import SQLite

/// How users who may not view encrypted data see an encrypted field.
package struct FieldMask: Sendable, Hashable {
  /// Which characters are hidden, as Metadata API names it.
  package enum Kind: String, CaseIterable, Sendable {
    case all, lastFour, creditCard, ssn
  }

  /// The character shown instead of a hidden one.
  package enum Character: String, CaseIterable, Sendable {
    case asterisk = "*"
    case letter = "X"
  }

  package var kind = Kind.all
  package var character = Character.asterisk

  /// The masked value of a column: all of it, except the last four characters of a value that is
  /// long enough for the kind.
  func sql(_ column: String) -> String {
    let end = "substr(\(column), -4)"
    func hidden(_ count: String) -> String {
      "replace(hex(zeroblob(\(count))), '00', '\(character.rawValue)')"
    }
    func shown(_ groups: [Int]) -> String {
      let text = groups.map { String(repeating: character.rawValue, count: $0) + "-" }.joined()
      return "'\(text)' || \(end)"
    }
    let (least, value): (Int, String) =
      switch kind {
      case .all: (Int.max, "''")
      case .lastFour: (5, hidden("length(\(column)) - 4") + " || " + end)
      case .creditCard: (16, shown([4, 4, 4]))
      case .ssn: (9, shown([3, 2]))
      }
    let whole = hidden("length(\(column))")
    let masked =
      kind == .all
      ? whole : "CASE WHEN length(\(column)) >= \(least) THEN \(value) ELSE \(whole) END"
    return "CASE WHEN \(column) IS NOT NULL THEN \(masked) END"
  }
}
