/// What is wrong with a JSON text, and where.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The byte at which the fault was noticed, from the start of the text.
  package let offset: Int
  /// The 1-based line of that byte.
  package let line: Int
  /// The 1-based column, in characters.
  package let column: Int
  /// What is wrong, in a few words.
  package let message: String
  /// What to write instead; empty when the message says it all.
  package let fix: String

  /// Makes an error whose place is already known.
  package init(offset: Int, line: Int, column: Int, message: String, fix: String = "") {
    self.offset = offset
    self.line = line
    self.column = column
    self.message = message
    self.fix = fix
  }

  /// Makes an error at `offset` of `text` and works out line and column.
  init(offset: Int, in text: UnsafeRawBufferPointer, message: String, fix: String = "") {
    let end = min(max(offset, 0), text.count)
    var line = 1
    var lineStart = 0
    for index in 0..<end where text[index] == UInt8(ascii: "\n") {
      line += 1
      lineStart = index + 1
    }
    let before = UnsafeRawBufferPointer(rebasing: text[lineStart..<end])
    self.init(
      offset: offset, line: line, column: String(decoding: before, as: UTF8.self).count + 1,
      message: message, fix: fix)
  }

  /// Line, column, what is wrong and what to write instead.
  package var description: String {
    let place = "line \(line), column \(column): \(message)"
    return fix.isEmpty ? place : "\(place); \(fix)"
  }
}

/// A fault inside the parsers: two words, so that throwing it costs the hot path nothing.
struct JSONFault: Error, BitwiseCopyable {
  /// What can be wrong with bytes that should be JSON.
  enum Reason: UInt8 {
    case end, value, name, colon, comma, control, utf8, escape, surrogate, number, literal, depth
    case trailing, tooLarge, notObject, notArray, notRecord, memberMissing, memberTwice
  }

  let reason: Reason
  let offset: Int

  var message: String {
    switch reason {
    case .end: "the text ends in the middle of a value"
    case .value: "a value is expected here"
    case .name: "a member name in double quotes is expected here"
    case .colon: "a colon is expected here"
    case .comma: "a comma or the closing bracket is expected here"
    case .control: "a control character inside a string must be escaped"
    case .utf8: "the bytes are not valid UTF-8"
    case .escape: "this escape sequence does not exist in JSON"
    case .surrogate: "half of a surrogate pair stands alone"
    case .number: "this is not a JSON number"
    case .literal: "only true, false and null may stand here without quotes"
    case .depth: "values are nested deeper than \(JSONCursor.depthLimit) levels"
    case .trailing: "something follows the end of the value"
    case .tooLarge: "the page is larger than 2 GiB"
    case .notObject: "an object is expected here"
    case .notArray: "an array is expected here"
    case .notRecord: "a record (an object) or null is expected here"
    case .memberMissing: "the member that holds the records is missing"
    case .memberTwice: "the member that holds the records appears twice"
    }
  }

  func error(in text: UnsafeRawBufferPointer) -> JSONError {
    JSONError(offset: offset, in: text, message: message)
  }
}
