/// The objects and fields that a SOSL search returns.
package enum SOSLFields {
  /// The names in the parentheses of the RETURNING clause, each once, in order.
  ///
  /// A function of a field, such as `toLabel(Status)`, is not a name.
  package static func names(in search: String) -> [String] {
    var names: [String] = []
    // Conditions and orders follow the fields of an object.
    var isList = false
    forEachWord(in: search) { name, depth, end in
      if depth == 0, end == UInt8(ascii: "(") { isList = true }
      guard depth == 1, isList, !name.isEmpty else { return }
      if ["where", "order", "limit", "offset", "using"].contains(name.lowercased()) {
        isList = false
      } else if end != UInt8(ascii: "("), !names.contains(name) {
        names.append(name)
      }
    }
    return names
  }

  /// The names of the objects in the RETURNING clause, in order.
  package static func objects(in search: String) -> [String] {
    var names: [String] = []
    var isList = false
    /// An object's name follows RETURNING, or a comma between objects.
    var isName = false
    forEachWord(in: search) { word, depth, end in
      guard depth == 0 else { return }
      if !word.isEmpty {
        if isName { names.append(word) }
        if !isName { isList = word.lowercased() == "returning" }
        isName = !isName && isList
      }
      if end == UInt8(ascii: ",") { isName = isList }
    }
    return names
  }

  /// The words outside quotes and outside the braces around the search text.
  package static func words(in search: String) -> [String] {
    var words: [String] = []
    forEachWord(in: search) { word, _, _ in if !word.isEmpty { words.append(word) } }
    return words
  }

  /// Calls `body` with each word (empty between adjacent delimiters), the number of enclosing
  /// parentheses, and the byte that ends the word, 0 for the end of the search.
  private static func forEachWord(
    in search: String, _ body: (_ word: String, _ depth: Int, _ end: UInt8) -> Void
  ) {
    let bytes = Array(search.utf8)
    var index = textEnd(bytes)
    var depth = 0
    var word: [UInt8] = []
    func end(_ byte: UInt8) {
      body(String(decoding: word, as: UTF8.self), depth, byte)
      word = []
    }
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "'"):
        index = min(SOQLTokens.endOfQuoted(bytes, from: index), bytes.count)
        continue
      case UInt8(ascii: "("):
        end(byte)
        depth += 1
      case UInt8(ascii: ")"):
        end(byte)
        depth -= 1
      case UInt8(ascii: ","), 0x09, 0x0A, 0x0D, 0x20: end(byte)
      default: word.append(byte)
      }
      index += 1
    }
    end(0)
  }

  /// The index after the braces around the search text; 0 if there are none.
  package static func textEnd(_ bytes: [UInt8]) -> Int {
    guard var index = bytes.firstIndex(of: UInt8(ascii: "{")) else { return 0 }
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\\"): index += 2
      case UInt8(ascii: "}"): return index + 1
      default: index += 1
      }
    }
    return 0
  }
}
