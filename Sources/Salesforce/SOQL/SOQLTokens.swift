/// Splits a SOQL text into words, white space, quoted values and parenthesized groups.
///
/// A group is one token with all its content, and a quoted value is one token with its quotes.
/// `order by` and `group by` are one token each, with any white space between the words.
package enum SOQLTokens {
  private enum Kind { case word, space, quoted, group }

  /// The tokens in order.
  ///
  /// Joined, they are the text, except for the white space inside `order by`.
  package static func tokenize(_ text: String) -> [String] {
    let bytes = Array(text.utf8)
    var tokens: [String] = []
    var index = 0
    while index < bytes.count {
      let kind = kind(of: bytes[index])
      let end = end(of: kind, in: bytes, from: index)
      tokens.append(String(decoding: bytes[index..<end], as: UTF8.self))
      index = end
    }
    return joiningBy(tokens)
  }

  /// Whether a token is white space.
  package static func isSpace(_ token: String) -> Bool {
    token.utf8.first.map { kind(of: $0) == .space } ?? false
  }

  private static func kind(of byte: UInt8) -> Kind {
    switch byte {
    case 0x20, 0x09, 0x0A, 0x0D: .space
    case UInt8(ascii: "'"): .quoted
    case UInt8(ascii: "("): .group
    default: .word
    }
  }

  private static func end(of kind: Kind, in bytes: [UInt8], from start: Int) -> Int {
    switch kind {
    case .word, .space:
      var index = start + 1
      while index < bytes.count, self.kind(of: bytes[index]) == kind { index += 1 }
      return index
    case .quoted: return endOfQuoted(bytes, from: start)
    case .group:
      var depth = 0
      var index = start
      while index < bytes.count {
        switch bytes[index] {
        case UInt8(ascii: "'"):
          index = endOfQuoted(bytes, from: index)
          continue
        case UInt8(ascii: "("): depth += 1
        case UInt8(ascii: ")"): depth -= 1
        default: break
        }
        index += 1
        if depth == 0 { return index }
      }
      return index
    }
  }

  /// The index after the closing quote; a backslash escapes the next byte.
  package static func endOfQuoted(_ bytes: [UInt8], from start: Int) -> Int {
    var index = start + 1
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\\"): index += 2
      case UInt8(ascii: "'"): return index + 1
      default: index += 1
      }
    }
    return bytes.count
  }

  private static func joiningBy(_ tokens: [String]) -> [String] {
    var result: [String] = []
    var index = 0
    while index < tokens.count {
      let word = tokens[index].lowercased()
      if word == "order" || word == "group", index + 2 < tokens.count, isSpace(tokens[index + 1]),
        tokens[index + 2].lowercased() == "by"
      {
        result.append(word + " by")
        index += 3
      } else {
        result.append(tokens[index])
        index += 1
      }
    }
    return result
  }
}
