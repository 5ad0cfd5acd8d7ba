/// Parses configuration and continues after common mistakes, so that all are reported at once.
///
/// It accepts more than JSON, but reports each deviation with its correction.
struct JSONNodeParser {
  /// Thrown if the rest cannot be understood; the fault is already recorded.
  struct Stop: Error {}

  /// Enough to fix a file.
  ///
  /// A text that is not JSON at all would have thousands of faults.
  static let faultLimit = 100

  let scalars: [Unicode.Scalar]
  var index = 0
  var line = 1
  var column = 1
  var offset: Int
  var faults: [JSONError] = []

  init(_ text: String, offset: Int) {
    scalars = Array(text.unicodeScalars)
    self.offset = offset
  }

  /// The scalar at the current position; nil at the end.
  var current: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  mutating func advance() {
    let scalar = scalars[index]
    index += 1
    offset += UTF8.width(scalar)
    if scalar == "\n" {
      line += 1
      column = 1
    } else if scalar.isASCII || !scalar.properties.isGraphemeExtend {
      column += 1
    }
  }

  struct Place {
    let index: Int
    let line: Int
    let column: Int
    let offset: Int

    var text: String { "line \(line), column \(column)" }
  }

  var place: Place { Place(index: index, line: line, column: column, offset: offset) }

  mutating func goBack(to place: Place) {
    index = place.index
    line = place.line
    column = place.column
    offset = place.offset
  }

  mutating func report(_ message: String, _ fix: String, at place: Place? = nil) {
    let place = place ?? self.place
    guard faults.count < Self.faultLimit else { return }
    faults.append(
      JSONError(
        offset: place.offset, line: place.line, column: place.column, message: message, fix: fix))
  }

  mutating func stop(_ message: String, _ fix: String, at place: Place? = nil) -> Stop {
    report(message, fix, at: place)
    return Stop()
  }

  /// Skips white space; comments and unusual spaces are skipped and reported.
  mutating func skipSpace() throws(Stop) {
    while let scalar = current {
      switch scalar {
      case " ", "\t", "\n", "\r": advance()
      case "/", "#":
        let start = place
        if scalar == "/", index + 1 < scalars.count, scalars[index + 1] == "*" {
          while current != nil,
            !(current == "/" && index > start.index + 2 && scalars[index - 1] == "*")
          {
            advance()
          }
          if current != nil { advance() }
        } else if scalar == "#" || index + 1 < scalars.count && scalars[index + 1] == "/" {
          while let scalar = current, scalar != "\n" { _ = scalar; advance() }
        } else {
          return
        }
        report("JSON has no comments", "remove the comment", at: start)
      default:
        guard scalar.properties.isWhitespace || scalar == "\u{200B}" || scalar == "\u{FEFF}" else {
          return
        }
        report("\(Self.code(scalar)) is not white space in JSON", "write an ordinary space")
        advance()
      }
    }
  }

