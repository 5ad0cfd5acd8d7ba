/// Parses the text in the braces of FIND.
struct SearchTextParser {
  private enum Token: Equatable {
    case word([WordPattern])
    case phrase([WordPattern])
    case and, or, not, opening, closing
  }

  private let tokens: [Token]
  private var place = 0
  private static let mostCharacters = 10_000

  static func parse(_ text: String) throws(OrgError) -> SearchExpression {
    guard text.count <= mostCharacters else {
      throw refusal("search term is longer than \(mostCharacters) characters")
    }
    let tokens = try Self.tokens(of: Array(text.lowercased()))
    let longest = tokens.map { token in
      switch token {
      case .word(let patterns), .phrase(let patterns): patterns.reduce(0) { $0 + $1.length }
      default: 0
      }
    }
    guard let most = longest.max(), most > 1 else {
      throw refusal("search term must be longer than one character: \(text)")
    }
    var parser = SearchTextParser(tokens: tokens)
    let expression = try parser.any()
    guard parser.place == tokens.count else { throw unexpected }
    return expression
  }

  private init(tokens: [Token]) { self.tokens = tokens }

  // MARK: Grammar

  private mutating func any(depth: Int = 0) throws(OrgError) -> SearchExpression {
    guard depth < 32 else { throw Self.unexpected }
    var parts = [try all(depth: depth)]
    while take(.or) { parts.append(try all(depth: depth)) }
    return parts.count == 1 ? parts[0] : .any(parts)
  }

  /// Parses AND, AND NOT, and adjacent words.
  private mutating func all(depth: Int) throws(OrgError) -> SearchExpression {
    var wanted = [try factor(depth: depth)]
    var unwanted: [SearchExpression] = []
    while place < tokens.count, tokens[place] != .or, tokens[place] != .closing {
      let isJoined = take(.and)
      if take(.not) {
        guard isJoined else { throw Self.unexpected }
        unwanted.append(try factor(depth: depth))
      } else {
        wanted.append(try factor(depth: depth))
      }
    }
    let whole = wanted.count == 1 ? wanted[0] : .all(wanted)
    return unwanted.isEmpty ? whole : .except(whole, unwanted)
  }

  private mutating func factor(depth: Int) throws(OrgError) -> SearchExpression {
    guard place < tokens.count else { throw Self.unexpected }
    defer { place += 1 }
    switch tokens[place] {
    case .word(let patterns), .phrase(let patterns): return .phrase(patterns)
    case .opening:
      place += 1
      let inner = try any(depth: depth + 1)
      guard place < tokens.count, tokens[place] == .closing else { throw Self.unexpected }
      return inner
    case .and, .or, .not, .closing: throw Self.unexpected
    }
  }

  private mutating func take(_ token: Token) -> Bool {
    guard place < tokens.count, tokens[place] == token else { return false }
    place += 1
    return true
  }

  // MARK: Tokens

  private static func tokens(of text: [Character]) throws(OrgError) -> [Token] {
    var tokens: [Token] = []
    var index = 0
    while index < text.count {
      let character = text[index]
      switch character {
      case _ where character.isWhitespace: index += 1
      case "(", ")":
        tokens.append(character == "(" ? .opening : .closing)
        index += 1
      case "\"":
        index += 1
        let patterns = try patterns(text, &index) { $0 == "\"" }
        guard index < text.count else { throw refusal("a quotation mark is missing") }
        index += 1
        if !patterns.isEmpty { tokens.append(.phrase(patterns)) }
      default:
        let start = index
        let patterns = try patterns(text, &index) {
          $0.isWhitespace || $0 == "(" || $0 == ")" || $0 == "\""
        }
        switch String(text[start..<index]) {
        case "and": tokens.append(.and)
        case "or": tokens.append(.or)
        case "not": tokens.append(.not)
        default: if !patterns.isEmpty { tokens.append(.word(patterns)) }
        }
      }
    }
    return tokens
  }

  /// Returns the words up to a delimiter; other characters that are not letters or digits separate
  /// words.
  private static func patterns(
    _ text: [Character], _ index: inout Int, until isEnd: (Character) -> Bool
  ) throws(OrgError) -> [WordPattern] {
    var patterns: [WordPattern] = []
    var current = WordPattern(parts: [])
    func close() {
      // A wildcard requires a character before it.
      while let first = current.parts.first, first == .one || first == .many {
        current.parts.removeFirst()
      }
      if !current.parts.isEmpty { patterns.append(current) }
      current = WordPattern(parts: [])
    }
    while index < text.count, !isEnd(text[index]) {
      var character = text[index]
      index += 1
      var isEscaped = false
      if character == "\\" {
        guard index < text.count else { throw unexpected }
        character = text[index]
        index += 1
        isEscaped = true
      }
      if !isEscaped, "&|!{}[]^~:".contains(character) { throw unexpected }
      if !isEscaped, character == "*" || character == "?" {
        current.parts.append(character == "*" ? .many : .one)
      } else if character.isLetter || character.isNumber {
        current.parts.append(.character(character))
      } else {
        close()
      }
    }
    close()
    return patterns
  }

  private static let unexpected = refusal("the search term does not follow the rules of FIND")

  private static func refusal(_ message: String) -> OrgError {
    OrgError(code: "MALFORMED_SEARCH", message: message)
  }
}
