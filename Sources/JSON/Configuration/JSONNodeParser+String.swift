/// The quotation marks that editors put around a text.
enum Quote {
  case straight, typographic, single

  init?(opening scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": self = .straight
    case "“", "”", "„", "‟", "«", "»", "″", "＂": self = .typographic
    case "'", "‘", "’", "‚", "`", "´": self = .single
    default: return nil
    }
  }
}

extension JSONNodeParser {
  struct Text {
    var text = ""
    /// Whether the colon was inside a name without a closing quote.
    var tookColon = false
  }

  /// The string whose opening quote is at the current position.
  mutating func string(isName: Bool = false) throws(Stop) -> Text {
    let start = place
    guard let first = current, let quote = Quote(opening: first) else { throw Stop() }
    advance()
    var read = Text()
    var lineBreak: Place?
    while true {
      guard let scalar = current else {
        throw stop(
          "the string opened here is never closed", "write \" at its end", at: start)
      }
      if closes(scalar, quote, first) {
        if isName, let name = Self.nameWithColon(read.text) {
          // The quote belongs to the value and is not consumed.
          report(
            "the closing quote after \(name) is missing", "write \(JSONText.quoted(name)):",
            at: start)
          return Text(text: name, tookColon: true)
        }
        let mixed = quote == .straight && scalar != "\""
        advance()
        reportQuotes(quote, mixed, first, scalar, read.text, at: start)
        break
      }
      if scalar == "\n" || scalar == "\r" {
        guard quote == .straight, isContinued else {
          endAtLine(&read.text, start)
          return read
        }
        lineBreak = lineBreak ?? place
        joinLines(&read.text)
      } else {
        try take(scalar, into: &read.text)
      }
    }
    if let lineBreak {
      report("a string contains a line break", Self.joinFix(read.text), at: lineBreak)
    }
    return read
  }

  private func closes(_ scalar: Unicode.Scalar, _ quote: Quote, _ first: Unicode.Scalar) -> Bool {
    switch quote {
    case .straight:
      if scalar == "\"" { return true }
      guard Quote(opening: scalar) == .typographic else { return false }
      // A typographic quote may be part of the text. It is the end if the straight quotes after it
      // pair up.
      let rest = scalars[(index + 1)...].prefix { $0 != "\n" }
      let next = rest.first { $0 != " " }
      guard next == nil || ",:]}".unicodeScalars.contains(next ?? " ") else { return false }
      return rest.count { $0 == "\"" } % 2 == 0
    case .typographic: return scalar == "\"" || Quote(opening: scalar) == .typographic
    case .single: return Quote(opening: scalar) == .single
    }
  }

  private mutating func reportQuotes(
    _ quote: Quote, _ mixed: Bool, _ open: Unicode.Scalar, _ close: Unicode.Scalar,
    _ text: String, at start: Place
  ) {
    let mend = "write \(JSONText.quoted(text))"
    if quote == .single {
      report("JSON has no single quotes (\(open) and \(close))", mend, at: start)
    } else if quote == .typographic || mixed {
      report("these are typographic quotes (\(open) and \(close))", mend, at: start)
    }
  }

  /// `syncName: ` gives `syncName`: a name without a closing quote looks like this.
  private static func nameWithColon(_ text: String) -> String? {
    let trimmed = text.reversed().drop { $0 == " " }
    guard trimmed.first == ":" else { return nil }
    let name = String(trimmed.dropFirst().drop { $0 == " " }.reversed())
    return !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? name : nil
  }

  /// Whether the string continues after this line break: it closes at a position where a string may
  /// end.
  private var isContinued: Bool {
    var next = index
    while next < scalars.count, scalars[next] != "\"" { next += scalars[next] == "\\" ? 2 : 1 }
    next += 1
    while next < scalars.count, scalars[next].properties.isWhitespace { next += 1 }
    return next < scalars.count && ",]}".unicodeScalars.contains(scalars[next])
  }

  /// Replaces a line break and the spaces around it with one space.
  private mutating func joinLines(_ text: inout String) {
    while text.last == " " || text.last == "\t" { text.removeLast() }
    while let scalar = current, scalar.properties.isWhitespace { advance(); _ = scalar }
    text += " "
  }

  private static func joinFix(_ text: String) -> String {
    let joined = JSONText.quoted(text)
    return joined.count <= 160
      ? "join the lines: \(joined)"
      : "join the lines with a space, so that the string is on one line"
  }

  /// Ends a string that has no closing quote at the end of its line.
  private mutating func endAtLine(_ text: inout String, _ start: Place) {
    report(
      "the string opened here is not closed on its line",
      "write \" at its end; a string cannot contain a line break", at: start)
    while text.last == " " { text.removeLast() }
    guard text.last == "," else { return }
    text.removeLast()
    var back = index
    while scalars[back] != "," { back -= 1 }
    let moved = scalars[back..<index]
    goBack(
      to: Place(
        index: back, line: line, column: column - moved.count { !$0.properties.isGraphemeExtend },
        offset: offset - moved.reduce(0) { $0 + UTF8.width($1) }))
  }

  /// Consumes one character or escape.
  private mutating func take(_ scalar: Unicode.Scalar, into text: inout String) throws(Stop) {
    if scalar == "\\" { return try takeEscape(into: &text) }
    if scalar.value < 0x20 {
      let escape = scalar == "\t" ? "\\t" : "\\u" + Self.code(scalar).dropFirst(2)
      report("a string contains a control character", "write \(escape), or remove it")
    }
    text.unicodeScalars.append(scalar)
    advance()
  }

  private mutating func takeEscape(into text: inout String) throws(Stop) {
    let start = place
    advance()
    guard let letter = current else {
      throw stop("the file ends inside a string", "write \" at its end")
    }
    let length: Int
    if letter == "u" {
      let isPair =
        index + 6 < scalars.count && scalars[index + 5] == "\\" && scalars[index + 6] == "u"
        && (scalars[index + 1] == "d" || scalars[index + 1] == "D")
      length = isPair ? 11 : 5
    } else {
      length = 1
    }
    var raw: [UInt8] = [0x5C]
    for scalar in scalars[index..<min(index + length, scalars.count)] {
      raw.append(contentsOf: String(Character(scalar)).utf8)
    }
    var plain: [UInt8] = []
    let isKnown = raw.withUnsafeBytes {
      (try? JSONText.unescape($0, into: &plain)) != nil
    }
    guard isKnown else {
      report(
        "\\\(letter) is not an escape sequence of JSON", "write \\\\ for a backslash", at: start)
      text += "\\"
      return
    }
    text += String(decoding: plain, as: UTF8.self)
    for _ in 0..<length { advance() }
  }
}