  static func code(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// A character, as shown in messages.
  static func quoted(_ scalar: Unicode.Scalar) -> String {
    JSONText.quoted(String(Character(scalar)))
  }

  /// The value of the whole file.
  mutating func root() throws(Stop) -> JSONNode {
    try skipSpace()
    guard current != nil else {
      throw stop("the file is empty", "write an object in braces")
    }
    let node = try value(path: "", depth: 0)
    try skipSpace()
    if current != nil {
      report("data follows the end of the file's object", "remove it")
    }
    return node
  }

  mutating func value(path: String, depth: Int) throws(Stop) -> JSONNode {
    guard depth < JSONCursor.depthLimit else {
      throw stop(JSONFault(reason: .depth, offset: 0).message, "flatten them")
    }
    try skipSpace()
    let start = place
    let content: JSONNode.Content
    switch current {
    case nil: throw stop("the file ends where a value is expected", "write the value")
    case "{": content = .object(try object(path: path, depth: depth))
    case "[": content = .array(try array(path: path, depth: depth))
    case let scalar? where Quote(opening: scalar) != nil:
      content = .string(try string().text)
    case let scalar?:
      content = try bare(first: scalar)
    }
    return JSONNode(content: content, line: start.line, column: start.column, path: path)
  }

  /// A number, a literal, or a word without its quotes.
  private mutating func bare(first: Unicode.Scalar) throws(Stop) -> JSONNode.Content {
    let start = place
    var word = ""
    while let scalar = current,
      scalar.properties.isAlphabetic || "0123456789+-._%$:/".unicodeScalars.contains(scalar)
    {
      if scalar == ":", !word.hasSuffix("http"), !word.hasSuffix("https") { break }
      word.unicodeScalars.append(scalar)
      advance()
    }
    switch word {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return .null
    case "": break
    default:
      if let literal = try? JSONValue(parsing: word), case .number = literal {
        return .number(word)
      }
      if ["true", "false", "null"].contains(word.lowercased()) {
        report("\(word) is not a JSON word", "write \(word.lowercased())", at: start)
        return word.lowercased() == "null" ? .null : .bool(word.lowercased() == "true")
      }
      if first.properties.isAlphabetic || !word.contains(where: \.isNumber) {
        report("this text has no quotes", "write \(JSONText.quoted(word))", at: start)
        return .string(word)
      }
      report("\(word) is not a JSON number", Self.numberFix(word), at: start)
      return .number("0")
    }
    if first == "," || first == "}" || first == "]" {
      throw stop(
        "a value is missing here", "write the value, or remove the name or comma before it")
    }
    throw stop(
      "a value cannot start with \(Self.quoted(first))",
      "write a value: \"text\", 1, true, [ … ] or { … }")
  }

  private static func numberFix(_ word: String) -> String {
    if word.hasSuffix("%") { return "write \(JSONText.quoted(word))" }
    let stripped = word.drop { $0 == "+" || $0 == "0" }
    if let number = Int(stripped.isEmpty ? "0" : stripped) { return "write \(number)" }
    return "write digits, or put it in quotes if it is text"
  }

  private mutating func array(path: String, depth: Int) throws(Stop) -> [JSONNode] {
    let start = place
    var elements: [JSONNode] = []
    advance()
    try skipSpace()
    if current == "]" {
      advance()
      return elements
    }
    while true {
      elements.append(try value(path: "\(path)[\(elements.count)]", depth: depth + 1))
      guard try separator(closing: "]", opened: start) else { return elements }
    }
  }

  /// Consumes the comma or closing bracket after a value; returns whether another value follows.
  mutating func separator(closing: Unicode.Scalar, opened: Place) throws(Stop) -> Bool {
    let end = place
    try skipSpace()
    let kind = closing == "]" ? "array" : "object"
    switch current {
    case closing:
      advance()
      return false
    case ",":
      var comma = place
      advance()
      try skipSpace()
      while current == "," {
        report("there is no value between these commas", "remove one")
        comma = place
        advance()
        try skipSpace()
      }
      guard current == closing else { return true }
      report("there is a comma before the closing \(closing)", "remove the comma", at: comma)
      advance()
      return false
    case ";":
      report("JSON has no semicolons", "write a comma")
      advance()
      return true
    case nil:
      throw stop(
        "the file ends inside the \(kind) that opens at \(opened.text)",
        "close it with \(closing)")
    case let scalar?
    where Quote(opening: scalar) != nil || scalar == "{" || scalar == "["
      || scalar.properties.isAlphabetic:
      report("a comma is missing after this value", "write a comma", at: end)
      return true
    case let scalar?:
      throw stop(
        "\(Self.quoted(scalar)) is not allowed here",
        "write a comma, or \(closing) to close the \(kind) that opens at line \(opened.line)")
    }
  }
}

extension JSONNode {
  /// Parses a file; throws the first fault.
  package static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONNode {
    let result = read(bytes)
    if let first = result.faults.first { throw first }
    guard let node = result.node else {
      throw JSONError(offset: 0, line: 1, column: 1, message: "the file is empty")
    }
    return node
  }

  /// Parses a file as far as it can be understood, and returns all faults.
  ///
  /// If there are no faults, there is always a node.
  package static func read(_ bytes: [UInt8]) -> (node: JSONNode?, faults: [JSONError]) {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let skipped = bytes.starts(with: mark) ? mark.count : 0
    guard let text = String(validating: bytes.dropFirst(skipped), as: UTF8.self) else {
      return (nil, [notUTF8(bytes)])
    }
    var parser = JSONNodeParser(text, offset: skipped)
    let node: JSONNode?
    do throws(JSONNodeParser.Stop) {
      node = try parser.root()
    } catch {
      node = nil
    }
    return (node, parser.faults.sorted { $0.offset < $1.offset })
  }

  private static func notUTF8(_ bytes: [UInt8]) -> JSONError {
    bytes.withUnsafeBytes { bytes in
      var offset = 0
      while offset < bytes.count,
        let length = JSONText.sequenceLength(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
      {
        offset += length
      }
      return JSONError(
        offset: offset, in: bytes, message: "the file is not UTF-8 from here on",
        fix: "save it as UTF-8")
    }
  }
}
