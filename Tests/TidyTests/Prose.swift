/// The sentences in a file, each with the line at which it starts.
enum Prose {
  struct Unit: Equatable {
    let line: Int
    let text: String
  }

  private typealias Bytes = [UInt8]
  private static let (quote, backtick, slash, backslash) = (
    UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "/"), UInt8(ascii: "\\")
  )
  private static let (space, open, close) = (
    UInt8(ascii: " "), UInt8(ascii: "("), UInt8(ascii: ")")
  )
  private static let ellipsis = Bytes("…".utf8)

  /// The comments, test names and string literals of Swift source.
  ///
  /// A literal of one word is a key or a name, not a sentence. Interpolations and code in comments
  /// become "…". Of SQL only the messages count.
  static func swift(_ text: String) -> [Unit] {
    let lines = lines(text)
    var units: [Unit] = []
    var index = 0
    while index < lines.count {
      let start = index
      let line = lines[index]
      if isComment(line) {
        var words: Bytes = []
        while index < lines.count, isComment(lines[index]) {
          words += lines[index].drop { $0 == slash }
          index += 1
        }
        units.append(Unit(line: start + 1, text: withoutCode(words)))
        continue
      }
      index += 1
      if !line.contains(quote) && !line.contains(slash) && !line.contains(backtick) { continue }
      if tripleQuotes(line) == 1 {
        var body: Bytes = []
        while index < lines.count, tripleQuotes(lines[index]) == 0 {
          body += plain(lines[index][...]) + [UInt8(ascii: "\n")]
          index += 1
        }
        index += 1
        units.append(Unit(line: start + 1, text: messages(string(body))))
      } else {
        units += code(line).map { Unit(line: start + 1, text: $0) }
      }
    }
    return units
  }

  /// The paragraphs and table rows of a page, without code.
  static func markdown(_ text: String) -> [Unit] {
    var (units, paragraph, start, isCode) = ([Unit](), Bytes(), 0, false)
    func finish() {
      if !paragraph.isEmpty { units.append(Unit(line: start, text: withoutCode(paragraph))) }
      paragraph = []
    }
    for (index, line) in lines(text).enumerated() {
      let isFence = line.starts(with: "```".utf8)
      if isFence { isCode.toggle() }
      if isFence || isCode || line.isEmpty {
        finish()
        continue
      }
      if ["|", "#", "- "].contains(where: { line.starts(with: $0.utf8) }) { finish() }
      if paragraph.isEmpty { start = index + 1 } else { paragraph.append(space) }
      paragraph += line
    }
    finish()
    return units
  }

  private static func string(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }

  private static func lines(_ text: String) -> [Bytes] {
    Bytes(text.utf8).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
      var line = $0.drop { $0 == space }
      while line.last == space { line.removeLast() }
      return Bytes(line)
    }
  }

  private static func isComment(_ line: Bytes) -> Bool {
    line.count > 1 && line[0] == slash && line[1] == slash
  }

  private static func tripleQuotes(_ line: Bytes) -> Int {
    if line.count < 3 { return 0 }
    var (count, run) = (0, 0)
    for byte in line {
      run = byte == quote ? run + 1 : 0
      if run == 3 { (count, run) = (count + 1, 0) }
    }
    return count
  }

  private static func withoutCode(_ text: Bytes) -> String {
    if !text.contains(backtick) { return string(text) }
    let parts = text.split(separator: backtick, omittingEmptySubsequences: false)
    return parts.enumerated().map { $0.offset % 2 == 0 ? string($0.element) : "`…`" }.joined()
  }

  /// The messages in a statement of SQL; any other text as it is.
  private static func messages(_ text: String) -> String {
    let keywords = [
      "SELECT ", "INSERT ", "UPDATE ", "DELETE FROM", "CREATE ", "ALTER TABLE", "FROM ",
    ]
    guard (keywords + ["WHERE ", "JOIN "]).contains(where: text.contains) else { return text }
    let parts = text.split(separator: "'", omittingEmptySubsequences: false).enumerated()
    return parts.filter { $0.offset % 2 == 1 && $0.element.contains(" ") }.map {
      String($0.element)
    }.joined(separator: "\n")
  }

  private static func code(_ line: Bytes) -> [String] {
    var found: [String] = []
    if string(line).contains("func `") {
      let parts = line.split(separator: backtick, omittingEmptySubsequences: false)
      if parts.count > 2 { found.append(string(parts[1])) }
    }
    var index = 0
    while index < line.count {
      if line[index] == slash, index + 1 < line.count, line[index + 1] == slash {
        found.append(withoutCode(Bytes(line[(index + 2)...])))
        break
      }
      guard line[index] == quote else {
        index += 1
        continue
      }
      let end = endOfLiteral(line, from: index + 1)
      let text = plain(line[(index + 1)..<end])
      let words = text.split(separator: space)
      if words.count > 1 { found.append(messages(string(text))) }
      index = end + 1
    }
    return found
  }

  /// The position of the quotation mark that ends a literal, or the end of the line.
  private static func endOfLiteral(_ line: Bytes, from start: Int) -> Int {
    var index = start
    while index < line.count, line[index] != quote {
      guard line[index] == backslash, index + 1 < line.count else {
        index += 1
        continue
      }
      index = line[index + 1] == open ? endOfInterpolation(line[...], index) : index + 2
    }
    return min(index, line.count)
  }

  private static func endOfInterpolation(_ line: ArraySlice<UInt8>, _ start: Int) -> Int {
    var (index, depth, isText) = (start + 2, 1, false)
    while index < line.endIndex, depth > 0 {
      switch line[index] {
      case quote: isText.toggle()
      case open where !isText: depth += 1
      case close where !isText: depth -= 1
      default: break
      }
      index += 1
    }
    return index
  }

  /// A literal's text with "…" for each interpolation and a space for each escaped character.
  private static func plain(_ line: ArraySlice<UInt8>) -> Bytes {
    if !line.contains(backslash) { return Bytes(line) }
    var (text, index) = (Bytes(), line.startIndex)
    while index < line.endIndex {
      if line[index] == backslash, index + 1 < line.endIndex {
        let isInterpolation = line[index + 1] == open
        text += isInterpolation ? ellipsis : [space]
        index = isInterpolation ? endOfInterpolation(line, index) : index + 2
      } else {
        text.append(line[index])
        index += 1
      }
    }
    return text
  }
}
