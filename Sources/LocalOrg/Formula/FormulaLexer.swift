/// A token of a formula.
struct FormulaToken: Equatable {
  enum Kind: Equatable {
    case name(String)
    case text(String)
    case number(Double)
    case symbol(String)
    case end
  }

  let kind: Kind
  /// The start position in characters, starting at 1.
  let place: Int
}

/// Splits a formula into tokens.
struct FormulaLexer {
  private let characters: [Character]
  private var index = 0

  private init(_ text: String) { characters = Array(text) }

  static func tokens(of text: String) throws(FormulaError) -> [FormulaToken] {
    var lexer = FormulaLexer(text)
    var tokens: [FormulaToken] = []
    repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
    return tokens
  }

  private mutating func next() throws(FormulaError) -> FormulaToken {
    while index < characters.count, characters[index].isWhitespace { index += 1 }
    let place = index + 1
    return FormulaToken(kind: try scan(), place: place)
  }

  private mutating func scan() throws(FormulaError) -> FormulaToken.Kind {
    guard index < characters.count else { return .end }
    let first = characters[index]
    if first == "'" || first == "\"" { return .text(try text(until: first)) }
    if first.isASCII, first.isNumber { return .number(try number()) }
    if Self.isNamePart(first) || first == "$" {
      let start = index
      index += 1
      while index < characters.count, Self.isNamePart(characters[index]) { index += 1 }
      return .name(String(characters[start..<index]))
    }
    for pair in ["&&", "||", "==", "!=", "<>", "<=", ">="]
    where characters[index...].starts(with: pair) {
      index += 2
      return .symbol(pair)
    }
    guard "(),+-*/&=<>!".contains(first) else {
      throw FormulaError(
        message: "the formula has an unknown character: \(first)", fix: "remove it",
        place: index + 1)
    }
    index += 1
    return .symbol(String(first))
  }

  private static func isNamePart(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "_.".contains(character))
  }

  private mutating func number() throws(FormulaError) -> Double {
    let start = index
    while index < characters.count, characters[index].isNumber || characters[index] == "." {
      index += 1
    }
    let text = String(characters[start..<index])
    guard let value = Double(text) else {
      throw FormulaError(
        message: "\(text) is not a number", fix: "write digits and at most one decimal point",
        place: start + 1)
    }
    return value
  }

  private mutating func text(until quote: Character) throws(FormulaError) -> String {
    let start = index
    var text = ""
    index += 1
    while index < characters.count, characters[index] != quote {
      if characters[index] == "\\", index + 1 < characters.count {
        index += 1
        text.append(characters[index] == "n" ? "\n" : characters[index])
      } else {
        text.append(characters[index])
      }
      index += 1
    }
    guard index < characters.count else {
      throw FormulaError(
        message: "the text that starts here is not closed", fix: "close it with \(quote)",
        place: start + 1)
    }
    index += 1
    return text
  }
}
