/// Replaces `:name` in a query with literals.
package enum SOQLVariables {
  private enum Part {
    case text(ArraySlice<UInt8>)
    case variable(String)
  }

  /// The query with every `:name` outside quotes replaced.
  ///
  /// The values are SOQL literals. Names may be given with or without their colon. The colon of a
  /// date literal (`LAST_N_DAYS:30`) or of a time is not a variable's: that one does not follow a
  /// letter or digit.
  package static func substitute(
    _ variables: [String: String], in query: String
  ) throws(SOQLError) -> String {
    var result: [UInt8] = []
    for part in parts(of: query) {
      switch part {
      case .text(let bytes): result += bytes
      case .variable(let name):
        guard let value = variables[name] ?? variables[":\(name)"] else {
          throw SOQLError(
            message: "the query uses the variable :\(name), which has no value",
            fix: "add it under \"variables\" in the pipeline file")
        }
        result += value.utf8
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The names of the variables in a query, each once, in order.
  package static func names(in query: String) -> [String] {
    parts(of: query).reduce(into: []) { names, part in
      guard case .variable(let name) = part, !names.contains(name) else { return }
      names.append(name)
    }
  }

  private static func parts(of query: String) -> [Part] {
    let bytes = Array(query.utf8)
    var parts: [Part] = []
    var start = 0
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "'") {
        index = min(SOQLTokens.endOfQuoted(bytes, from: index), bytes.count)
        continue
      }
      let end = endOfName(bytes, at: index)
      if end > index {
        parts.append(.text(bytes[start..<index]))
        parts.append(.variable(String(decoding: bytes[index + 1..<end], as: UTF8.self)))
        start = end
      }
      index = max(end, index + 1)
    }
    return parts + [.text(bytes[start...])]
  }

  /// The index after the name of the variable whose colon is at `index`; `index` if there is no
  /// name.
  private static func endOfName(_ bytes: [UInt8], at index: Int) -> Int {
    guard bytes[index] == UInt8(ascii: ":"), index + 1 < bytes.count, isLetter(bytes[index + 1]),
      index == 0 || !(isLetter(bytes[index - 1]) || isDigit(bytes[index - 1]))
    else { return index }
    var end = index + 1
    while end < bytes.count, isLetter(bytes[end]) || isDigit(bytes[end]) { end += 1 }
    return end
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
