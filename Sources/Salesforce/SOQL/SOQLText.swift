/// A SOQL query taken apart into its clauses, so that it can be changed and written again.
///
/// Only the top level is read: what stands in quotes or parentheses stays as it is. White space is
/// any white space, names are compared without case, and the clauses that the SDK glues to the one
/// before (`USING SCOPE`, `WITH`, `FOR`, `ALL ROWS`) are clauses here.
package struct SOQLText: Sendable, Hashable {
  /// What is said of a text that is no query.
  package static let needsSelect = "a SOQL query begins with SELECT"

  /// The clauses in the order in which SOQL writes them.
  package enum Clause: Int, CaseIterable, Sendable {
    case select, from, scope, `where`, with, groupBy, having, orderBy, limit, offset, `for`, allRows

    /// How the clause begins.
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

  /// Takes a query apart; throws when it selects nothing or selects from nothing.
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

  /// The query with lower-case keywords, one space between its parts.
  package var text: String {
    Clause.allCases.compactMap { clause in
      clauses[clause].map { $0.isEmpty ? clause.keyword : "\(clause.keyword) \($0)" }
    }.joined(separator: " ")
  }

  /// The object that the query selects from.
  package var objectName: String {
    fromWords.first ?? ""
  }

  /// The number after LIMIT.
  package var limit: Int? { clauses[.limit].flatMap { Int($0) } }

  /// True when the result is cut by LIMIT or OFFSET, so that it is not all that matches.
  package var isBounded: Bool { clauses[.limit] != nil || clauses[.offset] != nil }

  // MARK: fields

  /// The entries of the select list.
  package var selectedFields: [String] { Self.entries(of: clauses[.select] ?? "") }

  /// True when the top level selects the field, under whatever case or alias.
  package func selects(_ field: String) -> Bool {
    selectedFields.contains { isField($0, field) || Self.isEveryField($0) }
  }

  /// Whether `FIELDS()` selects what the org has, so that each user may get other fields.
  package var selectsOpenly: Bool {
    selectedFields.contains { $0.lowercased().hasPrefix("fields(") }
  }

  /// Puts a field before the others.
  package mutating func addField(_ field: String) {
    clauses[.select] = clauses[.select].map { "\(field),\($0)" } ?? field
  }

  /// Writes a selected field as `field` says, where it is written in another case or with an alias.
  package mutating func spellField(_ field: String) {
    let entries = selectedFields
    guard entries.contains(where: { $0 != field && isField($0, field) }) else { return }
    clauses[.select] = entries.map { isField($0, field) ? field : $0 }.joined(separator: ", ")
  }

  /// True when the query is ordered by exactly this field, as the SDK asks.
  package func isOrdered(by field: String) -> Bool {
    clauses[.orderBy]?.filter { $0 != " " } == field
  }

  // MARK: conditions

  /// Puts a condition before the others; they are parenthesised where their meaning would change.
  package mutating func addCondition(_ condition: String) {
    guard let old = clauses[.where] else {
      clauses[.where] = condition
      return
    }
    clauses[.where] = "\(condition) and \(Self.closed(old))"
  }

  /// Parenthesises a WHERE with OR or NOT at its top level, so that a condition can be put before
  /// it.
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

  /// The text with tabs and line ends outside quotes made spaces, which is all the SDK's parsers
  /// know.
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

/// Why a query cannot be used.
package struct SOQLError: Error, Sendable {
  /// What is wrong.
  package let message: String
  /// What to do about it.
  package let fix: String
}
