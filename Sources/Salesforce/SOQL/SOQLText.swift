/// A SOQL query divided into its clauses, so that it can be changed and written again.
///
/// Only the top level is parsed: quoted and parenthesized text stays as it is. Any white space
/// separates words, and names are case-insensitive. The clauses that the SDK attaches to the
/// previous one (`USING SCOPE`, `WITH`, `FOR`, `ALL ROWS`) are separate clauses here.
package struct SOQLText: Sendable, Hashable {
  /// The message for a text that is not a query.
  package static let needsSelect = "a SOQL query starts with SELECT"

  /// The clauses in the order of SOQL.
  package enum Clause: Int, CaseIterable, Sendable {
    case select, from, scope, `where`, with, groupBy, having, orderBy, limit, offset, `for`, allRows

    /// The keyword of the clause.
    package var keyword: String {
      switch self {
      case .select: "select"
      case .from: "from"
      case .scope: "using scope"
      case .where: "where"
      case .with: "with"
      case .groupBy: "group by"
      case .having: "having"
      case .orderBy: "order by"
      case .limit: "limit"
      case .offset: "offset"
      case .for: "for"
      case .allRows: "all rows"
      }
    }
  }

  private var clauses: [Clause: String] = [:]

  /// Parses a query; throws if it has no SELECT or no FROM clause.
  package init(_ text: String) throws(SOQLError) {
    clauses = Self.split(SOQLTokens.tokenize(Self.spacesOnly(text)))
    for clause in [Clause.select, .from] where (clauses[clause] ?? "").isEmpty {
      throw SOQLError(
        message: "the query has no \(clause.keyword.uppercased()) clause", fix: "write one: \(text)"
      )
    }
  }

  /// The text of a clause without its keyword; setting nil or an empty text removes it.
  package subscript(_ clause: Clause) -> String? {
    get { clauses[clause] }
    set { clauses[clause] = newValue.flatMap { $0.isEmpty ? nil : $0 } }
  }

  /// The query with lower-case keywords and single spaces between its parts.
  package var text: String {
    Clause.allCases.compactMap { clause in
      clauses[clause].map { $0.isEmpty ? clause.keyword : "\(clause.keyword) \($0)" }
    }.joined(separator: " ")
  }

  /// The object in the FROM clause.
  package var objectName: String {
    fromWords.first ?? ""
  }

  /// The FROM clause if it does not have the form of one: names, each with at most an alias, first
  /// that of the object, then paths to its parents.
  package var wrongFrom: String? {
    let from = clauses[.from] ?? ""
    let isRight = Self.entries(of: from).enumerated().allSatisfy { place, entry in
      var words = entry.split(separator: " ").map(String.init)
      // `UPDATE VIEWSTAT` is a part of this clause here.
      if let end = words.dropFirst().firstIndex(where: { $0.lowercased() == "update" }) {
        words.removeSubrange(end...)
      }
      if words.count == 3, words[1].lowercased() == "as" { words.remove(at: 1) }
      guard words.count == 1 || words.count == 2 else { return false }
      let steps = words[0].split(separator: ".", omittingEmptySubsequences: false)
      return (place > 0 || steps.count == 1) && steps.map(String.init).allSatisfy(APIName.isValid)
        && words.dropFirst().allSatisfy(APIName.isValid)
    }
    return isRight ? nil : from
  }

  /// The number in the LIMIT clause.
  package var limit: Int? { clauses[.limit].flatMap { Int($0) } }

  /// Whether LIMIT or OFFSET restricts the result, so that it may not contain all matches.
  package var isBounded: Bool { clauses[.limit] != nil || clauses[.offset] != nil }

  // MARK: fields

  /// The entries of the select list.
  package var selectedFields: [String] { Self.entries(of: clauses[.select] ?? "") }

  /// Whether the top level selects the field, in any case or under an alias.
  package func selects(_ field: String) -> Bool {
    selectedFields.contains { isField($0, field) || Self.isEveryField($0) }
  }

  /// Whether `FIELDS()` lets the org choose the fields, so that users may get different ones.
  package var selectsOpenly: Bool {
    selectedFields.contains { $0.lowercased().hasPrefix("fields(") }
  }

  /// Adds a field before the others.
  package mutating func addField(_ field: String) {
    clauses[.select] = clauses[.select].map { "\(field),\($0)" } ?? field
  }

  /// Rewrites a selected field as `field` if it is in another case or has an alias.
  package mutating func spellField(_ field: String) {
    let entries = selectedFields
    guard entries.contains(where: { $0 != field && isField($0, field) }) else { return }
    clauses[.select] = entries.map { isField($0, field) ? field : $0 }.joined(separator: ", ")
  }

  /// Whether the query is ordered by exactly this field, as the SDK requires.
  package func isOrdered(by field: String) -> Bool {
    clauses[.orderBy]?.filter { $0 != " " } == field
  }

  // MARK: conditions

  /// Adds a condition before the others, which are parenthesized if their meaning would change.
  package mutating func addCondition(_ condition: String) {
    guard let old = clauses[.where] else {
      clauses[.where] = condition
      return
    }
    clauses[.where] = "\(condition) and \(Self.closed(old))"
  }

  /// Parenthesizes a WHERE clause with OR or NOT at its top level, so that a condition can be added
  /// before it.
  package mutating func closeConditions() {
    clauses[.where] = clauses[.where].map(Self.closed)
  }

  private static func closed(_ conditions: String) -> String {
    let isOpen = SOQLTokens.tokenize(conditions).contains {
      ["or", "not"].contains($0.lowercased())
    }
    return isOpen ? "(\(conditions))" : conditions
  }

  // MARK: reading

  /// The text with tabs and line ends outside quotes replaced by spaces, the only white space that
  /// the SDK's parsers accept.
  package static func spacesOnly(_ text: String) -> String {
    var bytes = Array(text.utf8)
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "'"):
        index = SOQLTokens.endOfQuoted(bytes, from: index)
        continue
      case 0x09, 0x0A, 0x0D: bytes[index] = 0x20
      default: break
      }
      index += 1
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func split(_ tokens: [String]) -> [Clause: String] {
    var clauses: [Clause: String] = [:]
    var current: Clause?
    var index = 0
    while index < tokens.count {
      if let (clause, length) = clause(at: index, in: tokens),
        clause.rawValue > (current?.rawValue ?? -1)
      {
        current = clause
        clauses[clause] = ""
        index += length
      } else {
        if let current { clauses[current, default: ""] += tokens[index] }
        index += 1
      }
    }
    return clauses.mapValues(trimmed)
  }

  private static func clause(at index: Int, in tokens: [String]) -> (Clause, Int)? {
    let word = tokens[index].lowercased()
    let second = index + 2 < tokens.count ? tokens[index + 2].lowercased() : ""
    for clause in Clause.allCases {
      if clause.keyword == word { return (clause, 1) }
      if clause == .scope || clause == .allRows, clause.keyword == "\(word) \(second)" {
        return (clause, 3)
      }
    }
    return nil
  }

  private static func entries(of list: String) -> [String] {
    var entries = [""]
    for token in SOQLTokens.tokenize(list) {
      if token.hasPrefix("(") || token.hasPrefix("'") {
        entries[entries.count - 1] += token
        continue
      }
      let pieces = token.split(separator: ",", omittingEmptySubsequences: false)
      for (place, piece) in pieces.enumerated() {
        if place > 0 { entries.append("") }
        entries[entries.count - 1] += piece
      }
    }
    return entries.map(trimmed)
  }

  private static func trimmed(_ text: String) -> String {
    var slice = Substring(text)
    while slice.first == " " { slice.removeFirst() }
    while slice.last == " " { slice.removeLast() }
    return String(slice)
  }

  private var fromWords: [String] {
    let first = Self.entries(of: clauses[.from] ?? "").first ?? ""
    return first.split(separator: " ").map(String.init).filter { $0.lowercased() != "as" }
  }

  private func isField(_ entry: String, _ field: String) -> Bool {
    let entry = entry.lowercased()
    let field = field.lowercased()
    return entry == field || fromWords.contains { entry == "\($0.lowercased()).\(field)" }
  }

  private static func isEveryField(_ entry: String) -> Bool {
    let entry = entry.lowercased()
    return entry.hasPrefix("fields(") && !entry.hasPrefix("fields(custom")
  }
}

/// The reason a query cannot be used.
package struct SOQLError: Error, Sendable {
  package let message: String
  /// The fix.
  package let fix: String
}
