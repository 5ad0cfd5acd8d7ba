/// A token of a SOQL statement.
struct SOQLToken: Equatable {
  enum Kind: Equatable {
    case word(String)
    case text(String)
    case number(String)
    case date(String)
    case dateTime(String)
    case time(String)
    case symbol(String)
    case end
  }

  let kind: Kind
  /// The characters as written in the statement.
  let source: String
  let line: Int
  let column: Int
}

/// Cuts a SOQL statement into tokens.
struct SOQLLexer {
  private let bytes: [UInt8]
  private var index = 0
  private var line = 1
  private var column = 1

  init(_ statement: String) { bytes = Array(statement.utf8) }

  /// Returns all tokens, ending with one of kind `end`.
  static func tokens(of statement: String) throws(OrgError) -> [SOQLToken] {
    var lexer = SOQLLexer(statement)
    var tokens: [SOQLToken] = []
    repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
    return tokens
  }

  private mutating func next() throws(OrgError) -> SOQLToken {
    while index < bytes.count, Self.isSpace(bytes[index]) { advance(1) }
    let (startLine, startColumn, start) = (line, column, index)
    let kind = try scan()
    let source = String(decoding: bytes[start..<index], as: UTF8.self)
    return SOQLToken(kind: kind, source: source, line: startLine, column: startColumn)
  }

  private mutating func scan() throws(OrgError) -> SOQLToken.Kind {
    guard index < bytes.count else { return .end }
    let byte = bytes[index]
    if Self.isLetter(byte) || byte == 0x5F { return .word(take(while: Self.isWordPart)) }
    if byte == 0x27 { return try text() }
    if Self.isDigit(byte) || ((byte == 0x2D || byte == 0x2B || byte == 0x2E) && digitFollows) {
      return numberOrDate()
    }
    for pair in ["!=", "<>", "<=", ">="] where bytes[index...].starts(with: Array(pair.utf8)) {
      advance(2)
      return .symbol(pair == "<>" ? "!=" : pair)
    }
    if Array("(),=<>.:".utf8).contains(byte) {
      advance(1)
      return .symbol(String(UnicodeScalar(byte)))
    }
    let (badLine, badColumn) = (line, column)
    var end = index + 1
    while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
    let shown = String(decoding: bytes[index..<end], as: UTF8.self)
    throw OrgError(
      code: "MALFORMED_QUERY",
      message: "line \(badLine):\(badColumn) no viable alternative at character '\(shown)'")
  }

  private var digitFollows: Bool { index + 1 < bytes.count && Self.isDigit(bytes[index + 1]) }

  private mutating func text() throws(OrgError) -> SOQLToken.Kind {
    var value: [UInt8] = []
    advance(1)
    while index < bytes.count {
      let byte = bytes[index]
      if byte == 0x27 {
        advance(1)
        return .text(String(decoding: value, as: UTF8.self))
      }
      guard byte == 0x5C else {
        value.append(byte)
        advance(1)
        continue
      }
      guard index + 1 < bytes.count else { break }
      let escaped = bytes[index + 1]
      advance(2)
      switch escaped {
      case UInt8(ascii: "n"), UInt8(ascii: "N"): value.append(0x0A)
      case UInt8(ascii: "r"), UInt8(ascii: "R"): value.append(0x0D)
      case UInt8(ascii: "t"), UInt8(ascii: "T"): value.append(0x09)
      case UInt8(ascii: "b"), UInt8(ascii: "B"): value.append(0x08)
      case UInt8(ascii: "f"), UInt8(ascii: "F"): value.append(0x0C)
      case 0x27, 0x22, 0x5C: value.append(escaped)
      // LIKE interprets these two itself, so the backslash stays.
      case UInt8(ascii: "_"), UInt8(ascii: "%"): value.append(contentsOf: [0x5C, escaped])
      default:
        throw OrgError(
          code: "MALFORMED_QUERY",
          message: "Invalid string literal. Illegal character sequence "
            + "'\\\(String(UnicodeScalar(escaped)))' in string literal")
      }
    }
    throw OrgError(
      code: "MALFORMED_QUERY", message: "line \(line):\(column) mismatched character '<EOF>'")
  }

  /// A number, `2024-01-31`, or `2024-01-31T12:34:56.000+00:00`.
  private mutating func numberOrDate() -> SOQLToken.Kind {
    let start = index
    let isDate =
      bytes.count - index >= 10 && bytes[index + 4] == 0x2D && bytes[index + 7] == 0x2D
      && [0, 1, 2, 3, 5, 6, 8, 9].allSatisfy { Self.isDigit(bytes[index + $0]) }
    guard isDate else {
      if let time = time() { return .time(time) }
      advance(1)
      _ = take { Self.isDigit($0) || $0 == 0x2E || $0 == 0x65 || $0 == 0x45 }
      return .number(String(decoding: bytes[start..<index], as: UTF8.self))
    }
    advance(10)
    guard index < bytes.count, bytes[index] == 0x54 || bytes[index] == 0x74 else {
      return .date(String(decoding: bytes[start..<index], as: UTF8.self))
    }
    advance(1)
    _ = take {
      Self.isDigit($0) || $0 == 0x3A || $0 == 0x2E || $0 == 0x2B || $0 == 0x2D || $0 == 0x5A
        || $0 == 0x7A
    }
    return .dateTime(String(decoding: bytes[start..<index], as: UTF8.self))
  }

  /// `13:30:00.000Z`, with or without a fraction; nil for anything else.
  private mutating func time() -> String? {
    let digits = [0, 1, 3, 4, 6, 7]
    guard bytes.count - index >= 9, bytes[index + 2] == 0x3A, bytes[index + 5] == 0x3A,
      digits.allSatisfy({ Self.isDigit(bytes[index + $0]) })
    else { return nil }
    let start = index
    advance(8)
    _ = take { Self.isDigit($0) || $0 == 0x2E || $0 == 0x5A || $0 == 0x7A }
    return String(decoding: bytes[start..<index], as: UTF8.self).uppercased()
  }

  private mutating func take(while part: (UInt8) -> Bool) -> String {
    let start = index
    while index < bytes.count, part(bytes[index]) { advance(1) }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private mutating func advance(_ count: Int) {
    for _ in 0..<count {
      if bytes[index] == 0x0A {
        line += 1
        column = 1
      } else if bytes[index] & 0xC0 != 0x80 {
        column += 1
      }
      index += 1
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (byte >= 0x09 && byte <= 0x0D)
  }
  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
  private static func isLetter(_ byte: UInt8) -> Bool {
    (byte >= 0x41 && byte <= 0x5A) || (byte >= 0x61 && byte <= 0x7A)
  }
  private static func isWordPart(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || byte == 0x5F
  }
}
